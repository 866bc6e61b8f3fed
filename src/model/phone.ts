import type { Channel, MessageContent } from "./message.ts";

/** A message as it lies on a simulated phone. */
export interface PhoneMessage {
  accountId: number;
  /** The simulated carrier's own id of the message. */
  id: string;
  /** The phone it was sent to: digits, without plus. */
  number: string;
  sender: string;
  channel: Channel;
  content: MessageContent;
  /** Our id of the message, `<id>:<n>`. */
  messageId: string;
  receivedAt: number;
  /** Name of the simulated carrier that brought it. */
  carrier: string;
  /** When the last of its delivery reports is due; null when it gets none. */
  reportsDueAt: number | null;
}

/** A simulated phone that has been sent something. */
export interface Phone {
  accountId: number;
  number: string;
  name: string | null;
  messageCount: number;
  lastMessageAt: number | null;
}

/** How the simulated carrier behaves where a number's own fate does not say otherwise. Percentages are 0 to 100. */
export interface Chaos {
  deliveredPercent: number;
  delayMs: number;
  duplicatePercent: number;
  reorderPercent: number;
  throttledPercent: number;
  /** Takes the message and then breaks the line, so that nobody learns it was taken. */
  lostAnswerPercent: number;
  /** Refuses for reasons of its own: another carrier might take the message. */
  refusedPercent: number;
  /** Cannot be reached at all. */
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

/** Carriers write numbers with and without their country's code; so many digits at the end tell them apart. */
export const ENDING = 7;

/** Whether what a carrier writes as a phone may be this number; what is no whole number says nothing against it. */
export const mayBePhone = (written: string | undefined, number: string): boolean =>
  written === undefined ||
  written.length < ENDING ||
  /[^+0-9]/u.test(written) ||
  written.slice(-ENDING) === number.slice(-ENDING);
