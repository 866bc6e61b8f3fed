import { useQuery, useQueryClient, type InfiniteData } from "@tanstack/react-query";
import { useEffect } from "react";
import { get, type Page, type Query } from "../../api.ts";
import type { Message } from "../../api-types.ts";

const LOOK_EVERY_MS = 2000;

interface Tail {
  /** Messages that came since the list was read. */
  fresh: readonly Message[];
  /** Shows them. */
  show: () => void;
}

/**
 * Looks at the newest messages again and again: those in the list take their new state where they stand, and those
 * that are not in it are counted, so that no row jumps from under a finger.
 */
export function useTail(query: Query, rows: readonly Message[], on: boolean): Tail {
  const client = useQueryClient();
  const { data } = useQuery({
    queryKey: ["tail", query],
    queryFn: ({ signal }) => get<Page<Message>>("/api/messages", { ...query, limit: 100 }, signal),
    refetchInterval: LOOK_EVERY_MS,
    enabled: on,
  });
  const newest = data?.data;
  useEffect(() => {
    if (!newest || !on) return;
    const byId = new Map(newest.map((message) => [message.messageId, message]));
    client.setQueryData<InfiniteData<Page<Message>>>(
      ["/api/messages", query],
      (list) =>
        list && {
          ...list,
          pages: list.pages.map((page) => ({
            ...page,
            data: page.data.map((message) => byId.get(message.messageId) ?? message),
          })),
        },
    );
  }, [client, newest, on, query]);

  const first = rows[0];
  const known = new Set(rows.map(({ messageId }) => messageId));
  const fresh =
    on && newest
      ? newest.filter(({ messageId, createdAt }) => !known.has(messageId) && (!first || createdAt >= first.createdAt))
      : [];
  return { fresh, show: () => void client.resetQueries({ queryKey: ["/api/messages", query] }) };
}
