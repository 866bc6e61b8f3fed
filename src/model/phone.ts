import type { Channel, MessageContent } from "./message.ts";

/** A message on a simulated phone. */
export interface PhoneMessage {
  accountId: number;
  /** Message id of the simulated carrier. */
  id: string;
  /** Recipient's digits without plus. */
  number: string;
  sender: string;
  channel: Channel;
  content: MessageContent;
  /** Our message id, `<id>:<n>`. */
  messageId: string;
  receivedAt: number;
  /** Name of the simulated carrier. */
  carrier: string;
  /** Time of the last receipt; null if there is none. */
  reportsDueAt: number | null;
  /** Sent with a test key. */
  test: boolean;
}

/** A simulated phone that has received a message. */
export interface Phone {
  accountId: number;
  number: string;
  name: string | null;
  messageCount: number;
  lastMessageAt: number | null;
}

/** Fault injection settings of the simulated carrier, for numbers without a script. Percentages are 0 to 100. */
export interface Chaos {
  deliveredPercent: number;
  delayMs: number;
  duplicatePercent: number;
  reorderPercent: number;
  throttledPercent: number;
  /** Accepts the message and breaks the connection before the response. */
  lostAnswerPercent: number;
  /** Refuses with fault `carrier`: another carrier might accept the message. */
  refusedPercent: number;
  /** Unreachable. */
  down: boolean;
}

export const CALM: Chaos = {
  deliveredPercent: 100,
  delayMs: 200,
  duplicatePercent: 0,
  reorderPercent: 0,
  throttledPercent: 0,
  lostAnswerPercent: 0,
  refusedPercent: 0,
  down: false,
};

/** Carriers write numbers with and without country code; this many trailing digits identify a phone. */
export const ENDING = 7;

/** True if the carrier's spelling may denote this number. An unreadable spelling does not contradict it. */
export const mayBePhone = (written: string | undefined, number: string): boolean =>
  written === undefined ||
  written.length < ENDING ||
  /[^+0-9]/u.test(written) ||
  written.slice(-ENDING) === number.slice(-ENDING);
