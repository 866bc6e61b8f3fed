const CONTROL = /\p{Cc}/u;

/** No lone half of a character and no NUL: neither JSON nor a screen has a use for them. */
export const isShowable = (value: string): boolean => value.isWellFormed() && !value.includes("\0");

/** One line without anything that could break a page or a log. */
export const isPlainText = (value: string): boolean => value.isWellFormed() && !CONTROL.test(value);
