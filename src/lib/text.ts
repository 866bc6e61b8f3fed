const CONTROL = /\p{Cc}/u;

/** No lone surrogate and no NUL: neither can be stored, sent or shown. */
export const isShowable = (value: string): boolean => value.isWellFormed() && !value.includes("\0");

/** No control characters, such as line breaks, which could break a page or a log line. */
export const isPlainText = (value: string): boolean => value.isWellFormed() && !CONTROL.test(value);

/** `a, b or c`. */
export const joinWithOr = (words: readonly string[]): string =>
  words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} or ${words.at(-1)}`;

/** `1 segment`, `2 segments`. */
export const countOf = (count: number, noun: string, plural = `${noun}s`): string =>
  `${count} ${count === 1 ? noun : plural}`;
