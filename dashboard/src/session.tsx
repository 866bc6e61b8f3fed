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

/** True if the server found no session when it sent this page. This saves a request that would only log a 401. */
const isStranger = (): boolean => document.querySelector<HTMLMetaElement>("meta[name=visitor]")?.content === "stranger";

/** The current session: null without one, undefined while loading. */
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

/** True if the session expired or was ended elsewhere while this page was open. */
export const sessionHasEnded = (): boolean => hasEnded;

const KNOWN = "heliograph-signed-in";

/** True if a user has signed in from this browser before, so the login page needs no help for the first start. */
export const wasSignedIn = (): boolean => localStorage.getItem(KNOWN) !== null;

/** Sign-in and sign-out. Both clear cached data of the previous user. */
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
        // A 401 means that the session has ended already.
        if (!(problem instanceof ApiError && problem.status === 401)) throw problem;
      }
      forgetDrafts();
      become(null);
    },
  };
}

const ROLES: Readonly<Record<string, string>> = { viewer: t("Viewer"), member: t("Member"), owner: t("Owner") };

/** The name of a role. */
export const roleName = (role: string): string => ROLES[role] ?? role;

const SessionContext = createContext<Session | null>(null);

export const SessionProvider = ({ session, children }: { session: Session; children: ReactNode }) => (
  <SessionContext value={session}>{children}</SessionContext>
);

/** The session of the signed-in user. */
export function useSession(): Session {
  const session = use(SessionContext);
  if (!session) throw new Error("There is no session outside of the shell.");
  return session;
}

/** The user's rights: viewers read, members write, owners also manage keys and users. */
export function useMay(what: "write" | "own"): boolean {
  const { role } = useSession().user;
  return what === "own" ? role === "owner" : role !== "viewer";
}
