import { isUuid } from "../../lib/ids.ts";
import { Type } from "../../lib/schema.ts";
import { Problem } from "../../model/problem.ts";
import { BIND_KINDS, type SmppBind } from "../../store/smpp-binds.ts";
import type { AuthenticCall, KeyedRoute, Services } from "../route.ts";

/** Time for which a node reports the PDUs of a bind after someone asked. */
const TRACE_MS = 30_000;

const count = (description: string) => Type.Integer({ minimum: 0, description });

const BindView = Type.Object(
  {
    id: Type.String({ description: "Bind ID." }),
    credentialId: Type.String({ description: "The credential of the system id." }),
    systemId: Type.String({ description: "The system id." }),
    kind: Type.Union(
      BIND_KINDS.map((kind) => Type.Literal(kind)),
      { description: "Direction of the bind: submits, receives, or both." },
    ),
    node: Type.Integer({ description: "The node that has the connection." }),
    address: Type.String({ description: "The address of the client." }),
    tls: Type.Boolean({ description: "True for an encrypted connection." }),
    boundAt: Type.Integer({ description: "Epoch milliseconds." }),
    submits: count("Submits received."),
    accepted: count("Submits accepted."),
    refused: count("Submits refused for a fault."),
    throttled: count("Submits refused because of the window or the rate."),
    delivered: count("Receipts and texts that the client acknowledged."),
    failed: count("Receipts and texts that it refused or did not acknowledge."),
    pendingSubmits: count("Submits without a response."),
    pendingDeliveries: count("Receipts and texts without an acknowledgement."),
    lastPduAt: Type.Integer({ description: "Time of the last request of the client, in epoch milliseconds." }),
  },
  { title: "SmppBind" },
);

const PduView = Type.Object(
  {
    at: Type.Integer({ description: "Epoch milliseconds." }),
    direction: Type.Union([Type.Literal("in"), Type.Literal("out")], { description: "`in` comes from the client." }),
    sequence: Type.Integer({ description: "sequence_number, which a response shares with its request." }),
    command: Type.String({ description: "The command, such as submit_sm, or its id if there is no such command." }),
    status: Type.Union([Type.Integer(), Type.Null()], { description: "command_status of a response." }),
    messageId: Type.Union([Type.String(), Type.Null()], { description: "The message id, where there is one." }),
    source: Type.Union([Type.String(), Type.Null()], {
      description: "The source address; of a number the last digits.",
    }),
    destination: Type.Union([Type.String(), Type.Null()], { description: "The same of the destination." }),
    fault: Type.Union([Type.String(), Type.Null()], {
      description: "The reason why the PDU could not be read; null for a valid one.",
    }),
  },
  { title: "SmppPdu" },
);

const NO_COUNTS = {
  submits: 0,
  accepted: 0,
  refused: 0,
  throttled: 0,
  delivered: 0,
  failed: 0,
  pendingSubmits: 0,
  pendingDeliveries: 0,
};

function bindView({ keyring }: Services, bind: SmppBind): object {
  const { accountId, id, credentialId, kind, node, address, secure: tls, boundAt } = bind;
  const systemId =
    keyring.credentialsOf(accountId).find((credential) => credential.id === credentialId)?.username ?? "";
  const counters = JSON.parse(bind.counters) as object;
  return {
    id,
    credentialId,
    systemId,
    kind,
    node,
    address,
    tls,
    boundAt,
    ...NO_COUNTS,
    lastPduAt: boundAt,
    ...counters,
  };
}

const example = {
  id: "0198f3a2-7c40-7d1e-9a51-3f0c8e2b6d47",
  credentialId: "0198f3a2-7c40-7d1e-9a51-3f0c8e2b6d48",
  systemId: "smpp7k2m9x4q",
  kind: "transceiver",
  node: 1,
  address: "203.0.113.7",
  tls: true,
  boundAt: 1767225600000,
  ...NO_COUNTS,
  submits: 120,
  accepted: 120,
  lastPduAt: 1767225660000,
};

const common = { family: "plain", scope: "manage", testKeys: null, group: "SMPP server" } as const;
const ofOne = {
  params: { id: { meaning: "Bind ID.", example: example.id } },
  problems: ["RECORD_NOT_FOUND"],
} as const;

function bindIdIn({ id = "" }: AuthenticCall["params"]): string {
  if (!isUuid(id)) throw new Problem("RECORD_NOT_FOUND");
  return id;
}

const listBinds: KeyedRoute = {
  ...common,
  method: "GET",
  path: "/api/smpp-binds",
  summary: "List SMPP binds",
  description:
    "Lists the binds of clients to the SMPP server, on all nodes, with their counters. They are two seconds old at most.",
  response: Type.Object({
    data: Type.Array(BindView, { description: "Binds, oldest first." }),
    nextCursor: Type.Null({ description: "Always null: all binds are on one page." }),
  }),
  responseExample: { data: [example], nextCursor: null },
  handle: async (services, { caller }) => ({
    data: (await services.store.listBinds(caller.account.id)).map((bind) => bindView(services, bind)),
    nextCursor: null,
  }),
};

const listPdus: KeyedRoute = {
  ...common,
  ...ofOne,
  method: "GET",
  path: "/api/smpp-binds/:id/pdus",
  summary: "List the PDUs of a bind",
  description:
    "Lists the PDUs of the last minute, 200 at most, without texts and with masked numbers. The first request asks the node of the bind for them: the list is null until it has answered, within a second.",
  response: Type.Object({
    data: Type.Union([Type.Array(PduView), Type.Null()], { description: "PDUs, oldest first; null if not known yet." }),
  }),
  responseExample: {
    data: [
      {
        at: 1767225660000,
        direction: "in",
        sequence: 2,
        command: "submit_sm",
        status: null,
        messageId: null,
        source: "SHOP",
        destination: "•••••••0100",
        fault: null,
      },
    ],
  },
  handle: async ({ store, clock }, { caller, params }) => {
    const id = bindIdIn(params);
    if (!(await store.askBind(caller.account.id, id, { traceUntil: clock.now() + TRACE_MS })))
      throw new Problem("RECORD_NOT_FOUND");
    const bind = await store.findBind(caller.account.id, id);
    return { data: bind?.trace ? (JSON.parse(bind.trace) as unknown) : null };
  },
};

const endBind: KeyedRoute = {
  ...common,
  ...ofOne,
  method: "DELETE",
  path: "/api/smpp-binds/:id",
  summary: "Disconnect an SMPP client",
  description:
    "Asks the node of a bind to unbind, within a second. The client may bind again: revoke its credential to keep it away.",
  response: Type.Object({ closing: Type.Literal(true, { description: "The node was asked." }) }),
  responseExample: { closing: true },
  handle: async ({ store }, { caller, params }) => {
    if (!(await store.askBind(caller.account.id, bindIdIn(params), { close: true })))
      throw new Problem("RECORD_NOT_FOUND");
    return { closing: true };
  },
};

export const smppBindRoutes = [listBinds, listPdus, endBind];
