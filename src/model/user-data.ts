import { septetsOf } from "../lib/gsm7.ts";

/**
 * The user data of an SMS: an optional header (UDH), then text or octets. Texts without a header take the shorter way of
 * `src/channels/sms/segment.ts`; this file counts and cuts all the others.
 */

/** Content of user data: characters of an alphabet, or octets that are written in hexadecimal. */
export type UserDataEncoding = "gsm7" | "ucs2" | "binary";

export interface UserData {
  /** The text, or the octets in hexadecimal. */
  text: string;
  encoding: UserDataEncoding;
  /** The header with its length octet, in hexadecimal; absent or empty for none. */
  udh?: string;
}

const OCTETS = 140;
/** The header's length octet, and the concatenation element with a reference of one octet. */
const LENGTH_OCTET = 1;
const CONCATENATION_OCTETS = 5;
const WIDE_CONCATENATION_OCTETS = 6;
/** An escape sequence or a surrogate pair. */
const PART_UNITS_MIN = 2;
/** Ids of a concatenation element: with a reference of one octet, and of two. */
const CONCATENATION_IDS: ReadonlySet<number> = new Set([0x00, 0x08]);
/** Ids of the national language tables: for characters after an escape, and for all. */
const LANGUAGE_IDS: ReadonlySet<number> = new Set([0x24, 0x25]);

/** Room for text beside a header, in septets, UTF-16 units or octets. */
export function roomBeside(headerOctets: number, encoding: UserDataEncoding): number {
  const octets = Math.max(0, OCTETS - headerOctets);
  if (encoding === "binary") return octets;
  return encoding === "ucs2" ? octets >> 1 : Math.floor((octets * 8) / 7);
}

/** Octets of the header of a part: its own elements, and one that numbers it. */
export function partHeaderOctets(
  { udh = "" }: Pick<UserData, "udh">,
  concatenationOctets = CONCATENATION_OCTETS,
): number {
  return Math.max(LENGTH_OCTET, udh.length / 2) + concatenationOctets;
}

/** False for a header after which no character fits into a part with a concatenation element. */
export const hasRoomForParts = (data: Pick<UserData, "udh" | "encoding">): boolean =>
  roomBeside(partHeaderOctets(data, WIDE_CONCATENATION_OCTETS), data.encoding) >= PART_UNITS_MIN;

/** The number of messages that this takes on the air. */
export function segmentsOf(data: UserData): number {
  const { text, encoding, udh = "" } = data;
  if (unitsOf(text, encoding) <= roomBeside(udh.length / 2, encoding)) return 1;
  return splitUserData(data).length;
}

/** The texts of the parts, each in the form of the whole. */
export function splitUserData(data: UserData): string[] {
  const { text, encoding, udh = "" } = data;
  if (unitsOf(text, encoding) <= roomBeside(udh.length / 2, encoding)) return [text];
  return cutUnits(text, encoding, roomBeside(partHeaderOctets(data), encoding));
}

function unitsOf(text: string, encoding: UserDataEncoding): number {
  if (encoding === "ucs2") return text.length;
  if (encoding === "binary") return text.length / 2;
  let units = 0;
  for (let at = 0; at < text.length; at += 1) units += costOf(text.charCodeAt(at));
  return units;
}

/** Characters outside GSM in a carrier's own alphabet count as one. */
const costOf = (codeUnit: number): number => septetsOf(codeUnit) || 1;

/** Cuts a text into pieces of at most `room` units. Neither an escape sequence nor a surrogate pair nor an octet is split. */
export function cutUnits(text: string, encoding: UserDataEncoding, room: number): string[] {
  const pieces: string[] = [];
  let start = 0;
  let used = 0;
  for (let at = 0; at < text.length; at += 1) {
    // An escape sequence is one string position here.
    const isDouble = encoding === "binary" || (encoding === "ucs2" && (text.codePointAt(at) ?? 0) > 0xffff);
    const cost = encoding === "gsm7" ? costOf(text.charCodeAt(at)) : encoding === "ucs2" && isDouble ? 2 : 1;
    if (used + cost > room) {
      pieces.push(text.slice(start, at));
      start = at;
      used = 0;
    }
    used += cost;
    if (isDouble) at += 1;
  }
  pieces.push(text.slice(start));
  return pieces;
}

/** One element of a header. */
export interface HeaderElement {
  id: number;
  value: Buffer;
}

/** The elements of a header without its length octet; the complete ones, if it is cut off. */
export function headerElements(header: Buffer): HeaderElement[] {
  const elements: HeaderElement[] = [];
  for (let at = 0; at + 1 < header.length;) {
    const end = at + 2 + (header[at + 1] ?? 0);
    if (end > header.length) break;
    elements.push({ id: header[at] ?? 0, value: header.subarray(at + 2, end) });
    at = end;
  }
  return elements;
}

/** A header of these elements, in hexadecimal; empty for none. */
export function writeHeader(elements: readonly HeaderElement[]): string {
  if (elements.length === 0) return "";
  const octets = Buffer.concat(elements.flatMap(({ id, value }) => [Buffer.from([id, value.length]), value]));
  return Buffer.concat([Buffer.from([octets.length]), octets]).toString("hex");
}

/** True for a header whose length octet and elements are complete. */
export function isWholeHeader(header: Buffer): boolean {
  if (header.length < 3 || header.length > OCTETS || header[0] !== header.length - 1) return false;
  const elements = headerElements(header.subarray(1));
  return elements.reduce((sum, { value }) => sum + 2 + value.length, 1) === header.length;
}

/** True for an element that numbers the parts of a message. */
export const isConcatenation = ({ id }: Pick<HeaderElement, "id">): boolean => CONCATENATION_IDS.has(id);

/** True for an element that gives the codes of the default alphabet other characters. */
export const isLanguageTable = ({ id }: Pick<HeaderElement, "id">): boolean => LANGUAGE_IDS.has(id);

/** True for a message that is itself a part: its sender has split it. */
export const isNumberedPart = ({ udh = "" }: Pick<UserData, "udh">): boolean =>
  udh !== "" && headerElements(Buffer.from(udh, "hex").subarray(1)).some(isConcatenation);
