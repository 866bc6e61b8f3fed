import { locale } from "./language.ts";

const numbers = new Intl.NumberFormat(locale);

/** A number with the separators of the reader's language. */
export const formatNumber = (value: number): string => numbers.format(value);
