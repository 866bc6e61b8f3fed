const CONTROL = /\p{Cc}/u;

/** No lone half of a character and no NUL: neither JSON nor a phone has a use for them. */
export const isShowable = (value: string): boolean => value.isWellFormed() && !value.includes("\0");

/** One line of visible text. */
export const isPlainText = (value: string): boolean => value.isWellFormed() && !CONTROL.test(value);

/** Platforms take no longer address. */
export const ADDRESS_MAX = 2000;

/** Whether a phone or a platform can fetch this as it is written, so that it is passed on untouched. */
export const isWebAddress = (value: unknown): value is string =>
  typeof value === "string" &&
  value.length <= ADDRESS_MAX &&
  /^https?:\/\/\S+$/i.test(value) &&
  isPlainText(value) &&
  URL.canParse(value);
