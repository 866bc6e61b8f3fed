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

/** As it lies in a callback's row, which nearly all of them have: names would be half of it. */
type Line = readonly [
  at: number,
  ms: number,
  status: number | null,
  reason: string | null,
  excerpt: string,
  nextTryAt: number | null,
];

/** A try as a line of its callback's log. */
export function writeAttempt({ at, ms, status, reason = "", excerpt, nextTryAt }: Tried): string {
  const beginning = excerpt.slice(0, EXCERPT_MAX).toWellFormed();
  const line: Line = [at, Math.round(ms), status, reason === "" ? null : reason, beginning, nextTryAt];
  return `${JSON.stringify(line)}\n`;
}

export const readAttempts = (log: string | null): Attempt[] =>
  (log ?? "")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => attemptOf(JSON.parse(line) as Line | Attempt));

/** Earlier versions wrote it with its names. */
function attemptOf(said: Line | Attempt): Attempt {
  if (!isLine(said)) return said;
  const [at, ms, status, reason, excerpt, nextTryAt] = said;
  return { at, ms, status, reason, excerpt, nextTryAt };
}

const isLine = (said: Line | Attempt): said is Line => Array.isArray(said);
