import { useEffect, useRef } from "react";
import { useMay } from "./session.tsx";
import { listen } from "./stream.ts";

interface Stream {
  path: string;
  /** It tells whole numbers, which viewers do not see, so that they hear nothing of it. */
  membersOnly?: true;
}

const PHONES: Stream = { path: "/api/simulator/events", membersOnly: true };
const MESSAGES: Stream = { path: "/api/live" };

/** Where the server tells what happens, as it happens. A page hears one of these, so that no more than one is open. */
const STREAM_OF = {
  message: PHONES,
  moved: MESSAGES,
  more: MESSAGES,
  /** The stream of messages has begun, or has begun again. */
  open: MESSAGES,
} as const satisfies Record<string, Stream>;

/** That a message was accepted, or has come into another state. */
export interface Moved {
  messageId: string;
  channel: string;
  state: string;
  recipient: string;
  at: number;
}

type Event = keyof typeof STREAM_OF;

/** Hears one kind of event for as long as a page is open. All pages share one stream. */
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
