import type { VerifyConfigContent } from "./verify-config.ts";

const LOCALE_MAX = 35;
const LOCALE = /^[a-z]{2,8}(?:[-_][a-z0-9]{1,8})*$/i;

/** A language tag in one spelling: `PT_br` becomes `pt-br`. Null if it is none. */
export const readLocale = (written: string): string | null =>
  written.length <= LOCALE_MAX && LOCALE.test(written) ? written.replaceAll("_", "-").toLowerCase() : null;

/** The text in a user's language: that of `pt-BR`, otherwise of `pt`, otherwise the configuration's own. */
export function textFor(
  { text, texts = {} }: Pick<VerifyConfigContent, "text" | "texts">,
  locale: string | null,
): string {
  if (locale === null) return text;
  const byLocale = new Map(Object.entries(texts).map(([tag, each]) => [readLocale(tag), each]));
  const parts = locale.split("-");
  for (let length = parts.length; length > 0; length -= 1) {
    const found = byLocale.get(parts.slice(0, length).join("-"));
    if (found !== undefined) return found;
  }
  return text;
}
