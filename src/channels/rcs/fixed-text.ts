import { Type, type Typed } from "../../lib/schema.ts";
import { isPlainText, isShowable } from "../../lib/text.ts";
import { readTemplateText } from "../template.ts";

/** The longest URL that platforms accept. */
export const ADDRESS_MAX = 2000;

/** True for a URL that phones and platforms can fetch as it is, so that it is passed on unchanged. */
export const isWebAddress = (value: unknown): value is string =>
  typeof value === "string" &&
  value.length <= ADDRESS_MAX &&
  /^https?:\/\/\S+$/i.test(value) &&
  isPlainText(value) &&
  URL.canParse(value);

interface TextRule {
  min?: 1;
  max: number;
  /** Allows line breaks. */
  lines?: true;
}

/**
 * A fixed text of a template. Placeholders are refused: they would reach phones as braces. Platforms count UTF-16
 * units, so the limit is checked twice.
 */
export function fixedText({ min, max, lines }: TextRule, description: string): Typed<string> {
  const without = lines ? "" : ", without line breaks or other control characters";
  const rule = `Give a string of ${min ?? 0} to ${max} characters${without}.`;
  const isFine = lines ? isShowable : isPlainText;
  return Type.String({
    ...(min && { minLength: min }),
    maxLength: max,
    description,
    error: rule,
    check: (text) =>
      text.length > max || (min && text.trim() === "") || !isFine(text) ? rule : placeholderFault(text),
  });
}

/** The error text of a missing or wrong URL. */
export const ADDRESS_RULE = `Give a public address that starts with http:// or https://, at most ${ADDRESS_MAX} characters.`;

/** A URL that a phone opens or fetches. */
export const webAddress = (description?: string): Typed<string> =>
  Type.String({
    maxLength: ADDRESS_MAX,
    ...(description !== undefined && { description }),
    error: ADDRESS_RULE,
    check: (url) => (isWebAddress(url) ? placeholderFault(url) : ADDRESS_RULE),
  });

function placeholderFault(text: string): string | null {
  const read = readTemplateText(text);
  if (!("fault" in read) && read.variables === 0) return null;
  return "Only the text of a template of kind text or rich has variables: write this without placeholders.";
}
