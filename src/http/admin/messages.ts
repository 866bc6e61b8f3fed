import { Type } from "../../lib/schema.ts";
import { renderOperatorTimeline, STEP_OUTCOMES, type TimelineCallback } from "../../pipeline/timeline.ts";
import { carrierNameOf } from "../../model/catalog.ts";
import { HELD, type StoredCallback } from "../../store/callbacks.ts";
import type { StoredMessage } from "../../store/store.ts";
import { readAttempts } from "../../webhooks/attempt-log.ts";
import { eventName } from "../../webhooks/payloads/event-json.ts";
import type { AuthenticCall, KeyedRoute, Services } from "../route.ts";
import {
  ANSWERS_SHOWN,
  CLICKS_SHOWN,
  exampleMessage,
  findNamed,
  LIST_QUERY,
  MESSAGE_FIELDS,
  messageView,
  readPage,
} from "../public/messages.ts";
import { endpointIn, facadeOf, statusOf } from "./callbacks.ts";

/** Callbacks in a timeline, oldest first; `/api/callbacks` has all. */
const CALLBACKS_TOLD = 100;

/** Message view for operators, with the carrier's name. */
const operatorView = (message: StoredMessage): object => ({
  ...messageView(message),
  carrier: message.carrier === null ? null : carrierNameOf(message.carrier),
  attempts: message.attempts,
});

async function getOne({ store, catalog }: Services, call: AuthenticCall): Promise<object> {
  const message = await findNamed(store, call);
  const [clicks, ledger, answers, stored] = await Promise.all([
    store.listClicksOfMessage(message, CLICKS_SHOWN),
    store.listLedgerOfMessage(message),
    store.listAnswers(message, ANSWERS_SHOWN),
    store.listCallbacksOfMessage(message, CALLBACKS_TOLD),
  ]);
  const callbacks = stored.map((callback) => toldCallback(catalog, callback));
  return {
    ...operatorView(message),
    timeline: renderOperatorTimeline({ message, clicks, ledger, answers, callbacks }),
  };
}

function toldCallback(catalog: Services["catalog"], callback: StoredCallback): TimelineCallback {
  const { accountId, endpointId, happening, state, dueAt, log } = callback;
  const status = statusOf(happening);
  return {
    at: happening.at,
    // A deleted endpoint has no name.
    endpoint: endpointIn(catalog, accountId, endpointId)?.name ?? facadeOf(happening) ?? endpointId,
    event: eventName(happening) + (status === null ? "" : ` ${status}`),
    nextTryAt: state === "waiting" && dueAt !== HELD ? dueAt : null,
    attempts: readAttempts(log),
  };
}

async function getList({ store }: Services, call: AuthenticCall): Promise<object> {
  const { rows, nextCursor } = await readPage(store, call);
  return { data: rows.map(operatorView), nextCursor };
}

const nullableString = (description: string) => Type.Union([Type.String(), Type.Null()], { description });

const fields = {
  ...MESSAGE_FIELDS,
  carrier: nullableString("Carrier that has or last had the message."),
  attempts: Type.Integer({ description: "Number of submit attempts." }),
};

const OperatorMessage = Type.Object(fields, { title: "OperatorMessage" });

const OperatorMessageWithTimeline = Type.Object(
  {
    ...fields,
    timeline: Type.Array(
      Type.Object({
        at: Type.Integer({ description: "Time of the step, in epoch milliseconds." }),
        step: Type.String({
          description:
            "accepted, arrived, number, policy, passed over, attempt, answer, receipt, failover, changed, credits, click, reply, callback or end.",
        }),
        what: Type.String({ description: "Event and its cause." }),
        exchange: nullableString("Protocol summary of the exchange with the carrier, without the text."),
        outcome: Type.Union(
          STEP_OUTCOMES.map((outcome) => Type.Literal(outcome)),
          {
            description:
              "ok; warning if the message is later, sent another way or unconfirmed; failed if it ends here without success.",
          },
        ),
      }),
      { description: "All steps, oldest first." },
    ),
  },
  { title: "OperatorMessageWithTimeline" },
);

const example = { ...exampleMessage, carrier: "simulator", attempts: 1 };
const common = { method: "GET", family: "plain", scope: "manage", testKeys: "read", group: "Messages" } as const;

export const getOperatorMessage: KeyedRoute = {
  ...common,
  path: "/api/messages/:messageId",
  summary: "Get a message with timeline",
  description:
    "Returns a message with every step of its lifecycle: policy decisions, skipped routes with the reason, " +
    "carrier requests and responses, receipts, credits, clicks, replies and callbacks.",
  params: { messageId: { meaning: "Message ID as in the send response: `<id>:<n>`.", example: example.messageId } },
  problems: ["MESSAGE_NOT_FOUND"],
  response: OperatorMessageWithTimeline,
  responseExample: {
    ...example,
    timeline: [
      {
        at: 1767225600000,
        step: "accepted",
        what: "Accepted for 15550100100 as TRANS: 1 segment, 1 credit",
        exchange: null,
        outcome: "ok",
      },
      {
        at: 1767225600004,
        step: "passed over",
        what: 'Route "India" passed over: the carrier is down',
        exchange: null,
        outcome: "ok",
      },
      {
        at: 1767225600004,
        step: "attempt",
        what: 'Handed to carrier "simulator" by route "Everything to the simulator"',
        exchange: null,
        outcome: "ok",
      },
      {
        at: 1767225600012,
        step: "answer",
        what: 'Carrier "simulator" took it as 0198f3a2-7c4c-7a00-8d3e-5b1f0a9c4e21',
        exchange:
          "submit to=********0100 from=HELIOG coding=gsm7 parts=1 -> taken 0198f3a2-7c4c-7a00-8d3e-5b1f0a9c4e21",
        outcome: "ok",
      },
      {
        at: 1767225600220,
        step: "receipt",
        what: 'Carrier "simulator" reports delivered: Delivered to the phone (000)',
        exchange: null,
        outcome: "ok",
      },
      {
        at: 1767225600220,
        step: "end",
        what: "Ended as delivered: Delivered to the phone (000)",
        exchange: null,
        outcome: "ok",
      },
      {
        at: 1767225600262,
        step: "callback",
        what: 'Endpoint "Reports" received delivery_report delivered: response 200',
        exchange: null,
        outcome: "ok",
      },
    ],
  },
  handle: getOne,
};

export const listOperatorMessages: KeyedRoute = {
  ...common,
  path: "/api/messages",
  summary: "List messages with carrier data",
  description: "Same as `GET /v1/messages`, with carrier and attempts added.",
  query: LIST_QUERY,
  response: Type.Object({
    data: Type.Array(OperatorMessage, { description: "Messages on this page." }),
    nextCursor: nullableString("Cursor of the next page; null on the last page."),
  }),
  responseExample: { data: [example], nextCursor: null },
  handle: getList,
};
