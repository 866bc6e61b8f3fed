import { createRecall } from "../lib/recall.ts";
import { readTemplateText, type TemplateText } from "./template.ts";

const PATTERNS_MAX = 1000;

/** The text of a stored template, taken apart once for all messages that are made of it. */
export const storedPattern = createRecall(PATTERNS_MAX, (text): TemplateText => {
  const pattern = readTemplateText(text);
  if ("fault" in pattern) throw new Error(`a stored template cannot be read: ${pattern.fault}`);
  return pattern;
});
