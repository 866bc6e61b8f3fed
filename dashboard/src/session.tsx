import { useQuery, useQueryClient } from "@tanstack/react-query";
import { createContext, use, useEffect, type ReactNode } from "react";
import { api, ApiError, get, setCsrfToken, whenSignedOut } from "./api.ts";
import { forgetDrafts } from "./drafts.ts";
import { t } from "./i18n/t.ts";
import { hangUp } from "./stream.ts";

type Role = "owner" | "member" | "viewer";

export interface Session {
  user: { id: string; email: string; name: string; role: Role; totp: boolean; passwordDue: boolean };
  account: { id: number; name: string };
  csrfToken: string;
  expiresAt: number;
}

export const SESSION = ["session"];

/** Whether the server saw no session when it sent this page; asking again would only fill the log of the browser. */
const isStranger = (): boolean => document.querySelector<HTMLMetaElement>("meta[name=visitor]")?.content === "stranger";

/** Who is signed in: null for nobody, undefined while that is being asked. */
export function useSessionQuery(): { session: Session | null | undefined; error: Error | null; retry: () => void } {
  const client = useQueryClient();
  const { data, error, refetch } = useQuery({
    queryKey: SESSION,
    queryFn: async () => {
      try {
        const session = await get<Session>("/api/session");
        setCsrfToken(session.csrfToken);
        return session;
      } catch (problem) {
        if (problem instanceof ApiError && problem.status === 401) return null;
        throw problem;
      }
    },
    staleTime: Number.POSITIVE_INFINITY,
    ...(isStranger() ? { initialData: null } : {}),
  });
  useEffect(() => {
    whenSignedOut(() => {
      hangUp();
      hasEnded = true;
      client.setQueryData(SESSION, null);
    });
  }, [client]);
  return { session: data, error, retry: () => void refetch() };
}

let hasEnded = false;

/** Whether a session has ended in this page by itself, as by its time or from elsewhere. */
export const sessionHasEnded = (): boolean => hasEnded;

const KNOWN = "heliograph-signed-in";

/** Whether somebody has signed in from this browser, who needs no help with the first start. */
export const wasSignedIn = (): boolean => localStorage.getItem(KNOWN) !== null;

/** Ways in and out; both forget whatever the page knew for somebody else. */
export function useSignIn(): {
  signIn: (given: { email: string; password: string; totp?: string }) => Promise<void>;
  signOut: () => Promise<void>;
} {
  const client = useQueryClient();
  const become = (session: Session | null): void => {
    hangUp();
    hasEnded = false;
    client.setQueryData(SESSION, session);
    client.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== SESSION[0] });
  };
  return {
    async signIn(given) {
      const session = await api<Session>("POST", "/api/session", { body: given });
      setCsrfToken(session.csrfToken);
      localStorage.setItem(KNOWN, "yes");
      become(session);
    },
    async signOut() {
      try {
        await api("DELETE", "/api/session");
      } catch (problem) {
        // A session that is over is what was asked for.
        if (!(problem instanceof ApiError && problem.status === 401)) throw problem;
      }
      forgetDrafts();
      become(null);
    },
  };
}

const ROLES: Readonly<Record<string, string>> = { viewer: t("Viewer"), member: t("Member"), owner: t("Owner") };

/** A role in the reader's language. */
export const roleName = (role: string): string => ROLES[role] ?? role;

const SessionContext = createContext<Session | null>(null);

export const SessionProvider = ({ session, children }: { session: Session; children: ReactNode }) => (
  <SessionContext value={session}>{children}</SessionContext>
);

/** The session of whoever looks at this page. */
export function useSession(): Session {
  const session = use(SessionContext);
  if (!session) throw new Error("There is no session outside of the shell.");
  return session;
}

/** Whether the user may change things: viewers look, members work, owners also decide about keys and users. */
export function useMay(what: "write" | "own"): boolean {
  const { role } = useSession().user;
  return what === "own" ? role === "owner" : role !== "viewer";
}
