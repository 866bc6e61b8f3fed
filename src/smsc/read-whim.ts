import { ID_FORMS } from "./message-ids.ts";
import { GOOD, type Whims } from "./whims.ts";

interface WhimRule {
  meaning: string;
  /** What was written as a value; undefined when it is none. */
  read(written: string): unknown;
}

const number = (least: number, most: number, meaning: string): WhimRule => ({
  meaning: `${meaning} (${least} to ${most})`,
  read: (written) => {
    const value = Number(written);
    return written.trim() !== "" && value >= least && value <= most ? value : undefined;
  },
});

const orNone = ({ meaning, read }: WhimRule): WhimRule => ({
  meaning: `${meaning}, or none`,
  read: (written) => (written === "none" ? null : read(written)),
});

const text = (meaning: string): WhimRule => ({ meaning, read: (written) => written });

const oneOf = (words: readonly string[], meaning: string): WhimRule => ({
  meaning: `${meaning}: ${words.join(", ")}`,
  read: (written) => (words.includes(written) ? written : undefined),
});

const percent = (meaning: string): WhimRule => number(0, 100, `${meaning}, of a hundred`);

/** Everything that a simulated SMSC can be told, by name. */
export const WHIMS: Readonly<Record<Exclude<keyof Whims, "down">, WhimRule>> = {
  systemId: orNone(text("who may bind")),
  password: orNone(text("with which password")),
  answerAfterMs: number(0, 600_000, "milliseconds before a submit is answered"),
  delayMs: number(0, 86_400_000, "milliseconds before a receipt is sent"),
  deliveredPercent: percent("messages that arrive"),
  throttledPercent: percent("submits that are throttled"),
  refusedPercent: percent("submits that fail"),
  silentPercent: percent("submits that are taken and never answered"),
  lostAnswerPercent: percent("the same, as the phones of the simulator have it"),
  lateAnswerPercent: percent("answers that come after later ones"),
  duplicatePercent: percent("messages whose receipts come twice"),
  reorderPercent: percent("messages whose receipts come in the wrong order"),
  messagesPerSecond: orNone(number(1, 1_000_000, "submits a second, and the others are throttled")),
  hangUpAfter: orNone(number(0, 1_000_000_000, "submits on a connection before it is cut")),
  idForm: oneOf(ID_FORMS, "how answers spell ids"),
  receiptIdForm: oneOf(ID_FORMS, "how receipts spell ids"),
  receiptsAs: oneOf(["text", "parameters", "both"], "where receipts say what they say"),
  operator: orNone(text("the phone's operator, which receipts tell in parameter 0x1401")),
  circle: orNone(text("the phone's circle, which receipts tell in parameter 0x1402")),
};

/** Reads `name=value`; what is wrong with it comes as words. */
export function readWhim(written: string): Partial<Whims> | string {
  const at = written.indexOf("=");
  const name = at < 0 ? written : written.slice(0, at);
  const rule = Object.hasOwn(WHIMS, name) ? WHIMS[name as keyof typeof WHIMS] : undefined;
  if (!rule) return `There is no ${JSON.stringify(name)}: use one of ${Object.keys(WHIMS).join(", ")}.`;
  const value = rule.read(at < 0 ? "" : written.slice(at + 1));
  if (value === undefined) return `${name} is ${rule.meaning}; unless said, ${GOOD[name as keyof Whims] ?? "none"}.`;
  return { [name]: value };
}
