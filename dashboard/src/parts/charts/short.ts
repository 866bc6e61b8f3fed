import { locale } from "../../i18n/language.ts";
const format = new Intl.NumberFormat(locale, { notation: "compact" });

/** A count in compact notation, short enough for an axis. */
export const short = (count: number): string => format.format(count);
