const LOCALE_MAX = 35;
const LOCALE = /^[a-z]{2,8}(?:[-_][a-z0-9]{1,8})*$/i;

/** A language tag in one spelling: `PT_br` becomes `pt-br`. Null if it is none. */
export const readLocale = (written: string): string | null =>
  written.length <= LOCALE_MAX && LOCALE.test(written) ? written.replaceAll("_", "-").toLowerCase() : null;

/** A text and its language tag; null for the text that has none. */
export interface LocalisedText {
  text: string;
  language: string | null;
}

/** The text in a user's language: that of `pt-BR`, otherwise of `pt`, otherwise the one without a language. */
export function textFor(
  text: string,
  texts: Readonly<Record<string, string>> | undefined,
  locale: string | null,
): LocalisedText {
  const own = { text, language: null };
  if (locale === null) return own;
  const byLocale = new Map(Object.entries(texts ?? {}).map(([tag, each]) => [readLocale(tag), each]));
  const parts = locale.split("-");
  for (let length = parts.length; length > 0; length -= 1) {
    const language = parts.slice(0, length).join("-");
    const found = byLocale.get(language);
    if (found !== undefined) return { text: found, language };
  }
  return own;
}
