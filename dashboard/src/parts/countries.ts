import { locale } from "../i18n/language.ts";
import type { Option } from "./record/field.ts";

/** Region codes of `Intl` that are not countries. */
const OTHERS = new Set(["EU", "EZ", "UN", "ZZ", "XA", "XB", "QO"]);
const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ".split("");

const isCountry = (code: string): boolean => !OTHERS.has(code) && new Intl.Locale(`und-${code}`).region === code;

/** All countries that `Intl` knows, sorted by name. */
export function countries(): Option[] {
  const names = new Intl.DisplayNames(locale, { type: "region", fallback: "none" });
  const order = new Intl.Collator(locale);
  return LETTERS.flatMap((first) => LETTERS.map((second) => first + second))
    .flatMap((code) => {
      const name = isCountry(code) ? names.of(code) : undefined;
      return name === undefined ? [] : [{ value: code, label: `${name} (${code})` }];
    })
    .toSorted((a, b) => order.compare(a.label, b.label));
}
