// The default alphabet of GSM 03.38. The table's code 0x1B is the escape itself, which is not a character one can
// send, so it has no place here: 127 characters of one septet, and ten that need the escape in front.
const BASIC =
  "@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !\"#¤%&'()*+,-./0123456789:;<=>?" +
  "¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà";
const EXTENSION = "\f^{}\\[~]|€";

// One byte for every UTF-16 code unit, so that no look-up can fall outside; only a few cache lines are ever touched.
const SEPTETS = new Uint8Array(0x10000);
for (const character of BASIC) SEPTETS[character.charCodeAt(0)] = 1;
for (const character of EXTENSION) SEPTETS[character.charCodeAt(0)] = 2;

/** What one UTF-16 code unit costs in GSM-7: 1 basic, 2 with the escape, 0 when the alphabet does not have it. */
export function septetsOf(codeUnit: number): number {
  return SEPTETS[codeUnit] ?? 0;
}
