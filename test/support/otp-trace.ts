import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../src/model/verification.ts";

/** A requested code and the time it is submitted; null if never. */
export interface TracedCode {
  to: string;
  country: string;
  at: number;
  usedAt: number | null;
  /** Requested while the carrier was slow. */
  slow: boolean;
}

const LIFE_MS = 300_000;
const DAYS = 2;
/** On the second morning the carrier takes minutes. */
const SLOW = { from: DAY_MS + 6 * HOUR_MS, until: DAY_MS + 9 * HOUR_MS };
const CONVERSION = 0.6;
const CROWD = 12;

/**
 * Two days of legitimate OTP traffic, in which six of ten users submit their code. Half the numbers lie close together
 * in one town, the others all over a country, so that new prefixes appear all the time. There are bursts of a dozen
 * sign-ups from adjacent numbers within a minute, and one prefix is busy for hours. On the second morning the carrier
 * is slow: codes take one to five minutes and some arrive too late. Half of the users who wait long request another
 * code, which ends the first one.
 */
export function honestTrace(start: number, length: number, seed: number): TracedCode[] {
  const random = seeded(seed);
  const codes: TracedCode[] = [];
  const taken = new Set<string>();
  /** A unique number with a given prefix. */
  function numberIn(beginning: string, digits: number): string {
    for (;;) {
      const number = beginning + String(Math.floor(random() * 10 ** digits)).padStart(digits, "0");
      if (taken.has(number)) continue;
      taken.add(number);
      return number;
    }
  }

  function ask(to: string, country: string, at: number, isAgain = false): void {
    const slow = at - start >= SLOW.from && at - start < SLOW.until;
    const delayMs = slow ? (1 + random() * 4) * MINUTE_MS : (3 + random() * 12) * 1000;
    const typedAfterMs = delayMs + (5 + random() * 40) * 1000;
    const isPatient = delayMs < 90_000 || isAgain || random() < 0.5;
    const isUsed = random() < CONVERSION && isPatient && typedAfterMs < LIFE_MS;
    codes.push({ to, country, at, usedAt: isUsed ? at + typedAfterMs : null, slow });
    if (!isPatient) ask(to, country, at + 90_000, true);
  }

  const busy = Math.floor(length * 0.05);
  const crowds = Math.floor(length / 1000);
  const townPrefixes = Math.max(1, Math.floor(length / 1000));
  for (let index = 0; index < length - busy - crowds * CROWD; index += 1) {
    const at = start + random() * DAYS * DAY_MS;
    if (random() < 0.5) ask(numberIn(`352621${String(index % townPrefixes).padStart(3, "0")}`, 4), "LU", at);
    else ask(numberIn("919", 9), "IN", at);
  }
  for (let crowd = 0; crowd < crowds; crowd += 1) {
    const at = start + random() * DAYS * DAY_MS;
    for (let index = 0; index < CROWD; index += 1)
      ask(numberIn(`447700${String(crowd).padStart(3, "0")}`, 4), "GB", at + random() * MINUTE_MS);
  }
  const busySpan = Math.min(12 * HOUR_MS, busy * 15_000);
  for (let index = 0; index < busy; index += 1)
    ask(numberIn("4930", 4), "DE", start + DAY_MS + (index * busySpan) / busy);
  return codes.toSorted((a, b) => a.at - b.at);
}

/** Reproducible random numbers. */
export function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296;
    return state / 4_294_967_296;
  };
}
