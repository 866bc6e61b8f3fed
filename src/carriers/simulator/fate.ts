import type { ReceiptState } from "../carrier.ts";
import type { Message } from "../../model/message.ts";
import type { Chaos } from "../../model/phone.ts";

/** What will happen to a message on the simulated network. */
export interface Fate {
  /** The answer to the submit. */
  submit: "taken" | "busy" | "refused" | "refused by the carrier" | "not there" | "unknown";
  /** The reports afterwards, in the order they are sent. */
  reports: readonly FatedReport[];
}

export interface FatedReport {
  state: ReceiptState;
  afterMs: number;
  errorCode: string | null;
  description: string | null;
}

/** What of a message its fate depends on. */
type FatedMessage = Pick<Message, "recipient" | "channel" | "attempts">;

const SLOW_MS = 20_000;
const READING_MS = 300;

const report = (
  state: ReceiptState,
  afterMs: number,
  errorCode: string | null = null,
  description: string | null = null,
): FatedReport => ({
  state,
  afterMs,
  errorCode,
  description,
});

const delivered = (afterMs: number): FatedReport => report("delivered", afterMs, "000", "Delivered to the phone");
const enroute = (afterMs: number): FatedReport => report("enroute", afterMs, null, "On its way");
const undelivered = (afterMs: number): FatedReport =>
  report("undelivered", afterMs, "001", "The phone could not be reached");
/** What is told of a message that somebody has read on the phone. */
export const readReport = (afterMs: number): FatedReport => report("read", afterMs, null, "Read on the phone");
const expired = (afterMs: number): FatedReport =>
  report("expired", afterMs, "002", "The network gave up after the validity period");

interface Script {
  meaning: string;
  fate(delayMs: number, message: FatedMessage): Fate;
}

/** The last four digits of a number script its fate, so that a test can ask for any outcome without configuration. */
const SCRIPTS: Record<string, Script> = {
  "9001": { meaning: "undelivered", fate: (delayMs) => ({ submit: "taken", reports: [undelivered(delayMs)] }) },
  "9002": { meaning: "expired in the network", fate: (delayMs) => ({ submit: "taken", reports: [expired(delayMs)] }) },
  "9003": { meaning: "refused at submit", fate: () => ({ submit: "refused", reports: [] }) },
  "9004": { meaning: "taken, and no report ever comes", fate: () => ({ submit: "taken", reports: [] }) },
  "9005": { meaning: "delivered after 20 seconds", fate: () => ({ submit: "taken", reports: [delivered(SLOW_MS)] }) },
  "9006": {
    meaning: "delivered, every report twice",
    fate: (delayMs) => ({ submit: "taken", reports: [delivered(delayMs), delivered(delayMs)] }),
  },
  "9007": {
    meaning: "delivered, reports out of order",
    fate: (delayMs) => ({ submit: "taken", reports: [delivered(delayMs), enroute(delayMs)] }),
  },
  "9008": {
    meaning: "throttled at the first try, then delivered",
    fate: (delayMs, { attempts }) =>
      attempts === 0 ? { submit: "busy", reports: [] } : { submit: "taken", reports: [delivered(delayMs)] },
  },
  "9009": {
    meaning: "on SMS only, not on RCS or the chat app",
    fate: (delayMs, { channel }) =>
      channel === "sms" ? { submit: "taken", reports: [delivered(delayMs)] } : { submit: "not there", reports: [] },
  },
};

/** In words, what a number's last four digits do; null where nothing special happens. */
export const scriptOf = (number: string): string | null => SCRIPTS[number.slice(-4)]?.meaning ?? null;

/** Decides by the number, else by the account's chaos. `random` gives 0 (included) to 1 (excluded). */
export function fateOf(message: FatedMessage, chaos: Chaos, random: () => number): Fate {
  const { submit, reports } = networkFate(message, chaos, random);
  return { submit, reports: message.channel === "sms" ? reports : reports.flatMap(withReading) };
}

/** What arrives on RCS or the chat app is read a moment later, and the sender told. */
const withReading = (arrived: FatedReport): FatedReport[] =>
  arrived.state === "delivered" ? [arrived, readReport(arrived.afterMs + READING_MS)] : [arrived];

function networkFate(message: FatedMessage, chaos: Chaos, random: () => number): Fate {
  const script = SCRIPTS[message.recipient.slice(-4)];
  if (script) return script.fate(chaos.delayMs, message);
  const chance = (percent: number): boolean => percent > 0 && random() * 100 < percent;

  if (chance(chaos.throttledPercent)) return { submit: "busy", reports: [] };
  if (chance(chaos.refusedPercent)) return { submit: "refused by the carrier", reports: [] };
  const end = chance(100 - chaos.deliveredPercent) ? undelivered(chaos.delayMs) : delivered(chaos.delayMs);
  const ordered = chance(chaos.reorderPercent) ? [end, enroute(chaos.delayMs)] : [end];
  const reports = chance(chaos.duplicatePercent) ? [...ordered, ...ordered] : ordered;
  return { submit: chance(chaos.lostAnswerPercent) ? "unknown" : "taken", reports };
}
