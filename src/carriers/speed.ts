/**
 * How fast a line may be sent to, given how it has borne it. A value: each answer of the carrier makes the next one.
 */
export interface Speed {
  /** What the contract allows; null where there is no limit in it. */
  readonly contracted: number | null;
  /** Messages per second at the time of `since`; null for as fast as it goes. */
  readonly perSecond: number | null;
  /** What it recovers by steps of: the contracted speed, or the one at which a line without contract was throttled. */
  readonly base: number;
  /** When it was last throttled; it recovers from then on. */
  readonly since: number;
  /** Nothing is sent before this time. */
  readonly pausedUntil: number;
  /** How long the last pause for a full queue was; the next is twice as long unless it was long ago. */
  readonly pauseMs: number;
}

const SECOND_MS = 1000;
const SLOWEST = 1;
const RECOVERY_PER_SECOND = 0.05;
const THROTTLED_PAUSE_MS = 1000;
const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 30_000;
/** A line without a contracted speed is free again once it bears twice what it was throttled at. */
const FREE_AT = 2;

/** A line that has done no wrong. */
export const fullSpeed = (contracted: number | null): Speed => ({
  contracted,
  perSecond: contracted,
  base: contracted ?? 0,
  since: 0,
  pausedUntil: 0,
  pauseMs: 0,
});

/** Messages per second now: what it was slowed down to, and a twentieth of the whole more for every quiet second. */
export function perSecondAt(speed: Speed, now: number): number | null {
  const { contracted, perSecond, base, since } = speed;
  if (perSecond === null || perSecond === contracted) return perSecond;
  const quietSeconds = Math.max(0, Math.floor((now - since) / SECOND_MS));
  const recovered = perSecond + quietSeconds * Math.max(RECOVERY_PER_SECOND * base, RECOVERY_PER_SECOND);
  if (contracted !== null) return Math.min(contracted, recovered);
  return recovered >= FREE_AT * base ? null : recovered;
}

/** How long nothing may be sent from now on; 0 when it may. */
export const pauseLeftMs = ({ pausedUntil }: Speed, now: number): number => Math.max(0, pausedUntil - now);

/**
 * The carrier said that it was too fast: half the speed, after a breath. A whole window may be answered so at once, and
 * within a second of the last time it says nothing new. `observed` is how fast it really was, for a line without contract.
 */
export function throttled(speed: Speed, now: number, observed: number): Speed {
  const current = perSecondAt(speed, now);
  const isSlowed = speed.since > 0 && now - speed.since < SECOND_MS;
  if (isSlowed) return speed;
  const was = current ?? Math.max(SLOWEST, observed);
  return {
    ...speed,
    perSecond: Math.min(was, Math.max(SLOWEST, was / 2)),
    base: speed.contracted ?? (current === null ? was : speed.base),
    since: now,
    pausedUntil: Math.max(speed.pausedUntil, now + THROTTLED_PAUSE_MS),
  };
}

/** The carrier's queue is full: a pause, and a longer one each time that it is still full afterwards. */
export function queueFull(speed: Speed, now: number): Speed {
  if (now < speed.pausedUntil) return speed;
  const isFullStill = speed.pauseMs > 0 && now - speed.pausedUntil < LONGEST_PAUSE_MS;
  const pauseMs = isFullStill ? Math.min(LONGEST_PAUSE_MS, speed.pauseMs * 2) : FIRST_PAUSE_MS;
  return { ...speed, pauseMs, pausedUntil: now + pauseMs };
}

/** The contract has changed, or this node's share of it: what the line has borne is kept in proportion. */
export function withContract(speed: Speed, contracted: number | null, now: number): Speed {
  const current = perSecondAt(speed, now);
  if (contracted === speed.contracted) return speed;
  if (contracted === null || current === null || speed.contracted === null || current >= speed.contracted)
    return { ...fullSpeed(contracted), pausedUntil: speed.pausedUntil, pauseMs: speed.pauseMs };
  const perSecond = Math.min(contracted, (current / speed.contracted) * contracted);
  return { ...speed, contracted, base: contracted, perSecond, since: Math.max(speed.since, now) };
}
