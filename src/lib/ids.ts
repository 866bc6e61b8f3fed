import { hash } from "node:crypto";
import { randomByte } from "./random.ts";

/** The id that is being written. Many are of the same millisecond, and its hexadecimal form is the dearest part of them. */
const letters = Buffer.from("00000000-0000-7000-8000-000000000000", "latin1");
let momentMs = Number.NaN;
// Counter within a millisecond, which keeps the ids of one process in the order of their creation.
let place = 0;

/** Offsets of the random bytes after the first one, which shares its byte with the UUID variant. */
const RANDOM_PLACES = [21, 24, 26, 28, 30, 32, 34] as const;

/**
 * A UUID of version 7 for a moment: rows written together lie together, and a listing by id is a listing by time.
 * (Node's own takes the time from the system, which a test cannot move.)
 */
export function newId(epochMs: number): string {
  place += 1;
  if (epochMs !== momentMs) {
    momentMs = epochMs;
    letters.write(timePart(epochMs), "latin1");
    place = 0;
  }
  letters[15] = digit((place >> 8) & 0x0f);
  putByte(16, place & 0xff);
  putByte(19, 0x80 | (randomByte() & 0x3f));
  for (const at of RANDOM_PLACES) putByte(at, randomByte());
  return letters.toString("latin1");
}

function putByte(at: number, byte: number): void {
  letters[at] = digit(byte >> 4);
  letters[at + 1] = digit(byte & 0x0f);
}

const digit = (value: number): number => value + (value < 10 ? 0x30 : 0x57);

/** The id of something that happened at a moment and may be told again: the same words give the same id. */
export function idOf(epochMs: number, words: string): string {
  const digest = hash("sha256", words);
  const variant = (8 + (Number.parseInt(digest.charAt(3), 16) & 3)).toString(16);
  return `${timePart(epochMs)}-7${digest.slice(0, 3)}-${variant}${digest.slice(4, 7)}-${digest.slice(7, 19)}`;
}

/** A UUID of version 8 that every node derives alike from the same words, without asking the store. */
export function derivedId(words: string): string {
  const digest = hash("sha256", words);
  const variant = (8 + (Number.parseInt(digest.charAt(15), 16) & 3)).toString(16);
  return `${digest.slice(0, 8)}-${digest.slice(8, 12)}-8${digest.slice(12, 15)}-${variant}${digest.slice(16, 19)}-${digest.slice(19, 31)}`;
}

/** True if two ids were derived from the same words, at any time. */
export const isSameButForTime = (one: string, other: string): boolean => idWithoutTime(one) === idWithoutTime(other);

/** The part of an id that does not depend on its time. */
export const idWithoutTime = (id: string): string => id.slice(TIME_LENGTH);

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
