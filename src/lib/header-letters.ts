/** Character classes of HTTP header lines (RFC 9110), for our own HTTP parsers. */

export const COLON = 0x3a;
export const CR = 0x0d;
export const LF = 0x0a;
export const NAME = 1;
export const VALUE = 2;

/** A character of a header name, as part of a regular expression. */
export const NAME_LETTER = "[\\w!#$%&'*+.^`|~-]";

/** A table by character code: NAME and VALUE bits. `isValue` decides which characters a value may have. */
export function kindsOf(isValue: (code: number) => boolean): Uint8Array {
  const isOfName = new RegExp(NAME_LETTER);
  return Uint8Array.from({ length: 256 }, (_, code) => {
    if (!isValue(code)) return 0;
    return isOfName.test(String.fromCodePoint(code)) ? NAME | VALUE : VALUE;
  });
}

/** The end of the run of characters of one class that begins at `from`. */
export function endOf(kinds: Uint8Array, kind: number, text: string, from: number): number {
  let at = from;
  while (((kinds[text.charCodeAt(at)] ?? 0) & kind) !== 0) at += 1;
  return at;
}
