import { CALM, type Chaos } from "../model/phone.ts";
import type { IdForm } from "./message-ids.ts";

/** Behaviour of the simulated SMSC. Defaults describe a correct one. */
export interface SmscBehavior extends Chaos {
  /** If null, any client may bind. */
  systemId: string | null;
  password: string | null;
  /** Delay of each submit_sm_resp. */
  answerAfterMs: number;
  /** Submits per second above which it throttles; null for no limit. */
  messagesPerSecond: number | null;
  /** Percentage of submits that get no response. */
  silentPercent: number;
  /** Percentage of responses that are sent after later ones. */
  lateAnswerPercent: number;
  /** Closes the connection after this number of submits; null never does. */
  hangUpAfter: number | null;
  /** Format of message ids in responses and in receipts. */
  idForm: IdForm;
  receiptIdForm: IdForm;
  /** Location of the receipt fields. */
  receiptsAs: "text" | "parameters" | "both";
  /** Network of the phone in receipts, in TLVs 0x1401 and 0x1402; null omits them. */
  operator: string | null;
  circle: string | null;
}

export const GOOD: SmscBehavior = {
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
