import { hash, randomFillSync } from "node:crypto";

const POOL_BYTES = 4096;
const pool = Buffer.alloc(POOL_BYTES);
let used = POOL_BYTES;
// Many ids are of the same millisecond, and its hexadecimal form is the dearest part of them.
let momentMs = Number.NaN;
let moment = "";
// Of one moment, the ids of one process are in the order in which they were made.
let place = 0;

/**
 * A UUID of version 7 for a moment: rows written together lie together, and a listing by id is a listing by time.
 * (Node's own takes the time from the system, which a test cannot move.)
 */
export function newId(epochMs: number): string {
  if (used + 10 > POOL_BYTES) {
    randomFillSync(pool);
    used = 0;
  }
  const random = pool.subarray(used, used + 10);
  used += 10;
  place += 1;
  if (epochMs !== momentMs) {
    momentMs = epochMs;
    moment = timePart(epochMs);
    place = 0;
  }
  random[0] = 0x70 | ((place >> 8) & 0x0f);
  random[1] = place & 0xff;
  random[2] = ((random[2] ?? 0) & 0x3f) | 0x80;
  const rest = random.toString("hex");
  return `${moment}-${rest.slice(0, 4)}-${rest.slice(4, 8)}-${rest.slice(8)}`;
}

/** The id of something that happened at a moment and may be told again: the same words give the same id. */
export function idOf(epochMs: number, words: string): string {
  const digest = hash("sha256", words);
  const variant = (8 + (Number.parseInt(digest.charAt(3), 16) & 3)).toString(16);
  return `${timePart(epochMs)}-7${digest.slice(0, 3)}-${variant}${digest.slice(4, 7)}-${digest.slice(7, 19)}`;
}

/** Whether two ids are of the same words, said at whatever moments. */
export const isSameButForTime = (one: string, other: string): boolean =>
  one.slice(TIME_LENGTH) === other.slice(TIME_LENGTH);

/** The smallest id of a moment, as a bound for ranges over time-ordered ids. */
export const idFloor = (epochMs: number): string => `${timePart(epochMs)}-0000-0000-000000000000`;

/** The moment that an id was made at. */
export const timeOf = (id: string): number => Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);

const TIME_LENGTH = "00000000-0000".length;
const TIME_MAX = 2 ** 48 - 1;

function timePart(epochMs: number): string {
  const ms = Math.min(TIME_MAX, Math.max(0, Math.trunc(epochMs)));
  const hex = ms.toString(16).padStart(12, "0");
  return `${hex.slice(0, 8)}-${hex.slice(8)}`;
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

export const isUuid = (value: string): boolean => UUID.test(value);
