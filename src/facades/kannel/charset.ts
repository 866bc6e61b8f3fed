import { decodeText } from "../parameters.ts";

/** Names that Kannel takes and that have another name among the encodings of the web. */
const NAMES: Readonly<Record<string, string>> = {
  utf16: "utf-16",
  utf16be: "utf-16be",
  utf16le: "utf-16le",
  ucs2: "utf-16",
  "ucs-2": "utf-16",
  "ucs-2be": "utf-16be",
  "ucs-2le": "utf-16le",
};

/** Byte order mark of UTF-16 with the high octet first. */
const BIG_ENDIAN_MARK = "feff";

const REPLACEMENT = "\ufffd";

/**
 * Decodes the text of a message; null if the charset is unknown. Like Kannel it takes octets that are not of the charset: an
 * incomplete character at the end is dropped, as of a text cut at a number of octets, and others become question marks.
 */
export function decodeSmsText(octets: Buffer, charset: string): string | null {
  const name = nameOf(octets, charset.trim().toLowerCase());
  const exact = decodeText(octets, name);
  if (exact !== null) return exact;
  try {
    return new TextDecoder(name).decode(octets, { stream: true }).replaceAll(REPLACEMENT, "?");
  } catch {
    // Unknown name.
    return null;
  }
}

/** UTF-16 is little-endian unless its mark says otherwise. */
function nameOf(octets: Buffer, written: string): string {
  const name = NAMES[written] ?? written;
  return name === "utf-16" && octets.toString("hex", 0, 2) === BIG_ENDIAN_MARK ? "utf-16be" : name;
}
