import { useQuery, useQueryClient, type InfiniteData } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import { get, type Page, type Query } from "../../api.ts";
import type { Message } from "../../api-types.ts";
import { useLive, type Moved } from "../../live.ts";

/** However much happens, the newest messages are not read more often than this. */
const LOOK_AT_MOST_EVERY_MS = 1000;

interface Tail {
  /** Messages that came since the list was read. */
  fresh: readonly Message[];
  /** Shows them. */
  show: () => void;
}

/**
 * Follows what happens: messages in the list take their new state where they stand, and those that are not in it are
 * counted, so that no row jumps from under a finger. What a filter leaves only the server can say, so that the newest
 * messages are read again once something has happened, and not before.
 */
export function useTail(query: Query, rows: readonly Message[], on: boolean): Tail {
  const client = useQueryClient();
  const { data, refetch } = useQuery({
    queryKey: ["tail", query],
    queryFn: ({ signal }) => get<Page<Message>>("/api/messages", { ...query, limit: 100 }, signal),
    enabled: on,
  });
  const newest = data?.data;
  const look = useRested(() => void refetch());
  useLive<Moved>("moved", ({ messageId, state }) => {
    if (!on) return;
    change(client, query, (message) => (message.messageId === messageId ? { ...message, state } : message));
    look();
  });
  useLive("more", () => on && look());
  // Between the reading of the list and the beginning of the stream something may have happened.
  useLive("open", () => on && look());
  useEffect(() => {
    if (!newest || !on) return;
    const byId = new Map(newest.map((message) => [message.messageId, message]));
    change(client, query, (message) => byId.get(message.messageId) ?? message);
  }, [client, newest, on, query]);

  const first = rows[0];
  // Newer in the order of the list: messages of one request share their time.
  const fresh = on && newest ? newest.filter((message) => !first || isBefore(message, first)) : [];
  return { fresh, show: () => void client.resetQueries({ queryKey: ["/api/messages", query] }) };
}

/** Whether a message stands above another in the list: by request, then by recipient. */
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

/** Runs at once, then rests; what is asked for meanwhile runs once when the rest is over. */
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
