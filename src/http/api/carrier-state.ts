import { completeRecord, readRecord } from "../../catalog/read-record.ts";
import { ADAPTERS, lineKind } from "../../catalog/kinds/lines.ts";
import { carriers } from "../../catalog/shelves.ts";
import { nullable } from "../../lib/nullable.ts";
import { Type } from "../../lib/schema.ts";
import { callbackPath, type CarrierContent } from "../../model/catalog.ts";
import { Problem } from "../../model/problem.ts";
import { createMint } from "../../webhooks/mint.ts";
import type { AuthenticCall, KeyedRoute, Services } from "../route.ts";
import { EXAMPLE_ID, find } from "./records.ts";

/** What is told of a line that has nothing to tell. */
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
  const { count, node } = services.accepting.membership;
  return {
    adapter,
    up: carrier?.isUp() ?? false,
    node,
    nodes: count,
    callbackUrl: carrier?.called ? services.baseUrl() + callbackPath(record.id) : null,
    ...(carrier?.state?.() ?? NOTHING),
  };
}

async function test(services: Services, call: AuthenticCall): Promise<object> {
  const { telling, tryLine, catalog } = services;
  const known = await find(carriers, services, call);
  const read = readRecord(carriers, call.body ?? {}, { known, catalog: catalog.of(known.accountId) });
  const content = completeRecord(read, known, createMint(telling.seal)) as CarrierContent;
  if (content.adapter === "simulator")
    throw new Problem("INVALID_REQUEST", {
      message: "A simulated line has nobody at its other end: only one to a real carrier can be tried.",
    });
  const trial = await tryLine(content);
  if (trial) return trial;
  const message = "Only a message shows whether the other end takes any: send one by POST /api/carriers/{id}/send.";
  throw new Problem("INVALID_REQUEST", { message });
}

const time = (description: string) => nullable(Type.Integer(), description);

const BindView = Type.Object({
  as: Type.String({ description: "transceiver, transmitter or receiver." }),
  state: Type.String({
    description:
      "connecting, bound, refused (the carrier said no), waiting (it cannot be reached, and is tried again), or closing.",
  }),
  since: Type.Integer({ description: "Since when, in epoch milliseconds." }),
  reason: nullable(Type.String(), "Why it is not bound, in words; null when it is."),
  nextTryAt: time("When it is tried again; null when nothing is waited for."),
  inFlight: Type.Integer({ description: "Submits that wait for their answer: so much of the window is used." }),
});

const StateView = Type.Object(
  {
    adapter: Type.String({ description: "What it speaks." }),
    up: Type.Boolean({ description: "Whether messages can be handed to it here." }),
    node: Type.Integer({ description: "The node that answers: all of this is how the line is there." }),
    nodes: Type.Integer({ description: "How many nodes share the line." }),
    callbackUrl: nullable(
      Type.String(),
      "What to put where the platform asks for a webhook; null where it calls nobody back.",
    ),
    binds: Type.Array(BindView, { description: "The binds that are this node's; a simulated line has none." }),
    submitsPerSecond: Type.Number({ description: "Submits answered in the last second." }),
    speed: nullable(
      Type.Number(),
      "How fast it may be sent to now: less than contracted after the carrier has throttled; null for as fast as it goes.",
    ),
    pausedUntil: time("Nothing is sent before this time, because the carrier asked for it; null when it did not."),
    errors: Type.Record(Type.Integer(), {
      description: "How often the carrier answered something else than yes, by its code, since the start.",
    }),
    lastError: nullable(
      Type.Object({
        at: Type.Integer({ description: "Epoch milliseconds." }),
        code: Type.String({ description: "The carrier's code." }),
        description: Type.String({ description: "What it means." }),
      }),
      "The last of them; null when there was none.",
    ),
    learnedIdForm: nullable(
      Type.String(),
      "How its receipts spell ids, as was learned, also before this start; null when nothing was.",
    ),
  },
  { title: "CarrierState" },
);

const TrialView = Type.Object(
  {
    outcome: Type.String({ description: "bound, refused or unreachable." }),
    description: Type.String({ description: "What happened, in words." }),
    code: nullable(Type.String(), "The carrier's code; null where it gave none."),
    systemId: nullable(Type.String(), "What the carrier calls itself; null when it did not say."),
    ms: Type.Integer({ description: "How long it took." }),
  },
  { title: "BindTrial" },
);

const common = {
  family: "plain",
  scope: "manage",
  group: "Carriers",
  params: { id: { meaning: "The carrier's `id`.", example: EXAMPLE_ID } },
  problems: ["RECORD_NOT_FOUND"],
} as const;

/** How a line is, and whether one could be bound. */
export const carrierStateRoutes: readonly KeyedRoute[] = [
  {
    ...common,
    method: "GET",
    path: "/api/carriers/:id/state",
    summary: "See how a carrier is",
    description:
      "The binds of the line on the node that answers, how much of their windows is used, how fast it is, what the carrier has said no to, and what was learned about it.",
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
    summary: "Try a carrier",
    description:
      "Asks the carrier once, right now, whether it knows us, with the stored settings or with others laid over them, and says what happened: SMPP binds and unbinds, WhatsApp looks up the line's number, RCS for Business asks for a token. Nothing is sent and nothing is stored. A carrier that allows one bind refuses a second while the line is bound.",
    problems: ["RECORD_NOT_FOUND", "INVALID_REQUEST"],
    body: Type.Object(
      Object.fromEntries(
        ADAPTERS.map((adapter) => [
          adapter,
          Type.Optional({
            ...lineKind(adapter).given,
            description: "Settings to try instead of the stored ones; those that are not given are as stored.",
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
