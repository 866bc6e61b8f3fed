import { isUuid } from "../../lib/ids.ts";
import { messageIdOf, parseMessageId } from "../../model/message.ts";
import type { Position } from "../../store/store.ts";

/** The last messages before a page: one that was sent, and one that was received. Null before the first of a kind. */
export interface PageStart {
  sent: Position | null;
  received: string | null;
}

/** A token has the starts of its page and of the pages before it, so that a client can go back. */
const STARTS_MAX = 20;
const NOTHING = "-";

export const tokenOf = ({ sent, received }: PageStart): PageStart => ({
  sent: sent && { requestId: sent.requestId, n: sent.n },
  received,
});

export const writePageTokens = (starts: readonly PageStart[]): string =>
  starts
    .slice(-STARTS_MAX)
    .map(({ sent, received }) => `${sent ? messageIdOf(sent) : NOTHING}.${received ?? NOTHING}`)
    .join("~");

/** Reads a token; null if it is none. No token is that of the first page. */
export function readPageTokens(written: string | undefined): readonly PageStart[] | null {
  if (written === undefined) return [];
  const parts = written.split("~", STARTS_MAX + 1);
  const starts = parts.map(readStart);
  return parts.length <= STARTS_MAX && starts.every((start) => start !== null) ? starts : null;
}

function readStart(written: string): PageStart | null {
  const [first = "", second = "", ...more] = written.split(".");
  const sent = first === NOTHING ? null : parseMessageId(first);
  const received = second === NOTHING ? null : second;
  const isRead = (sent !== null || first === NOTHING) && (received === null || isUuid(received)) && more.length === 0;
  return isRead && (sent !== null || received !== null) ? { sent, received } : null;
}
