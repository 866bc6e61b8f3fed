import { newId } from "../../src/lib/ids.ts";
import type { Message } from "../../src/model/message.ts";

/** Default validity. */
const VALID_MS = 600_000;

/** An SMS as the dispatcher passes it to a carrier, with the given changes. */
export const sampleMessage = (changes: Partial<Message> = {}, now = Date.now()): Message => ({
  accountId: 1,
  requestId: newId(now),
  n: 1,
  channel: "sms",
  routeClass: "TRANS",
  test: false,
  sender: "HELIOG",
  recipient: "15550100100",
  content: { text: "Hello", encoding: "gsm7", flash: false },
  segments: 1,
  credits: 1,
  campaignName: null,
  tried: [],
  carrier: null,
  state: "submitting",
  attempts: 0,
  repeats: 0,
  createdAt: now,
  dueAt: now,
  expiresAt: now + VALID_MS,
  ...changes,
});
