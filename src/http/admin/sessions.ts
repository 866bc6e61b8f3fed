import { listOpenSessions } from "../../accounts/sessions.ts";
import { Type } from "../../lib/schema.ts";
import { Problem } from "../../model/problem.ts";
import type { Session } from "../../model/user.ts";
import type { PersonalRoute } from "../route.ts";

/** Identifies a session among those of its user; half of the digest, which opens nothing. */
const idOf = ({ digest }: Pick<Session, "digest">): string => digest.slice(0, 22);

const SessionView = Type.Object(
  {
    id: Type.String({ description: "Session ID." }),
    createdAt: Type.Integer({ description: "Time of the login, in epoch milliseconds." }),
    seenAt: Type.Integer({ description: "Time of the last request. Updated at most once a minute." }),
    expiresAt: Type.Integer({ description: "End of the session if it is not used, in epoch milliseconds." }),
    address: Type.String({ description: "Network address of the login; empty if unknown." }),
    agent: Type.String({ description: "User-Agent header of the login; empty if unknown." }),
    current: Type.Boolean({ description: "True for the session of this request." }),
  },
  { title: "OpenSession" },
);

const example = {
  id: "mO5q7c1aB0y2sN4kPpVd8w",
  createdAt: 1767225600000,
  seenAt: 1767229200000,
  expiresAt: 1767272400000,
  address: "203.0.113.7",
  agent: "Mozilla/5.0 (X11; Linux x64) Firefox/140.0",
  current: true,
};

const common = { family: "plain", scope: null, personal: true, group: "Login" } as const;

/** The sessions of the logged-in user. */
export const sessionRoutes: readonly PersonalRoute[] = [
  {
    ...common,
    method: "GET",
    path: "/api/sessions",
    summary: "List your sessions",
    description: "Lists the open sessions of the logged-in user, the latest login first.",
    response: Type.Object({ data: Type.Array(SessionView, { description: "Open sessions." }) }),
    responseExample: { data: [example] },
    handle: async ({ loginDeps }, { caller: { session } }) => {
      const open = await listOpenSessions(loginDeps, session.user);
      return {
        data: open.map(({ createdAt, seenAt, expiresAt, address, agent, digest }) => ({
          id: idOf({ digest }),
          createdAt,
          seenAt,
          expiresAt,
          address,
          agent,
          current: digest === session.digest,
        })),
      };
    },
  },
  {
    ...common,
    method: "DELETE",
    path: "/api/sessions/:id",
    summary: "End one of your sessions",
    description: "Ends a session of the logged-in user at once on all nodes.",
    params: { id: { meaning: "Session ID as in the list.", example: example.id } },
    problems: ["RECORD_NOT_FOUND"],
    response: Type.Object({ ended: Type.Literal(true, { description: "Always true." }) }),
    responseExample: { ended: true },
    handle: async ({ loginDeps }, { caller: { session }, params }) => {
      const open = await listOpenSessions(loginDeps, session.user);
      const found = open.find((each) => idOf(each) === params.id);
      if (!found) throw new Problem("RECORD_NOT_FOUND");
      await loginDeps.store.removeSession(found.digest);
      return { ended: true };
    },
  },
];
