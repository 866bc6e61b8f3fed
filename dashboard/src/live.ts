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

interface Line {
  source: EventSource;
  hearers: Map<string, Set<Hear>>;
}

const lines = new Map<string, Line>();

/** The line of a stream. The browser comes back by itself after a break, with the id of what it heard last. */
function lineOf(path: string): Line {
  const line = lines.get(path) ?? { source: new EventSource(ownUrl(path)), hearers: new Map() };
  lines.set(path, line);
  return line;
}

function listen(path: string, event: string, hear: Hear): () => void {
  const { source, hearers } = lineOf(path);
  let group = hearers.get(event);
  if (!group) {
    const own = new Set<Hear>();
    source.addEventListener(event, ({ data }: MessageEvent<string>) => {
      for (const each of own) each(JSON.parse(data) as unknown);
    });
    hearers.set(event, own);
    group = own;
  }
  const heard = group.add(hear);
  return () => {
    heard.delete(hear);
    if ([...hearers.values()].some(({ size }) => size > 0)) return;
    source.close();
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
