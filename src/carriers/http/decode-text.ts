/** The bytes contradict the declared charset. */
export type UndecodableText = "UTF-16BE without charset" | "garbled UTF-16BE" | "not UTF-8";

interface Decoded {
  text: string;
  problem?: UndecodableText;
}

/** Decodes text of a query or form, whose charset URLs do not declare. Default: UTF-8. */
export function decodeText(bytes: Buffer, charset: string | null): Decoded {
  const name = charset?.toLowerCase() ?? "";
  if (UTF16BE.has(name))
    return { text: readUtf16be(bytes), ...(bytes.length % 2 === 1 && { problem: "garbled UTF-16BE" as const }) };
  if (SINGLE_BYTE.has(name)) return { text: new TextDecoder("windows-1252").decode(bytes) };
  if (charset === null && isUtf16be(bytes)) return { text: readUtf16be(bytes), problem: "UTF-16BE without charset" };
  const text = bytes.toString("utf8");
  // Phones never send NUL, while every ASCII character in UTF-16BE contains one.
  if (bytes.includes(0)) return { text, problem: "garbled UTF-16BE" };
  return text.includes("\ufffd") && !Buffer.from(text).equals(bytes) ? { text, problem: "not UTF-8" } : { text };
}

const UTF16BE = new Set(["utf-16be", "utf16be", "ucs-2", "ucs2", "ucs-2be", "iso-10646-ucs-2"]);
const SINGLE_BYTE = new Set(["windows-1252", "cp1252", "iso-8859-1", "latin1", "latin-1"]);

/** A trailing odd byte is half a unit and is dropped. */
const readUtf16be = (bytes: Buffer): string =>
  Buffer.from(bytes.subarray(0, bytes.length & ~1))
    .swap16()
    .toString("utf16le");

/**
 * True if the bytes are certainly UTF-16BE: in scripts below U+2000 (Latin, Cyrillic, Arabic, Indic) each unit starts with
 * a control byte. Chinese and similar scripts cannot be detected.
 */
function isUtf16be(bytes: Buffer): boolean {
  if (bytes.length < 2 || bytes.length % 2 !== 0) return false;
  let controls = 0;
  for (let at = 0; at < bytes.length; at += 2) if ((bytes[at] ?? 0) < 0x20) controls += 1;
  return controls * 4 > bytes.length && readUtf16be(bytes).isWellFormed();
}
