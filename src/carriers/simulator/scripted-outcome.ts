import type { Message } from "../../model/message.ts";
import type { Chaos } from "../../model/phone.ts";
import type { ReceiptState } from "../../model/receipt.ts";

/** Scripted outcome of a message on the simulated network. */
export interface ScriptedOutcome {
  /** Submit response. */
  submit: "taken" | "busy" | "refused" | "refused by the carrier" | "not there" | "unknown";
  /** Receipts in the order of sending. */
  reports: readonly ScriptedReceipt[];
}

export interface ScriptedReceipt {
  state: ReceiptState;
  afterMs: number;
  errorCode: string | null;
  description: string | null;
}

/** Message fields that select the outcome. */
type ScriptedMessage = Pick<Message, "recipient" | "channel" | "attempts">;

const SLOW_MS = 20_000;
const READING_MS = 300;

const receipt = (
  state: ReceiptState,
  afterMs: number,
  errorCode: string | null = null,
  description: string | null = null,
): ScriptedReceipt => ({
  state,
  afterMs,
  errorCode,
  description,
});

const delivered = (afterMs: number): ScriptedReceipt => receipt("delivered", afterMs, "000", "Delivered to the phone");
const enroute = (afterMs: number): ScriptedReceipt => receipt("enroute", afterMs, null, "On its way");
const undelivered = (afterMs: number): ScriptedReceipt =>
  receipt("undelivered", afterMs, "001", "The phone could not be reached");
/** Read receipt of a message opened on the phone. */
export const readReceiptAfter = (afterMs: number): ScriptedReceipt =>
  receipt("read", afterMs, null, "Read on the phone");
const expired = (afterMs: number): ScriptedReceipt =>
  receipt("expired", afterMs, "002", "The network gave up after the validity period");

interface Script {
  meaning: string;
  outcome(delayMs: number, message: ScriptedMessage): ScriptedOutcome;
}

/** The last four digits of a number select its outcome, so that tests need no configuration. */
const SCRIPTS: Record<string, Script> = {
  "9001": { meaning: "undelivered", outcome: (delayMs) => ({ submit: "taken", reports: [undelivered(delayMs)] }) },
  "9002": {
    meaning: "expired in the network",
    outcome: (delayMs) => ({ submit: "taken", reports: [expired(delayMs)] }),
  },
  "9003": { meaning: "refused at submit", outcome: () => ({ submit: "refused", reports: [] }) },
  "9004": { meaning: "taken, and no report ever comes", outcome: () => ({ submit: "taken", reports: [] }) },
  "9005": {
    meaning: "delivered after 20 seconds",
    outcome: () => ({ submit: "taken", reports: [delivered(SLOW_MS)] }),
  },
  "9006": {
    meaning: "delivered, every report twice",
    outcome: (delayMs) => ({ submit: "taken", reports: [delivered(delayMs), delivered(delayMs)] }),
  },
  "9007": {
    meaning: "delivered, reports out of order",
    outcome: (delayMs) => ({ submit: "taken", reports: [delivered(delayMs), enroute(delayMs)] }),
  },
  "9008": {
    meaning: "throttled at the first try, then delivered",
    outcome: (delayMs, { attempts }) =>
      attempts === 0 ? { submit: "busy", reports: [] } : { submit: "taken", reports: [delivered(delayMs)] },
  },
  "9009": {
    meaning: "on SMS only, not on RCS or the chat app",
    outcome: (delayMs, { channel }) =>
      channel === "sms" || channel === "email"
        ? { submit: "taken", reports: [delivered(delayMs)] }
        : { submit: "not there", reports: [] },
  },
};

/** Description of the script of a number; null if it has none. */
export const scriptOf = (number: string): string | null => SCRIPTS[number.slice(-4)]?.meaning ?? null;

/** Scripted by number, otherwise drawn from the account's fault injection settings. `random` returns values in [0, 1). */
export function outcomeOf(message: ScriptedMessage, chaos: Chaos, random: () => number): ScriptedOutcome {
  const { submit, reports } = networkOutcome(message, chaos, random);
  // A mail server reports nothing after its reply.
  if (message.channel === "email") return { submit, reports: [] };
  return { submit, reports: message.channel === "sms" ? reports : reports.flatMap(withReadReceipt) };
}

/** On RCS and chat apps a delivered message is read a moment later. */
const withReadReceipt = (arrived: ScriptedReceipt): ScriptedReceipt[] =>
  arrived.state === "delivered" ? [arrived, readReceiptAfter(arrived.afterMs + READING_MS)] : [arrived];

function networkOutcome(message: ScriptedMessage, chaos: Chaos, random: () => number): ScriptedOutcome {
  const script = SCRIPTS[message.recipient.slice(-4)];
  if (script) return script.outcome(chaos.delayMs, message);
  const chance = (percent: number): boolean => percent > 0 && random() * 100 < percent;

  if (chance(chaos.throttledPercent)) return { submit: "busy", reports: [] };
  if (chance(chaos.refusedPercent)) return { submit: "refused by the carrier", reports: [] };
  const end = chance(100 - chaos.deliveredPercent) ? undelivered(chaos.delayMs) : delivered(chaos.delayMs);
  const ordered = chance(chaos.reorderPercent) ? [end, enroute(chaos.delayMs)] : [end];
  const reports = chance(chaos.duplicatePercent) ? [...ordered, ...ordered] : ordered;
  return { submit: chance(chaos.lostAnswerPercent) ? "unknown" : "taken", reports };
}
