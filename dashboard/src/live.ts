import { useEffect, useRef } from "react";
import { ownUrl } from "./base.ts";
import { useMay } from "./session.tsx";

/** Where the server tells what happens, as it happens. */
const STREAM = "/api/simulator/events";

type Hear = (data: unknown) => void;

const hearers = new Map<string, Set<Hear>>();
let source: EventSource | null = null;

function open(): void {
  // The browser comes back by itself after a break, with the id of what it heard last.
  source ??= new EventSource(ownUrl(STREAM));
}

function closeIfUnheard(): void {
  if ([...hearers.values()].some((each) => each.size > 0)) return;
  source?.close();
  source = null;
}

function tell(event: string): (message: MessageEvent<string>) => void {
  return ({ data }) => {
    for (const hear of hearers.get(event) ?? []) hear(JSON.parse(data) as unknown);
  };
}

/**
 * Hears one kind of event for as long as a page is open. All pages share one stream. It tells whole numbers, which
 * viewers do not see, so that they hear nothing.
 */
export function useLive<T>(event: string, hear: (data: T) => void): void {
  const latest = useRef(hear);
  const may = useMay("write");
  useEffect(() => {
    latest.current = hear;
  });
  useEffect(() => {
    if (!may) return undefined;
    const own: Hear = (data) => latest.current(data as T);
    const group = hearers.get(event) ?? new Set<Hear>();
    const first = group.size === 0 && !hearers.has(event);
    hearers.set(event, group.add(own));
    const wasOpen = source !== null;
    open();
    if (first || !wasOpen) listenAgain();
    return () => {
      group.delete(own);
      closeIfUnheard();
    };
  }, [event, may]);
}

const listening = new WeakMap<EventSource, Set<string>>();

function listenAgain(): void {
  if (!source) return;
  const known = listening.get(source) ?? new Set<string>();
  listening.set(source, known);
  for (const event of hearers.keys()) {
    if (known.has(event)) continue;
    known.add(event);
    source.addEventListener(event, tell(event));
  }
}
