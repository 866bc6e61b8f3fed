// The default alphabet of GSM 03.38 without code 0x1B, the escape, which is no character: 127 characters of one septet,
// and ten of two septets, with the escape in front.
const BASIC =
  "@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !\"#¤%&'()*+,-./0123456789:;<=>?" +
  "¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà";
const ESCAPE = 0x1b;
const EXTENSION = "\f^{}\\[~]|€";
const EXTENSION_CODES = [0x0a, 0x14, 0x28, 0x29, 0x2f, 0x3c, 0x3d, 0x3e, 0x40, 0x65];

// One byte per UTF-16 code unit, so that no lookup needs a range check; texts touch only a few cache lines.
const SEPTETS = new Uint8Array(0x10000);
for (const character of BASIC) SEPTETS[character.charCodeAt(0)] = 1;
for (const character of EXTENSION) SEPTETS[character.charCodeAt(0)] = 2;

const CODES = new Uint8Array(0x10000);
const CHARACTERS: string[] = [];
for (const [index, character] of Array.from(BASIC).entries()) {
  const code = index < ESCAPE ? index : index + 1;
  CODES[character.charCodeAt(0)] = code;
  CHARACTERS[code] = character;
}
const EXTENDED: string[] = [];
for (const [index, character] of Array.from(EXTENSION).entries()) {
  const code = EXTENSION_CODES[index] ?? 0;
  CODES[character.charCodeAt(0)] = code;
  EXTENDED[code] = character;
}

/** The septets of a UTF-16 code unit in GSM-7: 1 for basic characters, 2 with the escape, 0 outside the alphabet. */
export function septetsOf(codeUnit: number): number {
  return SEPTETS[codeUnit] ?? 0;
}

/** Encodes with one octet per septet, unpacked; null when a character is outside the alphabet. */
export function encodeGsm7(text: string): Buffer | null {
  let septets = 0;
  for (let i = 0; i < text.length; i++) {
    const cost = septetsOf(text.charCodeAt(i));
    if (cost === 0) return null;
    septets += cost;
  }
  const octets = Buffer.allocUnsafe(septets);
  let at = 0;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (SEPTETS[unit] === 2) octets[at++] = ESCAPE;
    octets[at++] = CODES[unit] ?? 0;
  }
  return octets;
}

/**
 * Decodes octets with one septet each. As on phones, an escape before an undefined code is ignored. Octets above 0x7F are
 * no septets and become replacement characters.
 */
export function decodeGsm7(octets: Uint8Array): string {
  let text = "";
  for (let at = 0; at < octets.length; at++) {
    const code = octets[at] ?? 0;
    if (code !== ESCAPE) {
      text += CHARACTERS[code] ?? "\ufffd";
      continue;
    }
    const extended = EXTENDED[octets[at + 1] ?? ESCAPE];
    if (extended === undefined) continue;
    text += extended;
    at++;
  }
  return text;
}
