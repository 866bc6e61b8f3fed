import { completeRecord, readRecord } from "../../records/read-record.ts";
import { ADAPTERS, connectionType } from "../../records/types/connections.ts";
import { carriers } from "../../records/record-types.ts";
import { nullable, Type } from "../../lib/schema.ts";
import { callbackPath, type CarrierContent } from "../../model/catalog.ts";
import { Problem } from "../../model/problem.ts";
import { createSecretFactory } from "../../webhooks/secrets.ts";
import type { AuthenticCall, KeyedRoute, Services } from "../route.ts";
import { EXAMPLE_ID, find } from "./records.ts";

/** State of a connection without binds. */
const NOTHING = {
  binds: [],
  submitsPerSecond: 0,
  speed: null,
  pausedUntil: null,
  errors: {},
  lastError: null,
  learnedIdForm: null,
};

async function getState(services: Services, call: AuthenticCall): Promise<object> {
  const record = await find(carriers, services, call);
  const carrier = services.carriers.find(record.accountId, record.name);
  const { adapter } = record.content as CarrierContent;
  const { count, node } = services.acceptDeps.membership;
  return {
    adapter,
    up: carrier?.isUp() ?? false,
    node,
    nodes: count,
    callbackUrl: carrier?.handleWebhook ? services.baseUrl() + callbackPath(record.id) : null,
    ...(carrier?.state?.() ?? NOTHING),
  };
}

async function test(services: Services, call: AuthenticCall): Promise<object> {
  const { deliverDeps: telling, testConnection: tryLine, catalog } = services;
  const known = await find(carriers, services, call);
  const read = readRecord(carriers, call.body ?? {}, { known, catalog: catalog.of(known.accountId) });
  const content = completeRecord(read, known, createSecretFactory(telling.encryption)) as CarrierContent;
  if (content.adapter === "simulator")
    throw new Problem("INVALID_REQUEST", {
      message: "The simulator has no connection to test: test a carrier of another adapter.",
    });
  const trial = await tryLine(content);
  if (trial) return trial;
  const message = "This cannot be checked without a message: send one with POST /api/carriers/{id}/send.";
  throw new Problem("INVALID_REQUEST", { message });
}

const time = (description: string) => nullable(Type.Integer(), description);

const BindView = Type.Object({
  as: Type.String({ description: "transceiver, transmitter or receiver." }),
  state: Type.String({
    description: "connecting; bound; refused: rejected by the carrier; waiting: unreachable, retrying; or closing.",
  }),
  since: Type.Integer({ description: "Start of the current state, in epoch milliseconds." }),
  reason: nullable(Type.String(), "Reason for not being bound; null while bound."),
  nextTryAt: time("Time of the next connection attempt; null if none is planned."),
  inFlight: Type.Integer({ description: "Submits awaiting a response, out of the window size." }),
});

const StateView = Type.Object(
  {
    adapter: Type.String({ description: "Protocol adapter." }),
    up: Type.Boolean({ description: "True if this node can submit messages to the carrier." }),
    node: Type.Integer({ description: "Node that responds. All values are from this node." }),
    nodes: Type.Integer({ description: "Number of nodes that share the connection." }),
    callbackUrl: nullable(
      Type.String(),
      "Webhook URL to configure at the platform; null if the carrier does not use webhooks.",
    ),
    binds: Type.Array(BindView, { description: "SMPP binds of this node; empty for other adapters." }),
    submitsPerSecond: Type.Number({ description: "Submits answered in the last second." }),
    speed: nullable(Type.Number(), "Current rate limit; lower than contracted after throttling; null if unlimited."),
    pausedUntil: time("The carrier asked to pause until this time; null if it did not."),
    errors: Type.Record(Type.Integer(), {
      description: "Count of error responses by carrier code since the node started.",
    }),
    lastError: nullable(
      Type.Object({
        at: Type.Integer({ description: "Epoch milliseconds." }),
        code: Type.String({ description: "Carrier's error code." }),
        description: Type.String({ description: "Meaning of the code." }),
      }),
      "Most recent error response; null if there was none.",
    ),
    learnedIdForm: nullable(
      Type.String(),
      "Learned format of message IDs in receipts, kept across restarts; null if none was learned.",
    ),
  },
  { title: "CarrierState" },
);

const TrialView = Type.Object(
  {
    outcome: Type.String({ description: "bound, refused or unreachable." }),
    description: Type.String({ description: "Result in words." }),
    code: nullable(Type.String(), "Carrier's error code; null if it gave none."),
    systemId: nullable(Type.String(), "System ID that the carrier returned; null if it returned none."),
    ms: Type.Integer({ description: "Duration of the test." }),
  },
  { title: "BindTrial" },
);

const common = {
  family: "plain",
  scope: "manage",
  testKeys: null,
  group: "Carriers",
  params: { id: { meaning: "Carrier ID.", example: EXAMPLE_ID } },
  problems: ["RECORD_NOT_FOUND"],
} as const;

export const carrierStateRoutes: readonly KeyedRoute[] = [
  {
    ...common,
    method: "GET",
    path: "/api/carriers/:id/state",
    summary: "Get carrier status",
    description:
      "Returns the binds of the carrier on the node that responds, their window usage, the current rate, error responses, and what was learned about the carrier.",
    response: StateView,
    responseExample: {
      adapter: "smpp",
      up: true,
      node: 3,
      nodes: 2,
      callbackUrl: null,
      binds: [
        {
          as: "transceiver",
          state: "bound",
          since: 1767225600000,
          reason: null,
          nextTryAt: null,
          inFlight: 4,
        },
      ],
      submitsPerSecond: 48,
      speed: 50,
      pausedUntil: null,
      errors: { "0x00000058": 2 },
      lastError: {
        at: 1767225600000,
        code: "0x00000058",
        description: "The carrier was sent to faster than it allows",
      },
      learnedIdForm: "from decimal to hex, in lower case",
    },
    handle: getState,
  },
  {
    ...common,
    method: "POST",
    path: "/api/carriers/:id/test",
    summary: "Test a carrier connection",
    description:
      "Connects to the carrier once with the stored settings, or with the settings in the request laid over them, and returns the result. SMPP binds and unbinds, WhatsApp looks up the phone number, RCS for Business requests an access token. No message is sent and nothing is stored. A carrier that allows only one bind refuses a second one while the connection is bound.",
    problems: ["RECORD_NOT_FOUND", "INVALID_REQUEST"],
    body: Type.Object(
      Object.fromEntries(
        ADAPTERS.map((adapter) => [
          adapter,
          Type.Optional({
            ...connectionType(adapter).requestSchema,
            description: "Settings to test instead of the stored ones. Omitted settings keep their stored value.",
          }),
        ]),
      ),
    ),
    requestExamples: { "as stored": {}, "another password": { smpp: { password: "other" } } },
    response: TrialView,
    responseExample: {
      outcome: "refused",
      description: "The carrier does not take this password",
      code: "0x0000000E",
      systemId: null,
      ms: 84,
    },
    handle: test,
  },
];
