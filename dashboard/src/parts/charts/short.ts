import { locale } from "../../i18n/language.ts";
const format = new Intl.NumberFormat(locale, { notation: "compact" });

/** A count as short as the side of a chart has room for. */
export const short = (count: number): string => format.format(count);
