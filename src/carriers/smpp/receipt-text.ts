/** Raw fields of a receipt text. */
export interface ReceiptText {
  id?: string;
  sub?: string;
  dlvrd?: string;
  doneDate?: string;
  stat?: string;
  err?: string;
}

type Key = keyof ReceiptText | "submitDate" | "text";

/** Field names in lower case, without separators. */
const KEYS = new Map<string, Key>([
  ...["id", "msgid", "messageid"].map((name) => [name, "id"] as const),
  ...["submitdate", "submittime"].map((name) => [name, "submitDate"] as const),
  ...["donedate", "donetime"].map((name) => [name, "doneDate"] as const),
  ...["sub", "submitted"].map((name) => [name, "sub"] as const),
  ...["dlvrd", "delivered"].map((name) => [name, "dlvrd"] as const),
  ...["stat", "status"].map((name) => [name, "stat"] as const),
  ...["err", "error", "errcode", "errorcode"].map((name) => [name, "err"] as const),
  ["text", "text"],
]);

interface Found {
  key: Key;
  /** Offsets of the name and of the value. */
  start: number;
  valueStart: number;
}

/** Format of the specification, used by most carriers. The general parser takes thirty times as long. */
const PROPOSED =
  /^id:([\w-]+) sub:(\d+) dlvrd:(\d+) submit date:\d+ done date:(\d+) stat:([A-Za-z]+) err:(\w+)(?: [Tt]ext:|$)/;

/**
 * Parses fields in any order and case, with any of them missing. The quoted message text at the end may contain anything,
 * and is not parsed.
 */
export function readReceiptText(written: string): ReceiptText {
  const proposed = PROPOSED.exec(written);
  if (proposed) {
    const [, id, sub, dlvrd, doneDate, stat, err] = proposed;
    return { id, sub, dlvrd, doneDate, stat, err } as ReceiptText;
  }
  const found = findKeys(written);
  const fields = fieldsOf(written, found, true);
  return fields.id === undefined && fields.stat === undefined ? fieldsOf(written, found, false) : fields;
}

function fieldsOf(written: string, found: readonly Found[], endAtText: boolean): ReceiptText {
  const fields: Partial<Record<Key, string>> = {};
  for (const [at, { key, valueStart }] of found.entries()) {
    if (key === "text" && endAtText) break;
    // The first of a kind counts.
    if (fields[key] !== undefined) continue;
    const next = found[at + 1];
    const raw = tidy(written.slice(valueStart, next?.start));
    // The last value has no delimiter, so only its first word is used.
    const value = next === undefined ? firstWordOf(raw, key) : raw;
    if (value !== "") fields[key] = value;
  }
  const { text: _text, submitDate: _submitDate, ...known } = fields;
  return known;
}

// Searches backwards from each colon; one regular expression for everything takes several times as long.
function findKeys(written: string): Found[] {
  const found: Found[] = [];
  for (let at = 0; at < written.length; at++) {
    const sign = written.charCodeAt(at);
    if (sign !== 0x3a && sign !== 0x3d) continue;
    const end = skipBlanks(written, at);
    const start = startOfName(written, end);
    if (start === end) continue;
    const before = skipBlanks(written, start);
    const longStart = before < start ? startOfName(written, before) : start;
    const long = KEYS.get(plainName(written.slice(longStart, end)));
    const key = long ?? KEYS.get(plainName(written.slice(start, end)));
    if (key) found.push({ key, start: long ? longStart : start, valueStart: at + 1 });
  }
  return found;
}

const NAME_MAX = 12;

/** A name consists of letters, dashes and underscores. It may directly follow a number, as in fixed-width fields. */
function startOfName(written: string, end: number): number {
  let start = end;
  while (start > 0 && end - start <= NAME_MAX && isOfName(written.charCodeAt(start - 1))) start--;
  return start;
}

const isOfName = (code: number): boolean =>
  (code >= 0x61 && code <= 0x7a) || (code >= 0x41 && code <= 0x5a) || code === 0x5f || code === 0x2d;

function skipBlanks(written: string, end: number): number {
  let at = end;
  while (at > 0 && (written[at - 1] === " " || written[at - 1] === "\t")) at--;
  return at;
}

const plainName = (name: string): string => name.toLowerCase().replaceAll(/[ \t_-]+/g, "");

/** Removes delimiters and quotes around a value. */
const tidy = (raw: string): string =>
  raw
    .replaceAll("\0", " ")
    .replace(/^[\s"']+/, "")
    .replace(/[\s,;|&"']+$/, "");

const firstWordOf = (raw: string, key: Key): string =>
  key === "doneDate" || key === "stat" ? raw : (/^\S+/.exec(raw)?.[0] ?? "");
