import { isPlainText } from "../../lib/plain-text.ts";

/** Platforms take no longer address. */
export const ADDRESS_MAX = 2000;

/** Whether a phone or a platform can fetch this as it is written, so that it is passed on untouched. */
export const isWebAddress = (value: unknown): value is string =>
  typeof value === "string" &&
  value.length <= ADDRESS_MAX &&
  /^https?:\/\/\S+$/i.test(value) &&
  isPlainText(value) &&
  URL.canParse(value);
