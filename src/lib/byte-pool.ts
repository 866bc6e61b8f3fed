import { QueueFull } from "./async.ts";
import type { Clock } from "./clock.ts";
import { Queue } from "./queue.ts";

interface Waiting {
  bytes: number;
  /** Monotonic time after which it is refused. */
  until: number;
  grant(): void;
  refuse(error: QueueFull): void;
}

interface Options {
  bytesMax: number;
  /** Large takes that may wait; a longer line refuses at once. */
  waitingMax?: number;
  /** Large takes granted per turn of the event loop, for takes that are followed by long work; at least one is granted. */
  bytesPerTurn?: number;
  /** Called while something waits, for holders that can give bytes back. */
  onPressure?(): void;
}

/** Large takes use at most this share, so that small ones always find room. */
const LARGE_SHARE = 7 / 8;
const PASS_MS = 25;
const WAITING_MAX = 5000;

export const largestTake = (bytesMax: number): number => Math.floor(bytesMax * LARGE_SHARE);

/** Counts bytes of memory against a maximum (a semaphore by bytes). Large takes wait in order, small ones never wait. */
export class BytePool {
  readonly #clock: Clock;
  readonly #options: Options;
  readonly #line = new Queue<Waiting>();
  #held = 0;
  #passIsScheduled = false;
  #grantedInTurn = 0;

  constructor(clock: Clock, options: Options) {
    this.#clock = clock;
    this.#options = options;
  }

  get held(): number {
    return this.#held;
  }

  get waiting(): number {
    return this.#line.length;
  }

  /** Takes bytes if there is room, for a large holder only within the share of large takes. */
  tryTake(bytes: number, isLarge = false): boolean {
    const { bytesMax } = this.#options;
    if (this.#held + bytes > (isLarge ? largestTake(bytesMax) : bytesMax)) return false;
    this.#held += bytes;
    return true;
  }

  /** Takes bytes at once (null), or waits for them in order. Rejects with `QueueFull` after `waitMs`, or if the line is full. */
  take(bytes: number, waitMs: number): Promise<void> | null {
    if (this.#line.length === 0 && this.#grant(bytes)) return null;
    if (this.#line.length >= (this.#options.waitingMax ?? WAITING_MAX)) return Promise.reject(noRoom());
    const until = this.#clock.monotonic() + waitMs;
    const granted = new Promise<void>((grant, refuse) => this.#line.push({ bytes, until, grant, refuse }));
    this.#schedulePass();
    return granted;
  }

  give(bytes: number): void {
    this.#held -= bytes;
    if (this.#line.length > 0) this.#grantWaiting();
  }

  #grant(bytes: number): boolean {
    const { bytesMax, bytesPerTurn = Number.POSITIVE_INFINITY } = this.#options;
    if (this.#grantedInTurn >= bytesPerTurn || this.#held + bytes > largestTake(bytesMax)) return false;
    this.#held += bytes;
    if (this.#grantedInTurn === 0 && bytesPerTurn < Number.POSITIVE_INFINITY) setImmediate(this.#endTurn);
    this.#grantedInTurn += bytes;
    return true;
  }

  readonly #endTurn = (): void => {
    this.#grantedInTurn = 0;
    if (this.#line.length > 0) this.#grantWaiting();
  };

  #grantWaiting(): void {
    this.#refuseLate();
    for (let first = this.#line.peek(); first && this.#grant(first.bytes); first = this.#line.peek()) {
      this.#line.shift();
      first.grant();
    }
  }

  /** Refuses before it grants: a caller that has waited too long has given up. */
  #refuseLate(): void {
    const now = this.#clock.monotonic();
    let late = 0;
    for (const { until } of this.#line) if (until <= now) late += 1;
    if (late === 0) return;
    const left: Waiting[] = [];
    for (let next = this.#line.shift(); next; next = this.#line.shift()) {
      if (next.until <= now) next.refuse(noRoom());
      else left.push(next);
    }
    for (const each of left) this.#line.push(each);
  }

  #schedulePass(): void {
    if (this.#passIsScheduled) return;
    this.#passIsScheduled = true;
    this.#clock.after(PASS_MS, () => {
      this.#passIsScheduled = false;
      if (this.#line.length > 0) this.#options.onPressure?.();
      this.#grantWaiting();
      if (this.#line.length > 0) this.#schedulePass();
    });
  }
}

const noRoom = (): QueueFull => new QueueFull("no room in the pool");
