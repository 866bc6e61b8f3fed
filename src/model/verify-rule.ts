/** A decision about codes to some numbers, made by a person. Its name says which: first digits, or a country. */
export interface VerifyRuleContent {
  action: "block" | "allow";
  /** Why it was made. */
  note: string | null;
}

/** The rules of an account by name. */
type VerifyRules = ReadonlyMap<string, { content: VerifyRuleContent }>;

/** The rule for a number: that of the longest prefix, otherwise that of its country; null without one. */
export function verifyRuleFor(rules: VerifyRules, number: string, country: string): VerifyRuleContent | null {
  if (rules.size === 0) return null;
  for (let length = number.length; length > 0; length -= 1) {
    const rule = rules.get(number.slice(0, length));
    if (rule) return rule.content;
  }
  return rules.get(country)?.content ?? null;
}
