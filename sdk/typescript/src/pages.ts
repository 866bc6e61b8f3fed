/** One page of a list. */
export interface Page<T> {
  data: T[];
  /** The cursor of the next page; null on the last. */
  nextCursor: string | null;
}

/** A list that is fetched page by page while it is read: `for await (const row of list)`. */
export class PagedList<T> implements AsyncIterable<T> {
  readonly #fetchPage: (cursor: string | undefined) => Promise<Page<T>>;

  constructor(fetchPage: (cursor: string | undefined) => Promise<Page<T>>) {
    this.#fetchPage = fetchPage;
  }

  /** Reads one page; the first one without a cursor. */
  page(cursor?: string): Promise<Page<T>> {
    return this.#fetchPage(cursor);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, void> {
    let cursor: string | undefined;
    do {
      const { data, nextCursor } = await this.#fetchPage(cursor);
      yield* data;
      cursor = nextCursor ?? undefined;
    } while (cursor !== undefined);
  }
}
