import { ID_FORMS } from "./message-ids.ts";
import { GOOD, type SmscBehavior } from "./behavior.ts";

interface BehaviorRule {
  meaning: string;
  /** The parsed value; undefined if invalid. */
  read(written: string): unknown;
}

const number = (least: number, most: number, meaning: string): BehaviorRule => ({
  meaning: `${meaning} (${least} to ${most})`,
  read: (written) => {
    const value = Number(written);
    return written.trim() !== "" && value >= least && value <= most ? value : undefined;
  },
});

const orNone = ({ meaning, read }: BehaviorRule): BehaviorRule => ({
  meaning: `${meaning}, or none`,
  read: (written) => (written === "none" ? null : read(written)),
});

const text = (meaning: string): BehaviorRule => ({ meaning, read: (written) => written });

const oneOf = (words: readonly string[], meaning: string): BehaviorRule => ({
  meaning: `${meaning}: ${words.join(", ")}`,
  read: (written) => (words.includes(written) ? written : undefined),
});

const percent = (meaning: string): BehaviorRule => number(0, 100, `percentage of ${meaning}`);

/** All settings of the simulated SMSC by name. */
export const BEHAVIORS: Readonly<Record<Exclude<keyof SmscBehavior, "down">, BehaviorRule>> = {
  systemId: orNone(text("the system id that may bind")),
  password: orNone(text("the password of a bind")),
  answerAfterMs: number(0, 600_000, "milliseconds until a submit is answered"),
  delayMs: number(0, 86_400_000, "milliseconds until a receipt is sent"),
  deliveredPercent: percent("messages that are delivered"),
  throttledPercent: percent("submits that are throttled"),
  refusedPercent: percent("submits that are refused with a permanent error"),
  silentPercent: percent("submits that are accepted and never answered"),
  lostAnswerPercent: percent("the same, under the name that the simulator in the server uses"),
  lateAnswerPercent: percent("answers that are sent out of order"),
  duplicatePercent: percent("messages whose receipts are sent twice"),
  reorderPercent: percent("messages whose receipts are sent out of order"),
  messagesPerSecond: orNone(number(1, 1_000_000, "submits per second before the rest is throttled")),
  hangUpAfter: orNone(number(0, 1_000_000_000, "submits on a connection before it is closed")),
  idForm: oneOf(ID_FORMS, "format of message ids in submit answers"),
  receiptIdForm: oneOf(ID_FORMS, "format of message ids in receipts"),
  receiptsAs: oneOf(["text", "parameters", "both"], "where receipts carry their content"),
  operator: orNone(text("the operator in TLV 0x1401 of receipts")),
  circle: orNone(text("the circle in TLV 0x1402 of receipts")),
};

/** Parses `name=value`; returns the error text if invalid. */
export function readBehavior(written: string): Partial<SmscBehavior> | string {
  const at = written.indexOf("=");
  const name = at < 0 ? written : written.slice(0, at);
  const rule = Object.hasOwn(BEHAVIORS, name) ? BEHAVIORS[name as keyof typeof BEHAVIORS] : undefined;
  if (!rule) return `There is no ${JSON.stringify(name)}: use one of ${Object.keys(BEHAVIORS).join(", ")}.`;
  const value = rule.read(at < 0 ? "" : written.slice(at + 1));
  if (value === undefined)
    return `${name} is ${rule.meaning}; unless said, ${GOOD[name as keyof SmscBehavior] ?? "none"}.`;
  return { [name]: value };
}
