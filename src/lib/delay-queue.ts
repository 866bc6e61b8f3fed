import type { Clock } from "./clock.ts";

interface Entry<T> {
  dueAt: number;
  order: number;
  item: T;
}

/** Holds items until they are due. A binary heap needs one timer for any number of items. */
export class DelayQueue<T> {
  #heap: Entry<T>[] = [];
  #order = 0;
  #wakeAt = Number.POSITIVE_INFINITY;
  #cancel: () => void = () => {};
  readonly #clock: Clock;
  readonly #onDue: (items: T[]) => void;

  constructor(clock: Clock, onDue: (items: T[]) => void) {
    this.#clock = clock;
    this.#onDue = onDue;
  }

  get size(): number {
    return this.#heap.length;
  }

  add(item: T, delayMs: number): void {
    const entry = { dueAt: this.#clock.monotonic() + delayMs, order: this.#order++, item };
    let index = this.#heap.length;
    this.#heap.push(entry);
    while (index > 0) {
      const parent = (index - 1) >> 1;
      const above = this.#heap[parent];
      if (!above || !before(entry, above)) break;
      this.#heap[index] = above;
      index = parent;
    }
    this.#heap[index] = entry;
    this.#arm();
  }

  clear(): void {
    this.#heap = [];
    this.#cancel();
    this.#wakeAt = Number.POSITIVE_INFINITY;
  }

  #arm(): void {
    const first = this.#heap[0];
    if (!first || first.dueAt >= this.#wakeAt) return;
    this.#cancel();
    this.#wakeAt = first.dueAt;
    this.#cancel = this.#clock.after(Math.max(0, first.dueAt - this.#clock.monotonic()), () => this.#wake());
  }

  #wake(): void {
    this.#wakeAt = Number.POSITIVE_INFINITY;
    const now = this.#clock.monotonic();
    const due: T[] = [];
    for (let first = this.#heap[0]; first && first.dueAt <= now; first = this.#heap[0]) {
      due.push(first.item);
      this.#removeFirst();
    }
    this.#arm();
    if (due.length > 0) this.#onDue(due);
  }

  #removeFirst(): void {
    const last = this.#heap.pop();
    if (!last || this.#heap.length === 0) return;
    let index = 0;
    for (;;) {
      let child = 2 * index + 1;
      const left = this.#heap[child];
      if (!left) break;
      const right = this.#heap[child + 1];
      if (right && before(right, left)) child += 1;
      const next = this.#heap[child];
      if (!next || !before(next, last)) break;
      this.#heap[index] = next;
      index = child;
    }
    this.#heap[index] = last;
  }
}

/** Items that are due at the same time keep the order of arrival. */
const before = <T>(a: Entry<T>, b: Entry<T>): boolean =>
  a.dueAt < b.dueAt || (a.dueAt === b.dueAt && a.order < b.order);
