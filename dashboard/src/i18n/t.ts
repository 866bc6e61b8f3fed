import { formatNumber } from "./format.ts";

type Values = Readonly<Record<string, string | number>>;
type Catalogue = Readonly<Record<string, string>>;

let catalogue: Catalogue = {};

/** Sets the translations by English text. Must run before any module that shows text is loaded. */
export const setCatalogue = (texts: Catalogue): void => void (catalogue = texts);

/**
 * Translates a text. The English text is the key, so components stay readable. Named values are in braces:
 * `t("{count} messages", { count })`. `test/unit/dashboard-texts.test.ts` finds texts without `t` or translation.
 */
export function t(text: string, values: Values = {}): string {
  return (catalogue[text] ?? text).replace(/\{(\w+)\}/g, (place, name: string) => {
    const value = values[name] ?? place;
    return typeof value === "number" ? formatNumber(value) : value;
  });
}
