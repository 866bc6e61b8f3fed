import type { Random } from "../torture/random.ts";
import type { Clients } from "./clients.ts";

/** A reader of `/v1/events` that keeps its cursor. */
interface EventReader {
  name: string;
  cursor: string | null;
  /** It sees only events after its first answer. */
  startsNow: boolean;
  /** World time of its first answer. */
  startedAt: number | null;
  seen: Set<string>;
}

/** Events become readable half a minute after their commit. */
const EVENTS_WITHIN_MS = 60_000;

/** Customers who read `/v1/events` with a cursor, at any node. */
export class EventReaders {
  readonly all: readonly EventReader[] = ["early", "late"].map((name) => ({
    name,
    cursor: null,
    startsNow: name === "late",
    startedAt: null,
    seen: new Set<string>(),
  }));
  readonly #clients: Clients;

  constructor(clients: Clients) {
    this.#clients = clients;
  }

  /** Reads until the end of the run. */
  start(untilMs: number): void {
    for (const reader of this.all) {
      const random = this.#clients.world.randomFor(`reader ${reader.name}`);
      void this.#readOn(random, reader, untilMs);
    }
  }

  /** Reads the last pages. */
  async finish(): Promise<void> {
    const { world } = this.#clients;
    await world.run(EVENTS_WITHIN_MS);
    for (const reader of this.all) {
      const random = world.randomFor(`last pages of ${reader.name}`);
      for (let count: number | null = null; count !== 0;) {
        const page = this.#readPage(random, reader);
        if (!(await world.finish(page, EVENTS_WITHIN_MS))) return;
        count = await page;
      }
    }
  }

  async #readOn(random: Random, reader: EventReader, until: number): Promise<void> {
    while (this.#clients.world.now < until) {
      await this.#readPage(random, reader);
      await this.#clients.pause(random.between(500, 10_000));
    }
  }

  /** The number of events on the page, or null without an answer. */
  async #readPage(random: Random, reader: EventReader): Promise<number | null> {
    const { world, apiKey: key } = this.#clients;
    const cursor = reader.cursor ?? (reader.startsNow ? "now" : null);
    const query = `limit=${random.between(1, 50)}${cursor === null ? "" : `&cursor=${encodeURIComponent(cursor)}`}`;
    const answer = await this.#clients.node(random)?.request("GET", `/v1/events?${query}`, { key, random });
    if (answer?.status !== 200) return null;
    const { data, nextCursor } = answer.body as { data: { eventId: string }[]; nextCursor: string };
    for (const { eventId } of data) {
      if (reader.seen.has(eventId)) this.#clients.complain(`the ${reader.name} reader got event ${eventId} twice`);
      reader.seen.add(eventId);
    }
    reader.cursor = nextCursor;
    reader.startedAt ??= world.now;
    return data.length;
  }
}
