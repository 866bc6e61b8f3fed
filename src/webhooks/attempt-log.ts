/** One try to tell an endpoint something, as it is kept. */
export interface Attempt {
  at: number;
  ms: number;
  /** Null when there was no answer, or nothing was sent. */
  status: number | null;
  /** Why it failed; null when it did not. */
  reason: string | null;
  /** The beginning of what was answered. */
  excerpt: string;
  nextTryAt: number | null;
}

/** Enough to recognise an error page by. */
const EXCERPT_MAX = 1000;

interface Tried {
  at: number;
  ms: number;
  status: number | null;
  reason?: string;
  excerpt: string;
  nextTryAt: number | null;
}

/** A try as a line of its callback's log. */
export function writeAttempt({ at, ms, status, reason = "", excerpt, nextTryAt }: Tried): string {
  const attempt: Attempt = {
    at,
    ms: Math.round(ms),
    status,
    reason: reason === "" ? null : reason,
    excerpt: excerpt.slice(0, EXCERPT_MAX).toWellFormed(),
    nextTryAt,
  };
  return `${JSON.stringify(attempt)}\n`;
}

export const readAttempts = (log: string | null): Attempt[] =>
  (log ?? "")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Attempt);
