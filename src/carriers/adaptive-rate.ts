/**
 * Adaptive send rate of a carrier connection. An immutable value: each response produces the next one. Times are monotonic,
 * because a wall clock that is set back would turn a pause of a second into hours.
 */
export interface AdaptiveRate {
  /** Rate limit of the contract; null for none. */
  readonly contracted: number | null;
  /** Rate at the time of `since`; null for no limit. */
  readonly perSecond: number | null;
  /** Recovery adds a share of this per second: the contracted rate, or without a contract the rate when it was throttled. */
  readonly base: number;
  /** Time of the last throttling; recovery starts here. */
  readonly since: number;
  /** No sends before this time. */
  readonly pausedUntil: number;
  /** Length of the last pause for a full queue. The next one is twice as long, unless the last was long ago. */
  readonly pauseMs: number;
}

const SECOND_MS = 1000;
const RATE_MIN = 1;
const RECOVERY_PER_SECOND = 0.05;
const THROTTLED_PAUSE_MS = 1000;
const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 30_000;
/** A connection without a contract is unlimited again at twice the rate at which it was throttled. */
const FREE_AT = 2;

/** The initial state, without throttling. */
export const fullRate = (contracted: number | null): AdaptiveRate => ({
  contracted,
  perSecond: contracted,
  base: contracted ?? 0,
  since: Number.NEGATIVE_INFINITY,
  pausedUntil: 0,
  pauseMs: 0,
});

/** The current rate: it recovers by 5 % of the base per second without throttling. */
export function perSecondAt(rate: AdaptiveRate, now: number): number | null {
  const { contracted, perSecond, base, since } = rate;
  if (perSecond === null || perSecond === contracted) return perSecond;
  const quietSeconds = Math.max(0, Math.floor((now - since) / SECOND_MS));
  const recovered = perSecond + quietSeconds * Math.max(RECOVERY_PER_SECOND * base, RECOVERY_PER_SECOND);
  if (contracted !== null) return Math.min(contracted, recovered);
  return recovered >= FREE_AT * base ? null : recovered;
}

/** Remaining pause; 0 if sending is allowed. */
export const pauseLeftMs = ({ pausedUntil }: AdaptiveRate, now: number): number => Math.max(0, pausedUntil - now);

/**
 * Halves the rate after ESME_RTHROTTLED and pauses for a second. A whole window may be throttled at once, so repetitions
 * within a second change nothing. `observed` is the measured rate, for a connection without a contract.
 */
export function throttled(rate: AdaptiveRate, now: number, observed: number): AdaptiveRate {
  const current = perSecondAt(rate, now);
  const isSlowed = now - rate.since < SECOND_MS;
  if (isSlowed) return rate;
  const before = current ?? Math.max(RATE_MIN, observed);
  return {
    ...rate,
    perSecond: Math.min(before, Math.max(RATE_MIN, before / 2)),
    base: rate.contracted ?? (current === null ? before : rate.base),
    since: now,
    pausedUntil: Math.max(rate.pausedUntil, now + THROTTLED_PAUSE_MS),
  };
}

/** Pauses after ESME_RMSGQFUL, with exponential backoff while the queue stays full. */
export function queueFull(rate: AdaptiveRate, now: number): AdaptiveRate {
  if (now < rate.pausedUntil) return rate;
  const isStillFull = rate.pauseMs > 0 && now - rate.pausedUntil < LONGEST_PAUSE_MS;
  const pauseMs = isStillFull ? Math.min(LONGEST_PAUSE_MS, rate.pauseMs * 2) : FIRST_PAUSE_MS;
  return { ...rate, pauseMs, pausedUntil: now + pauseMs };
}

/** Applies a new contract, or a new share of it for this node. The reduction stays in proportion. */
export function withContract(rate: AdaptiveRate, contracted: number | null, now: number): AdaptiveRate {
  const current = perSecondAt(rate, now);
  if (contracted === rate.contracted) return rate;
  if (contracted === null || current === null || rate.contracted === null || current >= rate.contracted)
    return { ...fullRate(contracted), pausedUntil: rate.pausedUntil, pauseMs: rate.pauseMs };
  const perSecond = Math.min(contracted, (current / rate.contracted) * contracted);
  return { ...rate, contracted, base: contracted, perSecond, since: Math.max(rate.since, now) };
}
