import { Type } from "../../lib/schema.ts";
import { tellOperator, type ToldCallback } from "../../messages/tell-trail.ts";
import { carrierNameOf } from "../../model/catalog.ts";
import type { StoredCallback } from "../../store/callback-store.ts";
import type { StoredMessage } from "../../store/store.ts";
import { readAttempts } from "../../webhooks/attempt-log.ts";
import { eventName } from "../../webhooks/event-json.ts";
import type { AuthenticCall, KeyedRoute, Services } from "../route.ts";
import {
  ANSWERS_TOLD,
  CLICKS_TOLD,
  exampleMessage,
  findNamed,
  LIST_QUERY,
  MESSAGE_FIELDS,
  messageView,
  readPage,
} from "../v1/messages.ts";
import { endpointIn } from "./callbacks.ts";

/** How many callbacks a timeline tells, the first ones; `/api/callbacks` has them all. */
const CALLBACKS_TOLD = 100;

/** A message as its operator sees it: the carriers have names here. */
const operatorView = (message: StoredMessage): object => ({
  ...messageView(message),
  carrier: message.carrier === null ? null : carrierNameOf(message.carrier),
  attempts: message.attempts,
});

async function getOne({ store, catalog }: Services, call: AuthenticCall): Promise<object> {
  const message = await findNamed(store, call);
  const [clicks, ledger, answers, stored] = await Promise.all([
    store.listClicksOfMessage(message, CLICKS_TOLD),
    store.listLedgerOfMessage(message),
    store.listAnswers(message, ANSWERS_TOLD),
    store.listCallbacksOfMessage(message, CALLBACKS_TOLD),
  ]);
  const callbacks = stored.map((callback) => toldCallback(catalog, callback));
  return { ...operatorView(message), timeline: tellOperator({ message, clicks, ledger, answers, callbacks }) };
}

function toldCallback(catalog: Services["catalog"], callback: StoredCallback): ToldCallback {
  const { accountId, endpointId, happening, state, dueAt, log } = callback;
  const status = happening.kind === "status" ? ` ${happening.status}` : "";
  return {
    at: happening.at,
    // One that is gone has no name any more.
    endpoint: endpointIn(catalog, accountId, endpointId)?.name ?? endpointId,
    event: eventName(happening) + status,
    nextTryAt: state === "waiting" ? dueAt : null,
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
  carrier: nullableString("The carrier that has it, or had it last."),
  attempts: Type.Integer({ description: "How often it was handed to a carrier." }),
};

const OperatorMessage = Type.Object(fields, { title: "OperatorMessage" });

const OperatorMessageWithTimeline = Type.Object(
  {
    ...fields,
    timeline: Type.Array(
      Type.Object({
        at: Type.Integer({ description: "When, in epoch milliseconds." }),
        step: Type.String({
          description:
            "accepted, number, policy, passed over, attempt, answer, receipt, failover, changed, credits, click, reply, callback or end.",
        }),
        what: Type.String({ description: "What happened and why, in words." }),
        exchange: nullableString("What went over the line to the carrier, without the text."),
      }),
      { description: "Every step of its way, in order." },
    ),
  },
  { title: "OperatorMessageWithTimeline" },
);

const example = { ...exampleMessage, carrier: "simulator", attempts: 1 };
const common = { method: "GET", family: "plain", scope: "manage", group: "Messages" } as const;

export const getOperatorMessage: KeyedRoute = {
  ...common,
  path: "/api/messages/:messageId",
  summary: "Explain one message",
  description:
    "A message with every step of its way: what each policy said, which routes were passed over and why, " +
    "what went over the line, reports, credits, clicks, answers, and what your own addresses were told.",
  params: { messageId: { meaning: "As in the send response: `<id>:<n>`.", example: example.messageId } },
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
      },
      {
        at: 1767225600004,
        step: "passed over",
        what: 'Route "India" passed over: the carrier is down',
        exchange: null,
      },
      {
        at: 1767225600004,
        step: "attempt",
        what: 'Handed to carrier "simulator" by route "Everything to the simulator"',
        exchange: null,
      },
      {
        at: 1767225600012,
        step: "answer",
        what: 'Carrier "simulator" took it as 0198f3a2-7c4c-7a00-8d3e-5b1f0a9c4e21',
        exchange:
          "submit to=********0100 from=HELIOG coding=gsm7 parts=1 -> taken 0198f3a2-7c4c-7a00-8d3e-5b1f0a9c4e21",
      },
      {
        at: 1767225600220,
        step: "receipt",
        what: 'Carrier "simulator" reports delivered: Delivered to the phone (000)',
        exchange: null,
      },
      {
        at: 1767225600220,
        step: "end",
        what: "Ended as delivered: Delivered to the phone (000)",
        exchange: null,
      },
      {
        at: 1767225600262,
        step: "callback",
        what: 'Told "Reports" of delivery_report delivered: answered 200',
        exchange: null,
      },
    ],
  },
  handle: getOne,
};

export const listOperatorMessages: KeyedRoute = {
  ...common,
  path: "/api/messages",
  summary: "List messages with their carriers",
  description: "As `GET /v1/messages`, with what only the operator sees of each.",
  query: LIST_QUERY,
  response: Type.Object({
    data: Type.Array(OperatorMessage, { description: "One page of messages." }),
    nextCursor: nullableString("The cursor of the next page; null on the last."),
  }),
  responseExample: { data: [example], nextCursor: null },
  handle: getList,
};
