/** FIFO queue in constant time per item; `Array.shift` moves every element of a long array. */
export class Queue<T> {
  #incoming: T[] = [];
  #outgoing: T[] = [];

  get length(): number {
    return this.#incoming.length + this.#outgoing.length;
  }

  push(item: T): void {
    this.#incoming.push(item);
  }

  shift(): T | undefined {
    this.#turnOver();
    return this.#outgoing.pop();
  }

  /** The item that `shift` would return. */
  peek(): T | undefined {
    this.#turnOver();
    return this.#outgoing.at(-1);
  }

  /** All items, in no particular order. */
  *[Symbol.iterator](): Generator<T> {
    yield* this.#outgoing;
    yield* this.#incoming;
  }

  #turnOver(): void {
    if (this.#outgoing.length > 0) return;
    this.#outgoing = this.#incoming.toReversed();
    this.#incoming = [];
  }
}
