import { BytePool, largestTake } from "../lib/byte-pool.ts";
import type { Clock } from "../lib/clock.ts";
import { BULK } from "../model/message.ts";

/** Bodies up to this size are handled at once or refused; larger ones wait for room. */
const SMALL_BODY_BYTES = 16_384;
/** Memory per body byte while a request is handled: text, parsed JSON, rows, and the packed rows for the store. */
const HANDLED_PER_BYTE = 6;
/** Memory of a request besides its body. */
const REQUEST_BYTES = 4096;
/** Memory of one message besides its text, from expanding the recipients to the commit. */
const MESSAGE_BYTES = 2048;
/** The shortest way to name a recipient: a number in a list. */
const RECIPIENT_BYTES_MIN = 12;
/** Share of the budget for bodies that are still arriving. */
const ARRIVING_SHARE = 1 / 4;
/** About one body of 512 KiB: parsing many large bodies in one turn of the event loop would delay every other request. */
const HANDLED_PER_TURN = 4 * 1_048_576;
/** A body that arrives more slowly counts only with its received bytes while other bodies wait (Slowloris). */
const SLOW_BYTES_PER_MS = 1024;
const SLOW_GRACE_MS = 250;
const FIRST_BUFFER_BYTES = 65_536;

interface Limits {
  /** Total of all bodies. */
  bytesMax: number;
  /** The longest time that a request waits for room. */
  waitMs: number;
  recipientsMax: number;
}

const handledBytes = (bodyBytes: number, messages: number): number =>
  REQUEST_BYTES + bodyBytes * HANDLED_PER_BYTE + messages * MESSAGE_BYTES;

const messagesMax = (bodyBytes: number, recipientsMax: number): number =>
  Math.min(recipientsMax, Math.ceil(bodyBytes / RECIPIENT_BYTES_MIN));

/** The smallest budget in which a body of this size finds room. */
export function smallestBudget(bodyBytes: number, recipientsMax: number): number {
  const share = largestTake(1_000_000) / 1_000_000;
  const handled = handledBytes(bodyBytes, messagesMax(bodyBytes, recipientsMax));
  return Math.ceil(Math.max(bodyBytes / ARRIVING_SHARE, handled / (1 - ARRIVING_SHARE)) / share) + 1024;
}

/**
 * Limits the memory of all request bodies together, on both HTTP paths: of those that arrive, and of those that are handled,
 * with what the handlers build from them. Without it, 200 requests of 1 MB at once took 1.4 GB.
 *
 * The two are separate pools, so that no body waits for room while it holds what others wait for (deadlock).
 */
export class BodyBudget {
  readonly #deps: LeaseDeps;

  constructor(clock: Clock, limits: Limits) {
    const arrivingMax = Math.floor(limits.bytesMax * ARRIVING_SHARE);
    const large = new Set<BodyLease>();
    const onPressure = (): void => {
      for (const lease of large) lease.shrinkIfSlow();
    };
    this.#deps = {
      clock,
      limits,
      arriving: new BytePool(clock, { bytesMax: arrivingMax, onPressure }),
      handling: new BytePool(clock, { bytesMax: limits.bytesMax - arrivingMax, bytesPerTurn: HANDLED_PER_TURN }),
      large,
    };
  }

  get heldBytes(): number {
    return this.#deps.arriving.held + this.#deps.handling.held;
  }

  /** Requests that wait for room. */
  get waiting(): number {
    return this.#deps.arriving.waiting + this.#deps.handling.waiting;
  }

  lease(): BodyLease {
    return new BodyLease(this.#deps);
  }
}

interface LeaseDeps {
  clock: Clock;
  limits: Limits;
  arriving: BytePool;
  handling: BytePool;
  /** Large bodies that are arriving. */
  large: Set<BodyLease>;
}

/** The part of the budget that one request holds. */
export class BodyLease {
  readonly #deps: LeaseDeps;
  /** Bytes taken of each pool. */
  #arriving = 0;
  #handling = 0;
  #buffer: Buffer | null = null;
  #received = 0;
  #announced = 0;
  #arrivesSince = 0;
  #waitedMs = 0;
  #bodyBytes = 0;
  #released = false;

  constructor(deps: LeaseDeps) {
    this.#deps = deps;
  }

  /** Time that the request has waited for room. */
  get waitedMs(): number {
    return this.#waitedMs;
  }

  /**
   * Takes room for a body before its first byte: for a large one its announced length, for a small or a chunked one nothing
   * yet. Null if there is room, otherwise a promise that rejects with `QueueFull` after the configured time.
   */
  expect(announced: number): Promise<void> | null {
    this.#announced = announced;
    if (announced <= SMALL_BODY_BYTES) return null;
    const waiting = this.#deps.arriving.take(announced, this.#deps.limits.waitMs);
    if (waiting) return this.#wait(waiting).then(() => this.#beginLarge());
    this.#beginLarge();
    return null;
  }

  #beginLarge(): void {
    this.#arriving = this.#announced;
    this.#arrivesSince = this.#deps.clock.monotonic();
    this.#deps.large.add(this);
    if (this.#released) this.release();
  }

  /** Copies received bytes, because a view would keep the bytes of other clients in memory. False if there is no room. */
  append(bytes: Buffer, from = 0, to = bytes.length): boolean {
    const needed = this.#received + to - from;
    if (this.#released || (needed > this.#arriving && !this.#takeArriving(needed))) return false;
    if (!this.#buffer || needed > this.#buffer.length) this.#enlarge(needed);
    bytes.copy(this.#buffer as Buffer, this.#received, from, to);
    this.#received = needed;
    return true;
  }

  /**
   * Doubles the room of a body, up to its announced length, so that it is copied few times however small its chunks are.
   * A fuller pool grants less: the spare room is halved until it fits, down to none.
   */
  #takeArriving(needed: number): boolean {
    const announced = this.#announced;
    const doubled = Math.min(this.#arriving * 2, announced || Number.POSITIVE_INFINITY);
    const wished = announced > 0 && announced <= SMALL_BODY_BYTES ? announced : doubled;
    const isLarge = Math.max(announced, needed) > SMALL_BODY_BYTES;
    for (let spare = Math.max(0, wished - needed); ; spare = Math.floor(spare / 2)) {
      const room = needed + spare;
      if (this.#deps.arriving.tryTake(room - this.#arriving, isLarge)) {
        this.#arriving = room;
        return true;
      }
      if (spare === 0) return false;
    }
  }

  #enlarge(needed: number): void {
    const doubled = Math.max(needed, (this.#buffer?.length ?? 0) * 2, FIRST_BUFFER_BYTES);
    const larger = Buffer.allocUnsafeSlow(Math.min(doubled, this.#arriving));
    this.#buffer?.copy(larger, 0, 0, this.#received);
    this.#buffer = larger;
  }

  /** A slow body keeps only the room of its received bytes and takes more as they arrive. */
  shrinkIfSlow(): void {
    const elapsedMs = this.#deps.clock.monotonic() - this.#arrivesSince;
    if (elapsedMs < SLOW_GRACE_MS || this.#received >= elapsedMs * SLOW_BYTES_PER_MS) return;
    const kept = Math.max(this.#received, this.#buffer?.length ?? 0);
    if (kept >= this.#arriving) return;
    const unused = this.#arriving - kept;
    this.#arriving = kept;
    this.#deps.arriving.give(unused);
  }

  /** The received bytes. */
  get body(): Buffer {
    return this.#buffer?.subarray(0, this.#received) ?? Buffer.alloc(0);
  }

  get receivedBytes(): number {
    return this.#received;
  }

  /**
   * Takes room for handling a body. Small bodies are refused at once without it (false). Large ones wait: the promise rejects
   * with `QueueFull` once the request has waited for the configured time in all.
   */
  handle(bodyBytes: number, isSend: boolean): boolean | Promise<void> {
    const { limits } = this.#deps;
    this.#bodyBytes = bodyBytes;
    if (bodyBytes <= SMALL_BODY_BYTES) return this.#tryHandle(handledBytes(bodyBytes, 0));
    const bytes = handledBytes(bodyBytes, isSend ? messagesMax(bodyBytes, limits.recipientsMax) : 0);
    return this.#takeHandling(bytes) ?? true;
  }

  /** Takes room for a body that turned out to be larger. */
  handleAgain(bodyBytes: number, isSend: boolean): boolean | Promise<void> {
    this.#giveHandling();
    return this.handle(bodyBytes, isSend);
  }

  /** Adjusts the room to the number of messages, once it is known. */
  holdMessages(count: number): boolean | Promise<void> {
    if (count === 1) return true;
    const bytes = handledBytes(this.#bodyBytes, count);
    const more = bytes - this.#handling;
    if (more <= 0) {
      this.#deps.handling.give(-more);
      this.#handling += more;
      return true;
    }
    if (count < BULK) return this.#tryHandle(more);
    // Two requests that wait for more while they hold what they have would wait for each other.
    this.#giveHandling();
    return this.#takeHandling(bytes) ?? true;
  }

  /** Gives everything back. A lease that waits gives back what it is granted later. */
  release(): void {
    this.#released = true;
    this.#releaseArriving(this.#deps.arriving);
    this.#giveHandling();
  }

  #giveHandling(): void {
    const held = this.#handling;
    this.#handling = 0;
    if (held > 0) this.#deps.handling.give(held);
  }

  /** Gives back the received bytes after they have been parsed. */
  releaseBody(): void {
    this.#releaseArriving(this.#deps.arriving);
  }

  #releaseArriving(arriving: BytePool): void {
    this.#deps.large.delete(this);
    this.#buffer = null;
    if (this.#arriving > 0) arriving.give(this.#arriving);
    this.#arriving = 0;
  }

  #tryHandle(bytes: number): boolean {
    if (this.#released) return true;
    const isTaken = this.#deps.handling.tryTake(bytes);
    if (isTaken) this.#handling += bytes;
    return isTaken;
  }

  #takeHandling(bytes: number): Promise<void> | null {
    const { handling, limits } = this.#deps;
    const waiting = handling.take(bytes, Math.max(0, limits.waitMs - this.#waitedMs));
    const onTaken = (): void => {
      this.#handling += bytes;
      if (this.#released) this.release();
    };
    if (waiting) return this.#wait(waiting).then(onTaken);
    onTaken();
    return null;
  }

  async #wait(waiting: Promise<void>): Promise<void> {
    const { clock } = this.#deps;
    const since = clock.monotonic();
    try {
      await waiting;
    } finally {
      this.#waitedMs += clock.monotonic() - since;
    }
  }
}
