import { useEffect, useRef } from "react";
import { useMay } from "./session.tsx";
import { isOpen, listen } from "./stream.ts";

interface Stream {
  path: string;
  /** The events contain full phone numbers. Viewers may not see those, so they do not subscribe. */
  membersOnly?: true;
}

const PHONES: Stream = { path: "/api/simulator/events", membersOnly: true };
const MESSAGES: Stream = { path: "/api/live" };

/** The event stream of each event. A page uses a single stream, so only one connection is open. */
const STREAM_OF = {
  message: PHONES,
  moved: MESSAGES,
  more: MESSAGES,
  /** Users have sent something. */
  received: MESSAGES,
  /** Sent whenever the stream of messages opens or reopens. */
  open: MESSAGES,
} as const satisfies Record<string, Stream>;

/** A message was accepted or changed its state. */
export interface Moved {
  messageId: string;
  channel: string;
  state: string;
  recipient: string;
  at: number;
}

/** True if events of messages arrive now. */
export const isLive = (): boolean => isOpen(MESSAGES.path);

type Event = keyof typeof STREAM_OF;

/** Subscribes to one kind of event while the component is mounted. All subscribers share one stream. */
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
