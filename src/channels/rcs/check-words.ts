import type { Fault } from "../../model/problem.ts";
import { readTemplateText } from "../template.ts";
import { isPlainText, isShowable } from "../../lib/plain-text.ts";
import { ADDRESS_MAX, isWebAddress } from "./wording.ts";

interface WordsRule {
  min: 0 | 1;
  max: number;
  /** Whether there may be line breaks. */
  lines?: boolean;
}

/** Reads words of a template that are sent as they stand: a placeholder in them would reach people as braces. */
export function readWords(parameter: string, given: unknown, { min, max, lines }: WordsRule, faults: Fault[]): string {
  const isFine = lines ? isShowable : isPlainText;
  if (typeof given !== "string" || given.length > max || (min > 0 && given.trim() === "") || !isFine(given)) {
    const without = lines ? "" : ", without line breaks or other control characters";
    faults.push({ parameter, message: `Give a string of ${min} to ${max} characters${without}.` });
    return "";
  }
  refusePlaceholder(parameter, given, faults);
  return given;
}

/** Reads an address that a phone will open or fetch. */
export function readAddress(parameter: string, given: unknown, faults: Fault[]): string {
  if (isWebAddress(given)) {
    refusePlaceholder(parameter, given, faults);
    return given;
  }
  const message = `Give a public address that starts with http:// or https://, at most ${ADDRESS_MAX} characters.`;
  faults.push({ parameter, message });
  return "";
}

function refusePlaceholder(parameter: string, words: string, faults: Fault[]): void {
  const read = readTemplateText(words);
  if (!("fault" in read) && read.variables === 0) return;
  const message = "Only the text of a template of kind text or rich has variables: write this without placeholders.";
  faults.push({ parameter, message });
}
