import { Queue } from "./queue.ts";

/** Fair queueing: one FIFO queue per flow, served round-robin, so that a flow with many items does not delay the others. */
export class FairQueue<T> {
  /** The flows that have items, in the order of their turns. */
  readonly #flows = new Map<string | number, Queue<T>>();
  #length = 0;

  get length(): number {
    return this.#length;
  }

  push(flow: string | number, item: T): void {
    let queue = this.#flows.get(flow);
    if (!queue) {
      queue = new Queue();
      this.#flows.set(flow, queue);
    }
    queue.push(item);
    this.#length += 1;
  }

  /** The item that `shift` would return. */
  peek(): T | undefined {
    for (const queue of this.#flows.values()) return queue.peek();
    return undefined;
  }

  /** Removes the first item of the flow whose turn it is. The flow's next turn comes after those of all others. */
  shift(): T | undefined {
    for (const [flow, queue] of this.#flows) {
      this.#flows.delete(flow);
      if (queue.length > 1) this.#flows.set(flow, queue);
      this.#length -= 1;
      return queue.shift();
    }
    return undefined;
  }

  /** Removes and returns the first item of any flow for which this holds. */
  shiftIf(isDue: (item: T) => boolean): T | undefined {
    for (const [flow, queue] of this.#flows) {
      const first = queue.peek();
      if (first === undefined || !isDue(first)) continue;
      return this.#shiftOf(flow, queue);
    }
    return undefined;
  }

  /** True if another flow has at least two items more than this one. */
  isShort(flow: string | number): boolean {
    const own = this.#flows.get(flow)?.length ?? 0;
    for (const queue of this.#flows.values()) if (queue.length > own + 1) return true;
    return false;
  }

  /** Removes and returns the first item of the flow with the most items. */
  shiftLongest(): T | undefined {
    let longest: [string | number, Queue<T>] | null = null;
    for (const entry of this.#flows) if (longest === null || entry[1].length > longest[1].length) longest = entry;
    return longest === null ? undefined : this.#shiftOf(...longest);
  }

  #shiftOf(flow: string | number, queue: Queue<T>): T | undefined {
    if (queue.length === 1) this.#flows.delete(flow);
    this.#length -= 1;
    return queue.shift();
  }
}
