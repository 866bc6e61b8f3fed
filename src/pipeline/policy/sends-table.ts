import { randomInt } from "node:crypto";

/**
 * Hash table of up to a fixed number of sends by account, number and text. Flat typed arrays, because a Map with a string for
 * every send costs three times as much, most of it in garbage collection.
 */
export class SendsTable {
  readonly #sendsMax: number;
  readonly #mask: number;
  readonly #accounts: Float64Array;
  /** 0 means that the slot is free; a number is at least 1. */
  readonly #numbers: Float64Array;
  readonly #digests: Float64Array;
  /** Time of the first send. */
  readonly #times: Float64Array;
  /** Ordered times of repeats by slot; few texts are sent twice. */
  readonly #repeats = new Map<number, number[]>();
  // Random factors against hash flooding: chosen numbers must not collide in one slot.
  readonly #factors = [oddFactor(), oddFactor(), oddFactor()] as const;
  #size = 0;

  constructor(sendsMax: number) {
    const places = 2 ** Math.ceil(Math.log2(sendsMax * 1.5 + 1));
    this.#sendsMax = sendsMax;
    this.#mask = places - 1;
    this.#accounts = new Float64Array(places);
    this.#numbers = new Float64Array(places);
    this.#digests = new Float64Array(places);
    this.#times = new Float64Array(places);
  }

  get size(): number {
    return this.#size;
  }

  get isFull(): boolean {
    return this.#size >= this.#sendsMax;
  }

  clear(): void {
    this.#numbers.fill(0);
    this.#repeats.clear();
    this.#size = 0;
  }

  /** The number of these sends after the given time. */
  countAfter(accountId: number, number: number, digest: number, time: number): number {
    const place = this.#find(accountId, number, digest);
    return this.#numbers[place] === 0 ? 0 : this.#countAt(place, time);
  }

  /** Adds a send, and returns the number of these sends after the given time, including it. */
  add(accountId: number, number: number, digest: number, time: number, now: number): number {
    const place = this.#find(accountId, number, digest);
    this.#size++;
    if (this.#numbers[place] !== 0) {
      const earlier = this.#countAt(place, time);
      this.#repeat(place, now);
      return earlier + 1;
    }
    this.#accounts[place] = accountId;
    this.#numbers[place] = number;
    this.#digests[place] = digest;
    this.#times[place] = now;
    return 1;
  }

  /** The slot of these sends, or the free slot for them (linear probing). */
  #find(accountId: number, number: number, digest: number): number {
    const numbers = this.#numbers;
    const [a, b, c] = this.#factors;
    const mixed = Math.imul(number, a) + Math.imul(number / 2 ** 32, b) + Math.imul(digest ^ accountId, c);
    let place = (mixed ^ (mixed >>> 15)) & this.#mask;
    while (numbers[place] !== 0) {
      const same = numbers[place] === number && this.#digests[place] === digest && this.#accounts[place] === accountId;
      if (same) return place;
      place = (place + 1) & this.#mask;
    }
    return place;
  }

  // The list stays ordered even if the clock was set back.
  #repeat(place: number, now: number): void {
    const repeats = this.#repeats.get(place);
    const last = repeats?.at(-1) ?? this.#times[place] ?? now;
    const time = Math.max(last, now);
    if (repeats === undefined) this.#repeats.set(place, [time]);
    else repeats.push(time);
  }

  #countAt(place: number, time: number): number {
    const first = (this.#times[place] ?? 0) > time ? 1 : 0;
    const repeats = this.#repeats.get(place);
    return repeats === undefined ? first : first + repeats.length - firstAfter(repeats, time);
  }
}

const oddFactor = (): number => randomInt(2 ** 31) * 2 + 1;

/** Binary search, because the list may be as long as the table. */
function firstAfter(times: readonly number[], time: number): number {
  let low = 0;
  let high = times.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((times[middle] ?? 0) > time) high = middle;
    else low = middle + 1;
  }
  return low;
}
