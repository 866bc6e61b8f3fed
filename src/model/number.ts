/** Patterns of phone numbers in the OpenAPI document: with the separators that people write. */
const WRITTEN = "[1-9](?:[ ().-]*[0-9]){6,14}";
export const PHONE_FORMATS: Readonly<Record<string, string>> = {
  phone: `^\\+?${WRITTEN}$`,
  "phone-with-plus": `^\\+${WRITTEN}$`,
  "phone-list": `^\\+?${WRITTEN}(?:, *\\+?${WRITTEN})*$`,
};

const SEPARATORS = /[\s\-()[\].]/g;
const INTERNATIONAL = /^\+?([1-9][0-9]{6,14})$/;

/**
 * The digits of an international number (E.164 shape: 7 to 15 digits, no leading zero), or null.
 * Spaces, dashes, dots and brackets are removed.
 */
export function readNumber(written: string): string | null {
  const plain = INTERNATIONAL.exec(written);
  if (plain?.[1]) return plain[1];
  return INTERNATIONAL.exec(written.replaceAll(SEPARATORS, ""))?.[1] ?? null;
}
