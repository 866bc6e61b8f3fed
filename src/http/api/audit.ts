import { isUuid, timeOf } from "../../lib/ids.ts";
import { nullable } from "../../lib/nullable.ts";
import { Type } from "../../lib/schema.ts";
import { DOOR_ACTIONS, type AuditEntry } from "../../model/audit.ts";
import type { Fault } from "../../model/problem.ts";
import { readLimit, readTime, refuseFaults } from "../page-query.ts";
import type { AuthenticCall, KeyedRoute, Services } from "../route.ts";

const entryView = ({ id, actor, action, kind, recordId, recordName, fields, address }: AuditEntry): object => ({
  id,
  at: timeOf(id),
  actor,
  action,
  kind,
  recordId,
  recordName,
  fields,
  address,
});

async function getList({ store }: Services, { query, caller }: AuthenticCall): Promise<object> {
  const faults: Fault[] = [];
  const limit = readLimit(query, faults);
  const from = readTime(query, "from", faults);
  const to = readTime(query, "to", faults);
  const { who, what, cursor = null } = query;
  if (cursor !== null && !isUuid(cursor))
    faults.push({ parameter: "cursor", message: "cursor is the nextCursor of an earlier answer." });
  refuseFaults(faults);
  const filter = {
    ...(who === undefined ? {} : { who }),
    ...(what === undefined ? {} : { what }),
    ...(from === undefined ? {} : { from }),
    ...(to === undefined ? {} : { to }),
  };
  const { rows, next } = await store.listAudit(caller.account.id, filter, cursor, limit);
  return { data: rows.map(entryView), nextCursor: next };
}

const Entry = Type.Object(
  {
    id: Type.String({ description: "Names the entry." }),
    at: Type.Integer({ description: "When, in epoch milliseconds." }),
    actor: Type.Object(
      {
        kind: Type.Union([Type.Literal("user"), Type.Literal("key"), Type.Literal("nobody")], {
          description: "A person, a program with a key, or somebody who did not get in.",
        }),
        id: nullable(Type.String(), "The id of the person or the key."),
        name: nullable(Type.String(), "The person's e-mail address or the key's name, as it was then."),
      },
      { description: "Who did it." },
    ),
    action: Type.String({
      description: `The operation, like \`POST /api/keys\`; or one of ${DOOR_ACTIONS.join(", ")}.`,
    }),
    kind: Type.String({ description: "What it was done to, as paths name it, like keys or templates." }),
    recordId: nullable(Type.String(), "Which one; of a phone number only the last four digits."),
    recordName: nullable(Type.String(), "Its name, where it has one."),
    fields: Type.Array(Type.String(), { description: "Which fields the request had; not what they held." }),
    address: Type.String({ description: "Where the request came from." }),
  },
  { title: "AuditEntry" },
);

export const listAudit: KeyedRoute = {
  method: "GET",
  path: "/api/audit",
  family: "plain",
  scope: "manage",
  role: "owner",
  group: "Users",
  summary: "Read who changed what",
  description:
    "Every change through `/api`, by people and by keys, every login and every failed one, and what people sent; newest first. Secrets, texts and whole phone numbers are never in it. Kept for 400 days unless the server is set otherwise. A page can be short, even empty, and still have a `nextCursor` when a filter matches little.",
  query: {
    who: "The id, e-mail address or name of a person or a key.",
    what: { meaning: "A kind, like keys, or an action, like `login failed`.", example: "keys" },
    from: "At this time or later: epoch milliseconds or ISO 8601.",
    to: "Before this time.",
    cursor: "The nextCursor of the page before.",
    limit: "1 to 200, 50 unless given.",
  },
  response: Type.Object({
    data: Type.Array(Entry, { description: "One page of entries." }),
    nextCursor: nullable(Type.String(), "The cursor of the next page; null on the last."),
  }),
  responseExample: {
    data: [
      {
        id: "0198f3a2-7c40-7d1e-9a51-3f0c8e2b6d47",
        at: 1767225600000,
        actor: { kind: "user", id: "0198f3a2-7c40-7b1e-8a51-3f0c8e2b6d47", name: "ann@example.com" },
        action: "POST /api/keys",
        kind: "keys",
        recordId: "0198f3a2-7c40-7d1e-9a51-3f0c8e2b6d48",
        recordName: "Shop",
        fields: ["name", "scopes"],
        address: "203.0.113.7",
      },
    ],
    nextCursor: null,
  },
  handle: getList,
};
