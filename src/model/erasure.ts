/** The removal of every trace of a number, which a job works through. */
export interface Erasure {
  accountId: number;
  id: string;
  /** Null once it has ended. */
  number: string | null;
  state: "running" | "finished";
  /** Rows that were deleted or changed. */
  erased: number;
  requestedAt: number;
  endedAt: number | null;
}

/** Stands for the number in texts that mention it. */
const ERASED_NUMBER = "[erased]";

/** The number as a whole, not as a part of a longer one. */
const mentionOf = (number: string): RegExp => new RegExp(String.raw`(?<!\d)${number}(?!\d)`, "g");

export const mentions = (text: string, number: string): boolean => mentionOf(number).test(text);

export const withoutNumber = (text: string, number: string): string =>
  text.replaceAll(mentionOf(number), ERASED_NUMBER);
