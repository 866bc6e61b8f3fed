import { ApiError, get, signedOut } from "./api.ts";
import { ownUrl } from "./base.ts";
import { noteLost } from "./connection.ts";

type Hear = (data: unknown) => void;

/** How soon to ask again after an answer that was no stream. */
const COME_BACK_MS = 3000;
/** A stream that nobody hears any more is kept for the next page. */
const KEPT_MS = 10_000;

/**
 * One stream for everybody. The browser comes back by itself after a break, with the id of what it heard last, but not
 * after an answer such as 503 from a server that is being restarted: then it is asked again from here, from that id on.
 */
class Line {
  readonly #path: string;
  readonly #hearers = new Map<string, Set<Hear>>();
  #source: EventSource;
  #lastId = "";
  #timer = 0;
  #closed = false;

  constructor(path: string) {
    this.#path = path;
    this.#source = this.#connect();
  }

  get isHeard(): boolean {
    return [...this.#hearers.values()].some(({ size }) => size > 0);
  }

  /** Hears an event until the returned function is called. */
  hear(event: string, hear: Hear): () => void {
    const known = this.#hearers.get(event);
    const group = (known ?? new Set()).add(hear);
    this.#hearers.set(event, group);
    if (!known) this.#pass(this.#source, event);
    return () => void group.delete(hear);
  }

  close(): void {
    this.#closed = true;
    window.clearTimeout(this.#timer);
    this.#source.close();
  }

  #connect(): EventSource {
    const after = this.#lastId === "" ? "" : `?after=${this.#lastId}`;
    const source = new EventSource(ownUrl(this.#path) + after);
    for (const event of this.#hearers.keys()) this.#pass(source, event);
    source.addEventListener("error", () => {
      if (!this.#closed) noteLost();
      if (source.readyState !== EventSource.CLOSED) return;
      void this.#comeBack();
    });
    return source;
  }

  /** Whose session is over is shown the door, and does not knock for ever. */
  async #comeBack(): Promise<void> {
    if (await isOver()) return signedOut();
    if (this.#closed) return;
    this.#timer = window.setTimeout(() => {
      this.#source = this.#connect();
    }, COME_BACK_MS);
  }

  #pass(source: EventSource, event: string): void {
    source.addEventListener(event, ({ data, lastEventId }: Partial<MessageEvent<string>>) => {
      if (lastEventId) this.#lastId = lastEventId;
      for (const hear of this.#hearers.get(event) ?? []) hear(data === undefined ? null : JSON.parse(data));
    });
  }
}

const lines = new Map<string, Line>();

/** Hears an event of a stream until the returned function is called. */
export function listen(path: string, event: string, hear: Hear): () => void {
  const line = lines.get(path) ?? new Line(path);
  lines.set(path, line);
  // Where one is opened, no other is kept that nobody hears.
  for (const other of lines.keys()) if (other !== path) letGo(other);
  const leave = line.hear(event, hear);
  return () => {
    leave();
    window.setTimeout(() => letGo(path), KEPT_MS);
  };
}

function letGo(path: string): void {
  const line = lines.get(path);
  if (!line || line.isHeard) return;
  line.close();
  lines.delete(path);
}

/** Ends what is still open for the next page: who signs out follows nothing any more. */
export function hangUp(): void {
  for (const line of lines.values()) line.close();
  lines.clear();
}

async function isOver(): Promise<boolean> {
  try {
    await get("/api/session");
    return false;
  } catch (problem) {
    return problem instanceof ApiError && problem.status === 401;
  }
}
