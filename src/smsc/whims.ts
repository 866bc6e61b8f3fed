import { CALM, type Chaos } from "../model/phone.ts";
import type { IdForm } from "./message-ids.ts";

/** How a simulated SMSC behaves. What is not said is as a good one does it. */
export interface Whims extends Chaos {
  /** Without these anybody may bind. */
  systemId: string | null;
  password: string | null;
  /** Submits are answered after so long. */
  answerAfterMs: number;
  /** More submits within a second than this are throttled; null takes any number. */
  messagesPerSecond: number | null;
  /** Submits that are never answered, of a hundred. */
  silentPercent: number;
  /** Answers that come after later ones, of a hundred. */
  lateAnswerPercent: number;
  /** Hangs up after so many submits on a connection, with whatever is under way; null never. */
  hangUpAfter: number | null;
  /** How it spells ids in its answers, and how in its receipts. */
  idForm: IdForm;
  receiptIdForm: IdForm;
  /** Where its receipts say what they say. */
  receiptsAs: "text" | "parameters" | "both";
  /** What receipts tell of the phone's network, in the parameters 0x1401 and 0x1402; null leaves them out. */
  operator: string | null;
  circle: string | null;
}

export const GOOD: Whims = {
  ...CALM,
  systemId: null,
  password: null,
  answerAfterMs: 0,
  messagesPerSecond: null,
  silentPercent: 0,
  lateAnswerPercent: 0,
  hangUpAfter: null,
  idForm: "decimal",
  receiptIdForm: "decimal",
  receiptsAs: "both",
  operator: null,
  circle: null,
};
