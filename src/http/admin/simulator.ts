import { chaosFields } from "../../records/types/chaos.ts";
import { scriptOf } from "../../carriers/simulator/scripted-outcome.ts";
import { waitForPhoneMessage } from "../../carriers/simulator/wait.ts";
import { isUuid } from "../../lib/ids.ts";
import { Type } from "../../lib/schema.ts";
import { pickFields } from "../../lib/shape.ts";
import { parseMessageId } from "../../model/message.ts";
import { readNumber } from "../../model/number.ts";
import type { Chaos, Phone } from "../../model/phone.ts";
import { Problem, refuseFaults, type Fault } from "../../model/problem.ts";
import { readLimit } from "../pagination.ts";
import { pageParameters, phoneParameter, textParameter } from "../parameters.ts";
import { keyedRoute, type AuthenticCall, type KeyedRoute } from "../route.ts";
import { seesTestsOnly } from "../auth/test-mode.ts";
import { phoneMessageExample, PhoneMessageView, phoneMessageView } from "./simulator-message.ts";

const WAIT_SECONDS_DEFAULT = 10;
const WAIT_SECONDS_MAX = 60;

export const notAPhone = (parameter: string): Fault => ({
  parameter,
  message: `${parameter} must be an international phone number.`,
});

/** Reads the phone number of a path or query. */
export function readPhoneNumber(written: string | undefined, parameter: string): string {
  const number = readNumber(written ?? "");
  if (number) return number;
  throw new Problem("INVALID_REQUEST", { faults: [notAPhone(parameter)] });
}

/** Reads a timeout in seconds. Values above twice the maximum are taken as milliseconds. */
function readWaitMs(written: string | undefined, faults: Fault[]): number {
  if (written === undefined) return WAIT_SECONDS_DEFAULT * 1000;
  const value = /^\d{1,6}$/.test(written) ? Number(written) : Number.NaN;
  const waitMs = value > 2 * WAIT_SECONDS_MAX ? value : value * 1000;
  if (waitMs <= WAIT_SECONDS_MAX * 1000) return waitMs;
  faults.push({ parameter: "timeout", message: `timeout must be a number of seconds, at most ${WAIT_SECONDS_MAX}.` });
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
  description: "Cursor of the next page; null on the last page.",
});
const PhoneView = Type.Object(
  {
    number: Type.String({ description: "Phone number without plus." }),
    name: Type.Union([Type.String(), Type.Null()], { description: "Display name." }),
    script: Type.Union([Type.String(), Type.Null()], {
      description: "Outcome scripted by the last four digits; null if there is none.",
    }),
    messageCount: Type.Integer({ description: "Number of messages received." }),
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
const phone = { ...phoneParameter("Phone number."), example: phoneMessageExample.to } as const;
const common = { family: "plain", scope: "manage", testKeys: "read", group: "Simulator" } as const;

export const listPhones: KeyedRoute = {
  ...common,
  method: "GET",
  path: "/api/simulator/phones",
  summary: "List simulated phones",
  description: "Lists every number that the account has messaged through the simulator.",
  query: pageParameters(phoneMessageExample.to),
  response: Type.Object({
    data: Type.Array(PhoneView, { description: "Phones on this page." }),
    nextCursor: NextCursor,
  }),
  responseExample: {
    data: [{ number: "15550100100", name: "Delivered", script: null, messageCount: 1, lastMessageAt: 1767225600016 }],
    nextCursor: null,
  },
  handle: async ({ store }, { query, caller }) => {
    const { limit, cursor } = readPage(query);
    const { rows, next } = seesTestsOnly(caller)
      ? await store.listTestPhones(caller.account.id, cursor, limit)
      : await store.listPhones(caller.account.id, cursor, limit);
    return { data: rows.map(phoneView), nextCursor: next };
  },
};

export const listPhoneMessages: KeyedRoute = {
  ...common,
  method: "GET",
  path: "/api/simulator/phones/:number/messages",
  summary: "List a simulated phone's messages",
  description: "Lists the messages on a phone, newest first. For viewers, anything that could be a code is masked.",
  params: { number: phone },
  query: pageParameters(phoneMessageExample.id),
  response: Type.Object({
    data: Type.Array(PhoneMessageView, { description: "Messages on this page." }),
    nextCursor: NextCursor,
  }),
  responseExample: { data: [phoneMessageExample], nextCursor: null },
  handle: async ({ store }, { params, query, caller }) => {
    const number = readPhoneNumber(params.number, "number");
    const { limit, cursor } = readPage(query);
    if (cursor !== null && !isUuid(cursor)) {
      refuseFaults([{ parameter: "cursor", message: "cursor is the nextCursor of an earlier answer." }]);
    }
    const { rows, next } = await store.listPhoneMessages(caller.account.id, number, cursor, limit, {
      testOnly: seesTestsOnly(caller),
    });
    return { data: rows.map((row) => phoneMessageView(row, caller)), nextCursor: next };
  },
};

export const waitForMessage: KeyedRoute = {
  ...common,
  method: "GET",
  path: "/api/simulator/messages/wait",
  summary: "Wait for a message",
  description:
    "Returns the newest message on a phone, immediately if there is one, otherwise when one arrives; `data` is null after the timeout. " +
    "Set `messageId` to wait for a specific message, or `after` to wait for one newer than the last you have seen.",
  query: {
    to: { ...phone, required: true },
    messageId: textParameter("Wait for this message ID.", phoneMessageExample.messageId),
    after: textParameter("`id` of a message on the phone; only newer ones are returned.", phoneMessageExample.id),
    timeout: {
      meaning: `Timeout in seconds. Defaults to ${WAIT_SECONDS_DEFAULT}, at most ${WAIT_SECONDS_MAX}.`,
      schema: Type.Integer({ minimum: 0, maximum: WAIT_SECONDS_MAX, default: WAIT_SECONDS_DEFAULT, examples: [1] }),
    },
  },
  response: Type.Object({
    data: Type.Union([PhoneMessageView, Type.Null()], { description: "The message, or null after the timeout." }),
  }),
  responseExample: { data: phoneMessageExample },
  handle: async ({ store, simulator, clock, stopping }, { query, caller, reply }) => {
    const number = readPhoneNumber(query.to, "to");
    const faults: Fault[] = [];
    const waitMs = readWaitMs(query.timeout, faults);
    if (query.after !== undefined && !isUuid(query.after))
      faults.push({ parameter: "after", message: "after must be the id of a message on the phone." });
    if (query.messageId !== undefined && !parseMessageId(query.messageId)) {
      faults.push({ parameter: "messageId", message: "messageId must be as in the send response." });
    }
    refuseFaults(faults);
    const wanted = {
      accountId: caller.account.id,
      number,
      after: query.after ?? null,
      messageId: query.messageId ?? null,
      testOnly: seesTestsOnly(caller),
    };
    const leaving = new AbortController();
    reply.raw.once("close", () => leaving.abort());
    const message = await waitForPhoneMessage(
      { store, simulator, clock },
      wanted,
      waitMs,
      AbortSignal.any([leaving.signal, stopping]),
    );
    return { data: message && phoneMessageView(message, caller) };
  },
};

export const getChaos: KeyedRoute = {
  ...common,
  method: "GET",
  path: "/api/simulator/chaos",
  summary: "Get simulator chaos settings",
  description: "Returns how the simulated carrier misbehaves for this account.",
  response: ChaosView,
  responseExample: chaosExample,
  handle: async (_services, { caller }) => caller.account.settings.chaos,
};

export const putChaos = keyedRoute({
  ...common,
  // Closed to test keys, because it also affects live messages on the simulator.
  testKeys: null,
  method: "PUT",
  path: "/api/simulator/chaos",
  summary: "Update simulator chaos settings",
  description:
    "Configures how the simulated carrier misbehaves. Omitted fields keep their value. Numbers with a scripted outcome (by their last four digits) are not affected.",
  body: Type.Partial(ChaosView),
  requestExamples: { "a bad day": chaosExample },
  response: ChaosView,
  responseExample: chaosExample,
  handle: async ({ store, keyring }, { body, caller, noteBefore }) => {
    noteBefore?.(caller.account.settings.chaos);
    const chaos = { ...caller.account.settings.chaos, ...pickFields(chaosFields, body) };
    await store.saveSettings(caller.account.id, { chaos });
    await keyring.refresh();
    return chaos;
  },
});
