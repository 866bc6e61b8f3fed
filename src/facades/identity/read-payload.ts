import { readJson, decodeUtf8 } from "../../http/read-json.ts";
import { CODE_DIGITS_MAX, CODE_DIGITS_MIN, type IdentityHookSettings } from "../../model/identity-hook.ts";
import { Problem } from "../../model/problem.ts";

/** A code to deliver, as a product's payload has it. */
export interface ForeignCode {
  to: string;
  code: string;
  /** Language tag of the user; null where the product gives none. */
  locale: string | null;
}

type Rule = Pick<IdentityHookSettings, "codeDigits">;

/** A JSON object of unknown shape. */
export type Payload = Readonly<Record<string, unknown>>;

export function readPayload(body: Buffer): Payload {
  const value = readJson(decodeUtf8(body));
  if (!isFields(value)) throw refuse("body", "The body is a JSON object.");
  return value;
}

const isFields = (value: unknown): value is Payload =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const refuse = (parameter: string, message: string): Problem =>
  new Problem("INVALID_REQUEST", { faults: [{ parameter, message }] });

/** The object at a path; an empty one where there is none. */
export const within = (fields: Payload, ...path: readonly string[]): Payload =>
  path.reduce<Payload>((inner, name) => (isFields(inner[name]) ? inner[name] : {}), fields);

/** The first of these fields that is a text with content; a number keeps its digits. */
export function textIn(fields: Payload, ...names: readonly string[]): string | null {
  for (const name of names) {
    const value = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (typeof value === "string" && value.trim() !== "") return value.trim();
  }
  return null;
}

export function required(value: string | null, parameter: string): string {
  if (value === null) throw refuse(parameter, `The payload has no ${parameter}.`);
  return value;
}

export function refuseVoice(method: string | null, parameter: string): void {
  if (method === null || /^(?:sms|text)$/i.test(method)) return;
  throw refuse(parameter, "This hook delivers text messages only, no voice calls.");
}

/** A run of ASCII digits that no letter or digit of any script adjoins. */
const DIGITS = /(?<![\p{L}\p{N}])[0-9]+(?![\p{L}\p{N}])/gu;

/**
 * The code in a rendered text: its only run of 4 to 10 digits, or of exactly `codeDigits`. Without one, or with several, the text
 * is refused, because a guess could deliver the wrong digits.
 */
export function codeInText(text: string, parameter: string, { codeDigits }: Rule): string {
  const [least, most] = codeDigits === null ? [CODE_DIGITS_MIN, CODE_DIGITS_MAX] : [codeDigits, codeDigits];
  const runs = (text.match(DIGITS) ?? []).filter(({ length }) => length >= least && length <= most);
  const [code] = new Set(runs);
  if (code !== undefined && new Set(runs).size === 1) return code;
  const digits = codeDigits === null ? `${least} to ${most} digits` : `${codeDigits} digits`;
  throw refuse(
    parameter,
    `The text must contain exactly one number of ${digits}, the code. Send the code in a field of its own, or set codeDigits of the hook.`,
  );
}
