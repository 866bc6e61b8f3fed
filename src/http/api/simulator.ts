import Type from "typebox";
import { scriptOf } from "../../carriers/simulator/fate.ts";
import { waitForPhoneMessage } from "../../carriers/simulator/wait.ts";
import { splitIntoParts } from "../../channels/sms/segment.ts";
import { isUuid } from "../../lib/ids.ts";
import { parseMessageId } from "../../model/message.ts";
import { readNumber } from "../../model/number.ts";
import type { Chaos, Phone, PhoneMessage } from "../../model/phone.ts";
import { Problem, type Fault } from "../../model/problem.ts";
import { readLimit, refuseFaults } from "../page-query.ts";
import type { AuthenticCall, KeyedRoute } from "../route.ts";

const WAIT_SECONDS_DEFAULT = 10;
const WAIT_SECONDS_MAX = 60;

function readPhoneNumber(written: string | undefined, parameter: string): string {
  const number = readNumber(written ?? "");
  if (number) return number;
  throw new Problem("INVALID_REQUEST", {
    faults: [{ parameter, message: `${parameter} is an international phone number.` }],
  });
}

/** Seconds, as people write time-outs; what is longer than anybody waits is taken as milliseconds. */
function readWaitMs(written: string | undefined, faults: Fault[]): number {
  if (written === undefined) return WAIT_SECONDS_DEFAULT * 1000;
  const value = /^\d{1,6}$/.test(written) ? Number(written) : Number.NaN;
  const waitMs = value > 2 * WAIT_SECONDS_MAX ? value : value * 1000;
  if (waitMs <= WAIT_SECONDS_MAX * 1000) return waitMs;
  faults.push({ parameter: "timeout", message: `timeout is a number of seconds, at most ${WAIT_SECONDS_MAX}.` });
  return 0;
}

const phoneView = ({ number, name, messageCount, lastMessageAt }: Phone): object => ({
  number,
  name,
  script: scriptOf(number),
  messageCount,
  lastMessageAt,
});

export function phoneMessageView({
  id,
  messageId,
  number,
  sender,
  channel,
  content,
  receivedAt,
}: PhoneMessage): object {
  const { text, encoding, flash } = content;
  return {
    id,
    messageId,
    to: number,
    sender,
    channel,
    text,
    encoding,
    flash,
    parts: splitIntoParts(text, encoding),
    receivedAt,
  };
}

function readPage(query: AuthenticCall["query"]): { limit: number; cursor: string | null } {
  const faults: Fault[] = [];
  const limit = readLimit(query, faults);
  refuseFaults(faults);
  return { limit, cursor: query.cursor ?? null };
}

const NextCursor = Type.Union([Type.String(), Type.Null()], {
  description: "The cursor of the next page; null on the last.",
});
const PhoneView = Type.Object(
  {
    number: Type.String({ description: "Without plus." }),
    name: Type.Union([Type.String(), Type.Null()], { description: "For people." }),
    script: Type.Union([Type.String(), Type.Null()], {
      description: "What the last four digits make happen; null when nothing special.",
    }),
    messageCount: Type.Integer({ description: "Messages it has received." }),
    lastMessageAt: Type.Union([Type.Integer(), Type.Null()], { description: "Epoch milliseconds." }),
  },
  { title: "Phone" },
);
const PhoneMessageView = Type.Object(
  {
    id: Type.String({ description: "The simulated carrier's id." }),
    messageId: Type.String({ description: "As in the send response." }),
    to: Type.String({ description: "The phone's number." }),
    sender: Type.String({ description: "Who the phone shows it is from." }),
    channel: Type.String({ description: "sms." }),
    text: Type.String({ description: "The whole text, put together." }),
    encoding: Type.String({ description: "gsm7 or ucs2." }),
    flash: Type.Boolean({ description: "Shown directly on the screen." }),
    parts: Type.Array(Type.String(), { description: "The text as it went over the air." }),
    receivedAt: Type.Integer({ description: "Epoch milliseconds." }),
  },
  { title: "PhoneMessage" },
);

const percent = (description: string) => Type.Number({ minimum: 0, maximum: 100, description });
export const ChaosView = Type.Object(
  {
    deliveredPercent: percent("How many messages reach the phone; the others fail."),
    delayMs: Type.Integer({ minimum: 0, maximum: 3_600_000, description: "Time until the delivery report." }),
    duplicatePercent: percent("How many have every report twice."),
    reorderPercent: percent("How many have their reports in the wrong order."),
    throttledPercent: percent("How many tries are turned away for now."),
    lostAnswerPercent: percent("How many are taken without the sender learning it."),
    refusedPercent: percent("How many the carrier refuses for reasons of its own, so that the next route is tried."),
    down: Type.Boolean({ description: "Whether the carrier cannot be reached at all." }),
  },
  { title: "Chaos" },
);

const messageExample = {
  id: "0198f3a2-7c50-7b1e-8a51-3f0c8e2b6d47",
  messageId: "0198f3a2-7c40-7d1e-9a51-3f0c8e2b6d47:1",
  to: "15550100100",
  sender: "HELIOG",
  channel: "sms",
  text: "Your order 4711 is on its way.",
  encoding: "gsm7",
  flash: false,
  parts: ["Your order 4711 is on its way."],
  receivedAt: 1767225600016,
};
const chaosExample: Chaos = {
  deliveredPercent: 90,
  delayMs: 500,
  duplicatePercent: 5,
  reorderPercent: 5,
  throttledPercent: 10,
  lostAnswerPercent: 1,
  refusedPercent: 0,
  down: false,
};
const paging = { cursor: "The nextCursor of the page before.", limit: "1 to 200, 50 unless given." };
const phone = { meaning: "The phone's number.", example: messageExample.to } as const;
const common = { family: "plain", scope: "manage", group: "Simulator" } as const;

export const listPhones: KeyedRoute = {
  ...common,
  method: "GET",
  path: "/api/simulator/phones",
  summary: "List simulated phones",
  description: "Every number of the account that was sent something through the simulator.",
  query: paging,
  response: Type.Object({
    data: Type.Array(PhoneView, { description: "One page of phones." }),
    nextCursor: NextCursor,
  }),
  responseExample: {
    data: [{ number: "15550100100", name: "Delivered", script: null, messageCount: 1, lastMessageAt: 1767225600016 }],
    nextCursor: null,
  },
  handle: async ({ store }, { query, caller }) => {
    const { limit, cursor } = readPage(query);
    const { rows, next } = await store.listPhones(caller.account.id, cursor, limit);
    return { data: rows.map(phoneView), nextCursor: next };
  },
};

export const listPhoneMessages: KeyedRoute = {
  ...common,
  method: "GET",
  path: "/api/simulator/phones/:number/messages",
  summary: "List the messages on a simulated phone",
  description: "Newest first, as the phone received them.",
  params: { number: phone },
  query: paging,
  response: Type.Object({
    data: Type.Array(PhoneMessageView, { description: "One page of messages." }),
    nextCursor: NextCursor,
  }),
  responseExample: { data: [messageExample], nextCursor: null },
  handle: async ({ store }, { params, query, caller }) => {
    const number = readPhoneNumber(params.number, "number");
    const { limit, cursor } = readPage(query);
    if (cursor !== null && !isUuid(cursor)) {
      refuseFaults([{ parameter: "cursor", message: "cursor is the nextCursor of an earlier answer." }]);
    }
    const { rows, next } = await store.listPhoneMessages(caller.account.id, number, cursor, limit);
    return { data: rows.map(phoneMessageView), nextCursor: next };
  },
};

export const waitForMessage: KeyedRoute = {
  ...common,
  method: "GET",
  path: "/api/simulator/messages/wait",
  summary: "Wait for a message",
  description:
    "Answers with the newest message on a phone, at once if there is one, else when one comes; `data` is null when the time is over. " +
    "Name a `messageId` to wait for exactly that one, or `after` to wait for something newer than what you have seen.",
  query: {
    to: { ...phone, required: true },
    messageId: "Wait for this message.",
    after: "The `id` of a message on the phone: only newer ones count.",
    timeout: "Seconds to wait, 10 unless given, 60 at most.",
  },
  response: Type.Object({
    data: Type.Union([PhoneMessageView, Type.Null()], { description: "The message, or null when the time is over." }),
  }),
  responseExample: { data: messageExample },
  handle: async ({ store, simulator, clock, stopping }, { query, caller, reply }) => {
    const number = readPhoneNumber(query.to, "to");
    const faults: Fault[] = [];
    const waitMs = readWaitMs(query.timeout, faults);
    if (query.after !== undefined && !isUuid(query.after))
      faults.push({ parameter: "after", message: "after is the id of a message on the phone." });
    if (query.messageId !== undefined && !parseMessageId(query.messageId)) {
      faults.push({ parameter: "messageId", message: "messageId is as in the send response." });
    }
    refuseFaults(faults);
    const wanted = {
      accountId: caller.account.id,
      number,
      after: query.after ?? null,
      messageId: query.messageId ?? null,
    };
    const leaving = new AbortController();
    reply.raw.once("close", () => leaving.abort());
    const message = await waitForPhoneMessage(
      { store, simulator, clock },
      wanted,
      waitMs,
      AbortSignal.any([leaving.signal, stopping]),
    );
    return { data: message && phoneMessageView(message) };
  },
};

export const replyFromPhone: KeyedRoute = {
  ...common,
  method: "POST",
  path: "/api/simulator/phones/:number/reply",
  summary: "Answer from a simulated phone",
  description:
    "Sends a text from the phone to a sender, as its owner would. A stop word (STOP and its like) puts the number on the opt-out list, a start word takes it off.",
  params: { number: phone },
  body: Type.Object({
    to: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 20,
        description: "The sender to answer; that of the last message unless given.",
      }),
    ),
    text: Type.String({ minLength: 1, maxLength: 1600, description: "What the phone's owner writes." }),
  }),
  requestExamples: { "no more": { text: "STOP" } },
  response: Type.Object({
    from: Type.String({ description: "The phone." }),
    to: Type.String({ description: "The sender that was answered." }),
    text: Type.String({ description: "As it was given." }),
  }),
  responseExample: { from: "15550100100", to: "HELIOG", text: "STOP" },
  handle: async ({ store, simulator, clock }, { params, body, caller }) => {
    const from = readPhoneNumber(params.number, "number");
    const { to, text } = body as { to?: string; text: string };
    if (!text.isWellFormed() || text.includes("\0"))
      refuseFaults([
        { parameter: "text", message: "The text holds half a character or a NUL, which no phone can send." },
      ]);
    const { rows } = await store.listPhoneMessages(caller.account.id, from, null, 1);
    const sender = to ?? rows[0]?.sender ?? "";
    await simulator.reply({ accountId: caller.account.id, from, to: sender, text, at: clock.now() });
    return { from, to: sender, text };
  },
};

export const getChaos: KeyedRoute = {
  ...common,
  method: "GET",
  path: "/api/simulator/chaos",
  summary: "Read the simulator's chaos",
  description: "How the simulated carrier behaves for this account.",
  response: ChaosView,
  responseExample: chaosExample,
  handle: async (_services, { caller }) => caller.account.settings.chaos,
};

export const putChaos: KeyedRoute = {
  ...common,
  method: "PUT",
  path: "/api/simulator/chaos",
  summary: "Change the simulator's chaos",
  description:
    "Makes the simulated carrier misbehave: fields that are not given keep their value. Numbers whose last four digits script their fate are not touched.",
  body: Type.Partial(ChaosView),
  requestExamples: { "a bad day": chaosExample },
  response: ChaosView,
  responseExample: chaosExample,
  handle: async ({ store, keyring }, { body, caller }) => {
    const chaos = { ...caller.account.settings.chaos, ...pickChaos(body as Partial<Chaos>) };
    await store.saveSettings(caller.account.id, { chaos });
    await keyring.refresh();
    return chaos;
  },
};

/** Fields that are no part of chaos are ignored, not stored. */
export const pickChaos = (body: Partial<Chaos>): Partial<Chaos> =>
  Object.fromEntries(Object.entries(body).filter(([name]) => Object.hasOwn(chaosExample, name)));
