import { locale } from "../i18n/language.ts";
import { t } from "../i18n/t.ts";

const COUNTRIES = new Intl.DisplayNames(locale, { type: "region", fallback: "code" });

/** The name of a country code; "Unknown" for other values. */
export const countryName = (code: string): string =>
  /^[A-Z]{2}$/.test(code) ? (COUNTRIES.of(code) ?? code) : t("Unknown");
