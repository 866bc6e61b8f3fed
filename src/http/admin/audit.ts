import { isUuid, timeOf } from "../../lib/ids.ts";
import { nullable, Type } from "../../lib/schema.ts";
import { BIND_ACTIONS, LOGIN_ACTIONS, type AuditEntry, type LoginAction } from "../../model/audit.ts";
import { refuseFaults, type Fault } from "../../model/problem.ts";
import { readLimit, readTime } from "../pagination.ts";
import { pageParameters, textParameter, timeParameter } from "../parameters.ts";
import type { AuthenticCall, KeyedRoute, Services } from "../route.ts";

const entryView = (
  summaryOf: SummaryOf,
  { id, actor, action, kind, recordId, recordName, fields, changes = [], address }: AuditEntry,
): object => ({
  id,
  at: timeOf(id),
  actor,
  action,
  summary: summaryOf(action),
  kind,
  recordId,
  recordName,
  fields,
  changes,
  address,
});

async function getList(summaryOf: SummaryOf, { store }: Services, { query, caller }: AuthenticCall): Promise<object> {
  const faults: Fault[] = [];
  const limit = readLimit(query, faults);
  const from = readTime(query, "from", faults);
  const to = readTime(query, "to", faults);
  const { who, what, cursor = null } = query;
  if (cursor !== null && !isUuid(cursor))
    faults.push({ parameter: "cursor", message: "cursor is the nextCursor of an earlier response." });
  refuseFaults(faults);
  const filter = {
    ...(who === undefined ? {} : { who }),
    ...(what === undefined ? {} : { what }),
    ...(from === undefined ? {} : { from }),
    ...(to === undefined ? {} : { to }),
  };
  const { rows, next } = await store.listAudit(caller.account.id, filter, cursor, limit);
  return { data: rows.map((entry) => entryView(summaryOf, entry)), nextCursor: next };
}

const Entry = Type.Object(
  {
    id: Type.String({ description: "Entry ID." }),
    at: Type.Integer({ description: "Time of the action, in epoch milliseconds." }),
    actor: Type.Object(
      {
        kind: Type.Union([Type.Literal("user"), Type.Literal("key"), Type.Literal("agent"), Type.Literal("nobody")], {
          description:
            "user: a person. key: an API key. agent: an API key at `/mcp`. nobody: a failed login, whose person is unknown.",
        }),
        id: nullable(Type.String(), "ID of the user or the key."),
        name: nullable(Type.String(), "Email address of the user or name of the key at that time."),
      },
      { description: "User or key that performed the action." },
    ),
    action: Type.String({
      description: `Operation, such as \`POST /api/keys\`, or one of ${[...LOGIN_ACTIONS, ...BIND_ACTIONS].join(", ")}.`,
    }),
    summary: Type.String({ description: "The action in words, as the reference calls the operation." }),
    kind: Type.String({ description: "Type of the changed resource as in the path, such as keys or templates." }),
    recordId: nullable(
      Type.String(),
      "ID of the changed resource. Of a phone number only the last four digits are kept.",
    ),
    recordName: nullable(Type.String(), "Name of the changed resource, if it has one."),
    fields: Type.Array(Type.String(), { description: "Names of the fields in the request." }),
    changes: Type.Array(
      Type.Object({
        field: Type.String({ description: "Name of the field; with dots within an object, such as `smpp.window`." }),
        before: nullable(Type.String(), "Value before the request; null for none."),
        after: nullable(Type.String(), "Value afterwards; null for none."),
      }),
      {
        description:
          "Values that an update changed. Only numbers, switches and fixed choices such as roles are recorded: a text may be a secret, a message or a phone number.",
      },
    ),
    address: Type.String({ description: "IP address of the client." }),
  },
  { title: "AuditEntry" },
);

const LOGINS: Readonly<Record<LoginAction, string>> = {
  login: "Logged in",
  "login failed": "Login failed",
  "login locked": "Login locked after failed attempts",
  logout: "Logged out",
};

/** Names an operation of the route table, such as `POST /api/keys`, in words. */
export type SummaryOf = (action: string) => string;

/** An operation that a later version no longer has is shown as it was written. */
export const auditSummaries = (operations: () => Iterable<readonly [action: string, summary: string]>): SummaryOf => {
  const words = new Map<string, string>(Object.entries(LOGINS));
  let isRead = false;
  return (action) => {
    if (!isRead) for (const [name, summary] of operations()) words.set(name, summary);
    isRead = true;
    return words.get(action) ?? action;
  };
};

export const listAudit = (summaryOf: SummaryOf): KeyedRoute => ({
  method: "GET",
  path: "/api/audit",
  family: "plain",
  scope: "manage",
  testKeys: null,
  role: "owner",
  group: "Users",
  summary: "List audit log entries",
  description:
    "Lists every change made through `/api` by users and keys, every successful and failed login, messages sent by users, and every tool that agents call, newest first. Secrets, message texts and full phone numbers are never recorded. Entries are kept for 400 days by default (a server setting). A filtered page may be short and still have a `nextCursor`.",
  query: {
    who: textParameter("ID, email address or name of a user or key.", "ann@example.com"),
    what: { meaning: "Resource type, such as keys, or action, such as `login failed`.", example: "keys" },
    from: timeParameter("At or after this time: epoch milliseconds or ISO 8601."),
    to: timeParameter("Before this time.", "end"),
    ...pageParameters("0198f3a2-7c40-7d1e-9a51-3f0c8e2b6d47"),
  },
  response: Type.Object({
    data: Type.Array(Entry, { description: "Entries on this page." }),
    nextCursor: nullable(Type.String(), "Cursor of the next page; null on the last page."),
  }),
  responseExample: {
    data: [
      {
        id: "0198f3a2-7c40-7d1e-9a51-3f0c8e2b6d47",
        at: 1767225600000,
        actor: { kind: "user", id: "0198f3a2-7c40-7b1e-8a51-3f0c8e2b6d47", name: "ann@example.com" },
        action: "POST /api/keys",
        summary: "Create an API key",
        kind: "keys",
        recordId: "0198f3a2-7c40-7d1e-9a51-3f0c8e2b6d48",
        recordName: "Shop",
        fields: ["name", "scopes"],
        changes: [],
        address: "203.0.113.7",
      },
    ],
    nextCursor: null,
  },
  handle: (services, call) => getList(summaryOf, services, call),
});
