import { readTemplateText, type TemplateText } from "./template.ts";

const patterns = new Map<string, TemplateText>();
const PATTERNS_MAX = 1000;

/** The text of a stored template, taken apart once for all messages that are made of it. */
export function storedPattern(text: string): TemplateText {
  const known = patterns.get(text);
  if (known) return known;
  const pattern = readTemplateText(text);
  if ("fault" in pattern) throw new Error(`a stored template cannot be read: ${pattern.fault}`);
  if (patterns.size >= PATTERNS_MAX) patterns.clear();
  patterns.set(text, pattern);
  return pattern;
}
