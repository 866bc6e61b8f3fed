import { useEffect, useRef } from "react";
import { ownUrl } from "./base.ts";
import { useMay } from "./session.tsx";

interface Stream {
  path: string;
  /** It tells whole numbers, which viewers do not see, so that they hear nothing of it. */
  membersOnly?: true;
}

const PHONES: Stream = { path: "/api/simulator/events", membersOnly: true };
const MESSAGES: Stream = { path: "/api/live" };

/** Where the server tells what happens, as it happens. A page hears one of these, so that no more than one is open. */
const STREAM_OF = { message: PHONES, moved: MESSAGES, more: MESSAGES } as const satisfies Record<string, Stream>;

type Event = keyof typeof STREAM_OF;
type Hear = (data: unknown) => void;

/** How soon to ask again after an answer that was no stream. */
const COME_BACK_MS = 3000;

/**
 * One stream for everybody on a page. The browser comes back by itself after a break, with the id of what it heard last, but
 * not after an answer such as 503 from a server that is being restarted: then it is asked again from here.
 */
class Line {
  readonly #path: string;
  readonly #hearers = new Map<string, Set<Hear>>();
  #source: EventSource;
  #timer = 0;

  constructor(path: string) {
    this.#path = path;
    this.#source = this.#connect();
  }

  /** Hears an event until the returned function is called; says then whether anybody still hears. */
  hear(event: string, hear: Hear): () => boolean {
    const known = this.#hearers.get(event);
    const group = (known ?? new Set()).add(hear);
    this.#hearers.set(event, group);
    if (!known) this.#pass(this.#source, event);
    return () => {
      group.delete(hear);
      return [...this.#hearers.values()].some(({ size }) => size > 0);
    };
  }

  close(): void {
    window.clearTimeout(this.#timer);
    this.#source.close();
  }

  #connect(): EventSource {
    const source = new EventSource(ownUrl(this.#path));
    for (const event of this.#hearers.keys()) this.#pass(source, event);
    source.addEventListener("error", () => {
      if (source.readyState !== EventSource.CLOSED) return;
      this.#timer = window.setTimeout(() => {
        this.#source = this.#connect();
      }, COME_BACK_MS);
    });
    return source;
  }

  #pass(source: EventSource, event: string): void {
    source.addEventListener(event, ({ data }: MessageEvent<string>) => {
      for (const hear of this.#hearers.get(event) ?? []) hear(JSON.parse(data) as unknown);
    });
  }
}

const lines = new Map<string, Line>();

function listen(path: string, event: string, hear: Hear): () => void {
  const line = lines.get(path) ?? new Line(path);
  lines.set(path, line);
  const leave = line.hear(event, hear);
  return () => {
    if (leave()) return;
    line.close();
    lines.delete(path);
  };
}

/** Hears one kind of event for as long as a page is open. All parts of a page share one stream. */
export function useLive<T>(event: Event, hear: (data: T) => void): void {
  const latest = useRef(hear);
  const stream: Stream = STREAM_OF[event];
  const may = useMay("write") || !stream.membersOnly;
  useEffect(() => {
    latest.current = hear;
  });
  useEffect(() => {
    if (!may) return undefined;
    return listen(stream.path, event, (data) => latest.current(data as T));
  }, [event, may, stream.path]);
}
