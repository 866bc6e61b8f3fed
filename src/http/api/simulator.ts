import { chaosFields, pickChaos } from "../../catalog/kinds/chaos.ts";
import { scriptOf } from "../../carriers/simulator/fate.ts";
import { waitForPhoneMessage } from "../../carriers/simulator/wait.ts";
import { isUuid } from "../../lib/ids.ts";
import { Type } from "../../lib/schema.ts";
import { parseMessageId } from "../../model/message.ts";
import { readNumber } from "../../model/number.ts";
import type { Chaos, Phone } from "../../model/phone.ts";
import { Problem, type Fault } from "../../model/problem.ts";
import { readLimit, refuseFaults } from "../page-query.ts";
import type { AuthenticCall, KeyedRoute } from "../route.ts";
import { phoneMessageExample, PhoneMessageView, phoneMessageView } from "./simulator-message.ts";

const WAIT_SECONDS_DEFAULT = 10;
const WAIT_SECONDS_MAX = 60;

/** The phone that a path or a query names. */
export function readPhoneNumber(written: string | undefined, parameter: string): string {
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

export const ChaosView = Type.Object(chaosFields, { title: "Chaos" });

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
const phone = { meaning: "The phone's number.", example: phoneMessageExample.to } as const;
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
  responseExample: { data: [phoneMessageExample], nextCursor: null },
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
  responseExample: { data: phoneMessageExample },
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
