import { idFloor, isUuid } from "../../lib/ids.ts";

/** Where a reader of events stands: it has everything up to `floor`, and of what came after that those in `seen`. */
export interface Place {
  floor: string;
  /** By the ends of their ids. */
  seen: ReadonlySet<string>;
}

/**
 * An event has its id a moment before it is stored, and on several nodes the clocks differ: of two events the one with the
 * earlier id may be stored later. A reader's floor stays so far behind that none is passed by unseen.
 */
const SETTLED_MS = 30_000;
/** A cursor has to fit into an address. Whoever has more events than these in half a minute gets some of them so much later. */
const SEEN_MAX = 200;
const TAIL_DIGITS = 10;

export const startAt = (epochMs: number): Place => ({ floor: idFloor(epochMs), seen: new Set() });

/** How many rows behind the floor hold a whole page of new ones. */
export const rowsToRead = ({ seen }: Place, limit: number): number => limit + seen.size;

/** Of the rows behind a reader's floor, in order, those that it has not had, and where it stands with them. */
export function readOn<T extends { eventId: string }>(
  { floor, seen }: Place,
  rows: readonly T[],
  { limit, now }: { limit: number; now: number },
): { page: T[]; next: Place } {
  const settled = idFloor(now - SETTLED_MS);
  const page: T[] = [];
  const kept = new Set(seen);
  let isWhole = true;
  let next = floor;
  for (const row of rows) {
    const { eventId } = row;
    const tail = tailOf(eventId);
    const isSettled = eventId < settled;
    if (!seen.has(tail)) {
      if (page.length === limit || (!isSettled && kept.size >= SEEN_MAX)) {
        isWhole = false;
        continue;
      }
      page.push(row);
      kept.add(tail);
    }
    if (!isWhole || !isSettled) continue;
    next = eventId;
    kept.delete(tail);
  }
  return { page, next: { floor: next, seen: kept } };
}

const tailOf = (eventId: string): string => eventId.slice(-TAIL_DIGITS);

/** A place as the text that a reader keeps. */
export function writeCursor({ floor, seen }: Place): string {
  if (seen.size === 0) return floor;
  return `${floor}.${Buffer.from([...seen].join(""), "hex").toString("base64url")}`;
}

/** The place that such a text stands for; null when it is none. */
export function readCursor(written: string): Place | null {
  const [floor = "", tails = "", ...rest] = written.split(".");
  if (!isUuid(floor) || rest.length > 0) return null;
  const hex = Buffer.from(tails, "base64url").toString("hex");
  const seen = new Set(hex.match(new RegExp(`.{${TAIL_DIGITS}}`, "g")));
  const place = { floor, seen };
  return seen.size <= SEEN_MAX && writeCursor(place) === written ? place : null;
}
