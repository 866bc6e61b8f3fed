import { isUuid } from "../../lib/ids.ts";
import { nullable, Type } from "../../lib/schema.ts";
import { refuseFaults, type Fault } from "../../model/problem.ts";
import { seesTestsOnly } from "../auth/test-mode.ts";
import { readLimit } from "../pagination.ts";
import { choiceParameter, pageParameters, textParameter } from "../parameters.ts";
import type { LoggedRequest } from "../request-log/request-log.ts";
import type { AuthenticCall, KeyedRoute, Services } from "../route.ts";

const RESULTS = ["success", "error"] as const;

async function getRequests({ store, requestLog, system }: Services, { query, caller }: AuthenticCall): Promise<object> {
  const faults: Fault[] = [];
  const limit = readLimit(query, faults);
  const { requestId, actorId, code, result, cursor } = query;
  for (const [parameter, id] of Object.entries({ requestId, actorId }))
    if (id !== undefined && !isUuid(id))
      faults.push({ parameter, message: `${parameter} is an id such as ${EXAMPLE_ID}.` });
  if (result !== undefined && !RESULTS.some((known) => known === result))
    faults.push({ parameter: "result", message: `result must be one of ${RESULTS.join(", ")}.` });
  if (cursor !== undefined && !/^\d{1,15}$/.test(cursor))
    faults.push({ parameter: "cursor", message: "cursor is the nextCursor of an earlier response." });
  refuseFaults(faults);
  const { rows, omitted } = requestLog.list(
    caller.account.id,
    (request) =>
      isVisible(caller, request) &&
      (requestId === undefined || request.requestId === requestId) &&
      (actorId === undefined || request.actor.id === actorId) &&
      (code === undefined || request.code === code) &&
      (result === undefined || (request.code === null) === (result === "success")) &&
      (cursor === undefined || request.number < Number(cursor)),
  );
  const page = rows.slice(0, limit);
  const { node } = system();
  return {
    data: page.map((request) => viewOf(caller, request, node)),
    node,
    nodes: (await store.listNodes()).filter(({ roles }) => roles.includes("api")).length,
    omitted,
    nextCursor: rows.length > limit ? String(page.at(-1)?.number) : null,
  };
}

/** Requests of other users are for owners, as in the audit log. */
function isVisible(caller: AuthenticCall["caller"], { actor, test }: LoggedRequest): boolean {
  if (seesTestsOnly(caller) && !test) return false;
  return actor.kind !== "user" || caller.role === "owner" || actor.id === caller.actor.id;
}

/** A test key sees no ids, because a refused request may have asked for a live one. */
const viewOf = (
  caller: AuthenticCall["caller"],
  { number, body, path, ...request }: LoggedRequest,
  node: number,
): object => ({
  id: `${node}-${number}`,
  node,
  ...request,
  path: seesTestsOnly(caller) ? path.replaceAll(ID_IN_PATH, "/:id") : path,
  body: body === null ? null : JSON.parse(body),
});

const ID_IN_PATH = /\/[0-9a-f]{8}-[0-9a-f-]{27}[^/]*/g;
const EXAMPLE_ID = "0198f3a2-7c40-7d1e-9a51-3f0c8e2b6d47";

const Entry = Type.Object(
  {
    id: Type.String({ description: "Entry ID." }),
    node: Type.Integer({ description: "Node that handled the request." }),
    at: Type.Integer({ description: "Time of the response, in epoch milliseconds." }),
    actor: Type.Object(
      {
        kind: Type.Union([Type.Literal("key"), Type.Literal("agent"), Type.Literal("user")], {
          description: "key: an API key or a credential. agent: an API key at `/mcp`. user: a person in the dashboard.",
        }),
        id: nullable(Type.String(), "ID of the key, the credential or the user."),
        name: nullable(Type.String(), "Name of the key, or email address of the user."),
      },
      { description: "Key or user that sent the request." },
    ),
    test: Type.Boolean({ description: "True if sent with a test key." }),
    method: Type.String({ description: "HTTP method." }),
    path: Type.String({ description: "Path with its ids. Other parameters are shown by name, such as `:number`." }),
    query: Type.Array(Type.String(), { description: "Names of the query parameters." }),
    status: Type.Integer({ description: "HTTP status of the response." }),
    code: nullable(Type.String(), "Error code; null for a success."),
    requestId: nullable(Type.String(), "`requestId` of the error; null for a success."),
    durationMs: Type.Number({ description: "Time from the request to its response, in milliseconds." }),
    body: Type.Unknown({
      description:
        "Shape of the JSON body: field names with types. Texts and numbers are not recorded. Null without a JSON body.",
    }),
  },
  { title: "LoggedRequest" },
);

export const listRequests: KeyedRoute = {
  method: "GET",
  path: "/api/requests",
  family: "plain",
  scope: "manage",
  testKeys: "read",
  group: "API keys",
  summary: "List the last requests",
  description:
    "Lists the last requests of every API key, credential and user of the account, newest first: up to 100 successes and 100 errors each. Of a key's successes ten per second are listed, of its errors fifty; `omitted` counts the others. The reads of users in the dashboard are listed only if they fail, and requests without a valid key never. Texts, numbers and secrets are not recorded. Each node keeps its own list in memory until it restarts: the response lists the requests of the node that responds, and `nodes` says how many nodes there are.",
  query: {
    requestId: textParameter("`requestId` of an error.", EXAMPLE_ID),
    actorId: textParameter("ID of an API key, a credential or a user.", EXAMPLE_ID),
    result: choiceParameter(RESULTS, "Filter by result."),
    code: textParameter("Error code.", "INVALID_REQUEST"),
    ...pageParameters("4711"),
  },
  response: Type.Object({
    data: Type.Array(Entry, { description: "Requests on this page." }),
    node: Type.Integer({ description: "Node that responds; its requests are listed." }),
    nodes: Type.Integer({ description: "Number of nodes that answer requests." }),
    omitted: Type.Integer({ description: "Requests of the account that exceeded the rate and are not listed." }),
    nextCursor: nullable(Type.String(), "Cursor of the next page; null on the last page."),
  }),
  responseExample: {
    data: [
      {
        id: "1-4712",
        node: 1,
        at: 1767225600000,
        actor: { kind: "key", id: "0198f3a2-7c40-7b1e-8a51-3f0c8e2b6d47", name: "Shop" },
        test: false,
        method: "POST",
        path: "/v1/sms",
        query: [],
        status: 400,
        code: "INVALID_REQUEST",
        requestId: EXAMPLE_ID,
        durationMs: 1.4,
        body: { sender: "string(6)", to: "string(4)", text: "string(28)", type: "string(5)" },
      },
    ],
    node: 1,
    nodes: 1,
    omitted: 0,
    nextCursor: null,
  },
  handle: getRequests,
};
