import { ROUTE_CLASSES, type Message, type RouteClass } from "../model/message.ts";

/** A line that is down may be back at any moment, and what is urgent must not sleep past it. */
export const LONGEST_WAIT_FOR_LINE_MS: Readonly<Record<RouteClass, number>> = {
  OTP: 5000,
  TRANS: 30_000,
  PROMO: 300_000,
};
/** Of each type one is tried again in so long; where that is too few, all wait longer. */
const TRY_MS = 2;
/** However many wait, none waits longer. */
const LONGEST_MS = 900_000;
/** A claim of which so many were put off again was in vain. */
const IN_VAIN_SHARE = 0.9;
const IN_VAIN_AT_LEAST = 100;

/** The times for which messages were put off that are claimed before. */
export interface Early {
  after: number;
  by: number;
}

interface Waiting {
  /** Tries that are owed to messages which were put off, less those that there has been time for. */
  owed: number;
  owedAt: number;
  /** Nothing was put off for longer. */
  until: number;
  /** The lines that it was put off for; null after a start, when it may have been any. */
  lines: Set<string> | null;
  early: Early | null;
  /** How many the last claim gave, and how many were put off since. */
  claimed: number;
  putOff: number;
}

interface Options {
  now: number;
  /** Whether no other node sends: nothing must be gone for long to a node whose line is up. */
  isAlone(): boolean;
}

/**
 * How long messages wait for lines that are down: the more wait, the longer, so that trying each of them again never becomes
 * most of what the node does. Those whose turn it is find out that the line is back, and then the others are claimed before
 * their time. Passwords never wait longer.
 */
export class DownLines {
  readonly #isAlone: Options["isAlone"];
  readonly #waiting: ReadonlyMap<RouteClass, Waiting>;

  constructor({ now, isAlone }: Options) {
    this.#isAlone = isAlone;
    // The process before this one may have put off messages for as long.
    const begun = { owed: 0, owedAt: now, until: now + LONGEST_MS, lines: null, early: null, claimed: 0, putOff: 0 };
    this.#waiting = new Map(ROUTE_CLASSES.map((routeClass) => [routeClass, { ...begun }]));
  }

  /** When a message is tried again whose lines are down, and that would wait for `pauseMs` if it were the only one. */
  nextTry({ routeClass, state, expiresAt }: Message, lines: readonly string[], at: number, pauseMs: number): number {
    const waiting = this.#of(routeClass);
    waiting.putOff += 1;
    // Those in doubt are few, and wait for an answer rather than for the line.
    if (routeClass === "OTP" || state === "submitting" || !this.#isAlone()) return at + pauseMs;
    // The clock of the machine may have been set back.
    const madeUpFor = Math.max(0, at - waiting.owedAt) / TRY_MS;
    waiting.owed = Math.min(Math.max(0, waiting.owed - madeUpFor) + 1, LONGEST_MS / TRY_MS);
    waiting.owedAt = at;
    const turnMs = Math.round(waiting.owed * TRY_MS);
    if (turnMs <= pauseMs) return at + pauseMs;
    const nextAt = Math.max(at, Math.min(at + turnMs, expiresAt));
    waiting.until = Math.max(waiting.until, nextAt);
    for (const line of lines) waiting.lines?.add(line);
    return nextAt;
  }

  /** A line has taken a message that had been put off: if others wait for it, they are claimed from now on. */
  foundWay(line: string, routeClass: RouteClass, at: number): void {
    const waiting = this.#of(routeClass);
    if (waiting.early || (waiting.lines && !waiting.lines.delete(line))) return;
    waiting.lines ??= new Set();
    // What waits no longer than usual comes by itself, and may have been asked to wait.
    const after = at + LONGEST_WAIT_FOR_LINE_MS[routeClass];
    if (after < waiting.until) waiting.early = { after, by: waiting.until };
    waiting.until = at;
    waiting.owed = 0;
  }

  /** What of a type is to be claimed before its time. */
  earlyOf(routeClass: RouteClass): Early | null {
    return this.#of(routeClass).early;
  }

  /** Early claims have come up to a time, or with null to their end. */
  wentOn(routeClass: RouteClass, upTo: number | null): void {
    const waiting = this.#of(routeClass);
    waiting.early = waiting.early && upTo !== null ? { ...waiting.early, after: upTo } : null;
  }

  /** Whether nearly all that the last claim gave was put off again: the next may take its time. */
  wasInVain(routeClass: RouteClass): boolean {
    const { claimed, putOff } = this.#of(routeClass);
    return routeClass !== "OTP" && claimed >= IN_VAIN_AT_LEAST && putOff >= claimed * IN_VAIN_SHARE;
  }

  noteClaim(routeClass: RouteClass, claimed: number): void {
    Object.assign(this.#of(routeClass), { claimed, putOff: 0 });
  }

  #of(routeClass: RouteClass): Waiting {
    return this.#waiting.get(routeClass) as Waiting;
  }
}
