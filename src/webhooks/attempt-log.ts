/** One delivery attempt, as stored. */
export interface Attempt {
  at: number;
  ms: number;
  /** Null without a response. */
  status: number | null;
  /** Reason of a failure, else null. */
  reason: string | null;
  /** Beginning of the response body. */
  excerpt: string;
  nextTryAt: number | null;
}

/** Enough to recognise an error page. */
const EXCERPT_MAX = 1000;

interface Tried {
  at: number;
  ms: number;
  status: number | null;
  reason?: string;
  excerpt: string;
  nextTryAt: number | null;
}

/** Stored form, without field names, which would be half of its size. */
type Line = readonly [
  at: number,
  ms: number,
  status: number | null,
  reason: string | null,
  excerpt: string,
  nextTryAt: number | null,
];

/** An attempt as a line of the callback's log. */
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

/** Rows of earlier versions have field names. */
function attemptOf(said: Line | Attempt): Attempt {
  if (!isLine(said)) return said;
  const [at, ms, status, reason, excerpt, nextTryAt] = said;
  return { at, ms, status, reason, excerpt, nextTryAt };
}

const isLine = (said: Line | Attempt): said is Line => Array.isArray(said);
