/** The letters of header lines, for whoever reads HTTP by itself. */

export const COLON = 0x3a;
export const CR = 0x0d;
export const LF = 0x0a;
export const NAME = 1;
export const VALUE = 2;

/** A letter of a name, as a part of a regular expression. */
export const NAME_LETTER = "[\\w!#$%&'*+.^`|~-]";

/** Which letters may stand in a name, which in a value, by their code: all of a name, and those that `isValue` takes. */
export function kindsOf(isValue: (code: number) => boolean): Uint8Array {
  const isOfName = new RegExp(NAME_LETTER);
  return Uint8Array.from({ length: 256 }, (_, code) => {
    if (!isValue(code)) return 0;
    return isOfName.test(String.fromCodePoint(code)) ? NAME | VALUE : VALUE;
  });
}

/** Where letters of a kind end that begin at `from`. */
export function endOf(kinds: Uint8Array, kind: number, text: string, from: number): number {
  let at = from;
  while (((kinds[text.charCodeAt(at)] ?? 0) & kind) !== 0) at += 1;
  return at;
}
