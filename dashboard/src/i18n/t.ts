import { formatNumber } from "./format.ts";

type Values = Readonly<Record<string, string | number>>;
type Catalogue = Readonly<Record<string, string>>;

let catalogue: Catalogue = {};

/** Sets the translations by English text. Must run before any module that shows text is loaded. */
export const setCatalogue = (texts: Catalogue): void => void (catalogue = texts);

/**
 * A text in the reader's language. The English text is the key, so a component reads as what it shows. Values stand in
 * braces by name: `t("{count} messages", { count })`. `test/unit/dashboard-texts.test.ts` finds texts without `t` and
 * without a translation.
 */
export function t(text: string, values: Values = {}): string {
  return (catalogue[text] ?? text).replace(/\{(\w+)\}/g, (place, name: string) => {
    const value = values[name] ?? place;
    return typeof value === "number" ? formatNumber(value) : value;
  });
}
