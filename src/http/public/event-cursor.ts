import { idFloor, isUuid } from "../../lib/ids.ts";

/** Position of a reader: it has all events up to `floor`, and of the later ones those in `seen`. */
export interface EventPosition {
  floor: string;
  /** The last digits of event ids. */
  seen: ReadonlySet<string>;
}

/**
 * Events are not stored in the order of their ids: an id is generated before the commit, and the clocks of nodes differ. The
 * floor therefore stays this far behind, so that a reader misses no event.
 */
const SETTLED_MS = 30_000;
/** A cursor must fit into a URL. Events beyond this number per SETTLED_MS are listed up to that much later. */
const SEEN_MAX = 200;
const TAIL_DIGITS = 10;

export const startAt = (epochMs: number): EventPosition => ({ floor: idFloor(epochMs), seen: new Set() });

/** Number of rows after the floor that contain a whole page of unseen ones. */
export const rowsToRead = ({ seen }: EventPosition, limit: number): number => limit + seen.size;

/** Selects the unseen rows after a reader's floor, in order, and its position after them. */
export function nextPage<T extends { eventId: string }>(
  { floor, seen }: EventPosition,
  rows: readonly T[],
  { limit, now }: { limit: number; now: number },
): { page: T[]; next: EventPosition } {
  const settled = idFloor(now - SETTLED_MS);
  const page: T[] = [];
  const nextSeen = new Set(seen);
  let isComplete = true;
  let nextFloor = floor;
  for (const row of rows) {
    const { eventId } = row;
    const tail = tailOf(eventId);
    const isSettled = eventId < settled;
    if (!seen.has(tail)) {
      if (page.length === limit || (!isSettled && nextSeen.size >= SEEN_MAX)) {
        isComplete = false;
        continue;
      }
      page.push(row);
      nextSeen.add(tail);
    }
    if (!isComplete || !isSettled) continue;
    nextFloor = eventId;
    nextSeen.delete(tail);
  }
  return { page, next: { floor: nextFloor, seen: nextSeen } };
}

const tailOf = (eventId: string): string => eventId.slice(-TAIL_DIGITS);

export function encodeCursor({ floor, seen }: EventPosition): string {
  if (seen.size === 0) return floor;
  return `${floor}.${Buffer.from([...seen].join(""), "hex").toString("base64url")}`;
}

/** Null if the text is not a cursor. */
export function decodeCursor(cursor: string): EventPosition | null {
  const [floor = "", tails = "", ...rest] = cursor.split(".");
  if (!isUuid(floor) || rest.length > 0) return null;
  const hex = Buffer.from(tails, "base64url").toString("hex");
  const seen = new Set(hex.match(new RegExp(`.{${TAIL_DIGITS}}`, "g")));
  const position = { floor, seen };
  return seen.size <= SEEN_MAX && encodeCursor(position) === cursor ? position : null;
}
