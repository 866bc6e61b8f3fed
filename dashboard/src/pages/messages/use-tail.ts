import { useQuery, useQueryClient, type InfiniteData } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { get, type Page, type Query } from "../../api.ts";
import type { Message } from "../../api-types.ts";
import { isLive, useLive, type Moved } from "../../live.ts";

/** Rate limit for reading the newest messages while events arrive. */
const LOOK_AT_MOST_EVERY_MS = 1000;

interface Tail {
  /** Messages that are newer than the list. */
  fresh: readonly Message[];
  /** Adds them to the list. */
  show: () => void;
}

/**
 * Live tail of the list. State changes are applied to rows in place. New messages are only counted, so that rows do not
 * move while the user clicks. Only the server can apply the filters, so an event triggers a read of the newest
 * messages.
 */
export function useTail(query: Query, rows: readonly Message[], on: boolean): Tail {
  const client = useQueryClient();
  const first = rows[0];
  // A text has no index: only messages that are newer than the list are searched for one.
  const since = query["text"] ? { from: first?.createdAt ?? null } : {};
  const isOldestFirst = query["order"] === "oldest";
  const isOn = on && (!query["text"] || (first !== undefined && !isOldestFirst));
  const { data, refetch } = useQuery({
    queryKey: ["tail", query],
    queryFn: ({ signal }) => get<Page<Message>>("/api/messages", { ...query, ...since, limit: 100 }, signal),
    enabled: false,
  });
  const newest = data?.data;
  // A slow read is not begun again before it has ended.
  const look = useRested(() => void (isOn && refetch({ cancelRefetch: false })));
  useLive<Moved>("moved", ({ messageId, state }) => {
    if (!on) return;
    change(client, query, (message) => (message.messageId === messageId ? { ...message, state } : message));
    look();
  });
  useLive("more", () => on && look());
  // Events between the read of the list and the start of the stream are lost, so it is read again after both.
  useLive("open", () => on && look());
  useEffect(() => {
    if (isOn && isLive()) void refetch({ cancelRefetch: false });
  }, [isOn, refetch]);
  useEffect(() => {
    if (!newest || !on) return;
    const byId = new Map(newest.map((message) => [message.messageId, message]));
    change(client, query, (message) => byId.get(message.messageId) ?? message);
  }, [client, newest, on, query]);

  // Compares ids, because messages of one request share their timestamp.
  const fresh = on && newest && !isOldestFirst ? newest.filter((message) => !first || isBefore(message, first)) : [];
  return { fresh, show: () => void client.resetQueries({ queryKey: ["/api/messages", query] }) };
}

/** True if a message sorts above another: by request, then by recipient. */
function isBefore({ messageId: a }: Message, { messageId: b }: Message): boolean {
  const [request = "", n = "0"] = a.split(":");
  const [otherRequest = "", otherN = "0"] = b.split(":");
  return request === otherRequest ? Number(n) > Number(otherN) : request > otherRequest;
}

function change(client: ReturnType<typeof useQueryClient>, query: Query, changed: (message: Message) => Message): void {
  client.setQueryData<InfiniteData<Page<Message>>>(
    ["/api/messages", query],
    (list) => list && { ...list, pages: list.pages.map((page) => ({ ...page, data: page.data.map(changed) })) },
  );
}

/** Throttle: runs at once, then at most once per interval. Calls in between cause one run at its end. */
function useRested(run: () => void): () => void {
  const latest = useRef(run);
  const rest = useRef({ timer: 0, asked: false });
  useEffect(() => {
    latest.current = run;
  });
  useEffect(() => {
    const { current } = rest;
    return () => window.clearTimeout(current.timer);
  }, []);
  function ask(): void {
    const { current } = rest;
    if (current.timer !== 0) {
      current.asked = true;
      return;
    }
    latest.current();
    current.timer = window.setTimeout(() => {
      current.timer = 0;
      if (!current.asked) return;
      current.asked = false;
      ask();
    }, LOOK_AT_MOST_EVERY_MS);
  }
  return ask;
}
