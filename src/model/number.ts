const SEPARATORS = /[\s\-()[\].]/g;
const INTERNATIONAL = /^\+?([1-9][0-9]{6,14})$/;

/**
 * The digits of an international number (E.164 shape: 7 to 15 digits, no leading zero), or null.
 * Spaces, dashes, dots and brackets are how people write numbers, so they are dropped.
 */
export function readNumber(written: string): string | null {
  const plain = INTERNATIONAL.exec(written);
  if (plain?.[1]) return plain[1];
  return INTERNATIONAL.exec(written.replaceAll(SEPARATORS, ""))?.[1] ?? null;
}
