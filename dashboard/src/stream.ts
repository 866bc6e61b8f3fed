import { ApiError, get, signedOut } from "./api.ts";
import { ownUrl } from "./base.ts";
import { noteLost } from "./connection.ts";

type Hear = (data: unknown) => void;

/** Delay before reconnecting after a response that was no stream. */
const COME_BACK_MS = 3000;
/** An unused stream stays open for this long, because the next page may need it. */
const KEPT_MS = 10_000;

/**
 * A server-sent event stream that is shared by all subscribers. `EventSource` reconnects after a broken connection,
 * with the id of the last event. It gives up after an error response, such as 503 during a restart. This class then
 * reconnects with the last id.
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

  get isOpen(): boolean {
    return this.#source.readyState === EventSource.OPEN;
  }

  /** Subscribes to an event. The returned function unsubscribes. */
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

  /** Reconnects unless the session has ended. */
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

/** Subscribes to an event of a stream. The returned function unsubscribes. */
export function listen(path: string, event: string, hear: Hear): () => void {
  const line = lines.get(path) ?? new Line(path);
  lines.set(path, line);
  // Unused streams to other paths close at once, to save connections.
  for (const other of lines.keys()) if (other !== path) letGo(other);
  const leave = line.hear(event, hear);
  return () => {
    leave();
    window.setTimeout(() => letGo(path), KEPT_MS);
  };
}

/** True if events of the stream arrive now. */
export const isOpen = (path: string): boolean => lines.get(path)?.isOpen === true;

function letGo(path: string): void {
  const line = lines.get(path);
  if (!line || line.isHeard) return;
  line.close();
  lines.delete(path);
}

/** Closes all streams at sign-in and sign-out. */
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
