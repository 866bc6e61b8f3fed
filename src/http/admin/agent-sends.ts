import { isUuid } from "../../lib/ids.ts";
import { nullable, Type } from "../../lib/schema.ts";
import { AGENT_OPERATIONS, AGENT_SEND_STATES, type AgentSend, type AgentSendState } from "../../model/agent.ts";
import { Problem, refuseFaults, type Fault } from "../../model/problem.ts";
import { approveSend, readBody } from "../agents/sends.ts";
import { readLimit } from "../pagination.ts";
import { choiceParameter, pageParameters } from "../parameters.ts";
import type { AuthenticCall, KeyedRoute, Services } from "../route.ts";

const EXAMPLE_ID = "0198f3a2-7c40-7d1e-9a51-3f0c8e2b6d47";
const SHOWN_STATES = AGENT_SEND_STATES.filter((state) => state !== "previewed");

const stateAt = ({ state, expiresAt }: AgentSend, now: number): AgentSendState =>
  state === "waiting" && expiresAt <= now ? "expired" : state;

function view(services: Services, send: AgentSend): object {
  const { id, keyId, operation, recipients, credits, reason, result, createdAt, expiresAt, decidedBy, decidedAt } =
    send;
  return {
    id,
    keyId,
    keyName: services.keyring.keysOf(send.accountId).find((key) => key.id === keyId)?.name ?? null,
    operation,
    request: send.body === null ? null : readBody(services, send),
    recipients,
    credits,
    state: stateAt(send, services.clock.now()),
    reason,
    result,
    createdAt,
    expiresAt,
    decidedBy,
    decidedAt,
  };
}

const AgentSendView = Type.Object(
  {
    id: Type.String({ description: "ID of the prepared send." }),
    keyId: Type.String({ description: "Key of the agent." }),
    keyName: nullable(Type.String(), "Name of the key; null if it no longer exists."),
    operation: Type.Union(
      AGENT_OPERATIONS.map((operation) => Type.Literal(operation)),
      { description: "Channel of the message, or verify for a one-time password." },
    ),
    request: Type.Union([Type.Record(Type.Unknown()), Type.Null()], {
      description: "The request body of `/v1` that is to be sent; null once the send has ended.",
    }),
    recipients: Type.Integer({ description: "Number of recipients." }),
    credits: Type.Integer({ description: "Credits at the time of the preview." }),
    state: Type.Union(
      SHOWN_STATES.map((state) => Type.Literal(state)),
      { description: "Only a waiting one can be approved or declined." },
    ),
    reason: nullable(Type.String(), "Why it failed; null otherwise."),
    result: nullable(Type.String(), "ID of the send request or of the verification; null if nothing was sent."),
    createdAt: Type.Integer({ description: "Time of the preview, in epoch milliseconds." }),
    expiresAt: Type.Integer({ description: "Until when it can be approved." }),
    decidedBy: nullable(Type.String(), "Email address of the user who approved or declined it."),
    decidedAt: nullable(Type.Integer(), "Time of the decision."),
  },
  { title: "AgentSend" },
);

const example = {
  id: EXAMPLE_ID,
  keyId: "0198f3a2-7c40-7d1e-9a51-3f0c8e2b6d48",
  keyName: "Assistant",
  operation: "sms",
  request: { sender: "HELIOG", to: "15550100100", text: "Your order 4711 is on its way.", type: "TRANS" },
  recipients: 1,
  credits: 1,
  state: "waiting",
  reason: null,
  result: null,
  createdAt: 1767225600000,
  expiresAt: 1767312000000,
  decidedBy: null,
  decidedAt: null,
};

const common = { family: "plain", scope: "manage", testKeys: null, group: "Agents" } as const;
const decision = {
  ...common,
  method: "POST",
  // An agent with such a key would approve its own sends.
  peopleOnly: true,
  params: { id: { meaning: "ID of the prepared send.", example: EXAMPLE_ID } },
  response: AgentSendView,
} as const;

async function findWaiting({ store, clock }: Services, { caller, params }: AuthenticCall): Promise<AgentSend> {
  const { id = "" } = params;
  const send = isUuid(id) ? await store.findAgentSend({ accountId: caller.account.id, id }) : null;
  if (!send || send.state === "previewed") throw new Problem("RECORD_NOT_FOUND");
  if (stateAt(send, clock.now()) !== "waiting") throw new Problem("AGENT_SEND_OVER");
  return send;
}

const nameOf = ({ caller }: AuthenticCall): string => caller.actor.name ?? "";

const listAgentSends: KeyedRoute = {
  ...common,
  method: "GET",
  path: "/api/agent-sends",
  summary: "List sends of agents",
  description:
    "Lists what agents sent or want to send by `/mcp`, newest first: first of all the sends that wait for approval, with `state=waiting`. Entries are kept for 30 days.",
  query: {
    state: { ...choiceParameter(SHOWN_STATES, "Only sends in this state."), example: "waiting" },
    ...pageParameters(EXAMPLE_ID),
  },
  response: Type.Object({
    data: Type.Array(AgentSendView, { description: "Sends on this page." }),
    nextCursor: nullable(Type.String(), "Cursor of the next page; null on the last page."),
  }),
  responseExample: { data: [example], nextCursor: null },
  handle: async (services, { caller, query }) => {
    const faults: Fault[] = [];
    const limit = readLimit(query, faults);
    const state = SHOWN_STATES.find((known) => known === query.state);
    if (query.state !== undefined && !state)
      faults.push({ parameter: "state", message: `state is one of ${SHOWN_STATES.join(", ")}.` });
    if (query.cursor !== undefined && !isUuid(query.cursor))
      faults.push({ parameter: "cursor", message: "cursor is the nextCursor of an earlier response." });
    refuseFaults(faults);
    const filter = { ...(state && { state }), now: services.clock.now() };
    const { rows, next } = await services.store.listAgentSends(caller.account.id, filter, query.cursor ?? null, limit);
    return { data: rows.map((send) => view(services, send)), nextCursor: next };
  },
};

const approveAgentSend: KeyedRoute = {
  ...decision,
  path: "/api/agent-sends/:id/approve",
  summary: "Approve a send of an agent",
  description:
    "Sends a waiting message as the agent's key, once. The limits of the key and all policies are checked again; the request fails as the send would. No API key may do this.",
  problems: ["RECORD_NOT_FOUND", "AGENT_SEND_OVER", "AGENT_LIMIT"],
  responseExample: { ...example, request: null, state: "sent", decidedBy: "ann@example.com", decidedAt: 1767225660000 },
  handle: async (services, call) =>
    view(services, { ...(await approveSend(services, await findWaiting(services, call), nameOf(call))), body: null }),
};

const declineAgentSend: KeyedRoute = {
  ...decision,
  path: "/api/agent-sends/:id/decline",
  summary: "Decline a send of an agent",
  description: "Ends a waiting send without sending it. No API key may do this.",
  problems: ["RECORD_NOT_FOUND", "AGENT_SEND_OVER"],
  responseExample: {
    ...example,
    request: null,
    state: "declined",
    decidedBy: "ann@example.com",
    decidedAt: 1767225660000,
  },
  handle: async (services, call) => {
    const send = await findWaiting(services, call);
    const decidedAt = services.clock.now();
    if (!(await services.store.declineAgentSend(send, nameOf(call), decidedAt))) throw new Problem("AGENT_SEND_OVER");
    return view(services, { ...send, body: null, state: "declined", decidedBy: nameOf(call), decidedAt });
  },
};

export const agentSendRoutes: readonly KeyedRoute[] = [listAgentSends, approveAgentSend, declineAgentSend];
