/** First in, first out, in constant time per item: `Array.shift` moves every element of a long array. */
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
    if (this.#outgoing.length === 0) {
      this.#outgoing = this.#incoming.toReversed();
      this.#incoming = [];
    }
    return this.#outgoing.pop();
  }
}
