/** An alternate format of a message id, and the name of the conversion. */
export interface MessageIdFormat {
  id: string;
  form: string;
}

interface Form {
  name: string;
  /** Null if the id cannot be converted. */
  spell(id: string): string | null;
}

const LARGEST = 2n ** 64n - 1n;
const DECIMAL = /^[0-9]{1,20}$/;
const HEX = /^[0-9a-f]{1,16}$/i;

const inLowerCase = (id: string): string => id.toLowerCase();
const inUpperCase = (id: string): string => id.toUpperCase();
const withoutZeros = (id: string): string | null =>
  DECIMAL.test(id) || HEX.test(id) ? id.replace(/^0+(?=.)/, "") : null;
const padded =
  (width: number) =>
  (id: string): string | null => {
    const bare = withoutZeros(id);
    return bare === null || bare.length > width ? null : bare.padStart(width, "0");
  };

function decimalToHex(id: string): string | null {
  if (!DECIMAL.test(id)) return null;
  const value = BigInt(id);
  return value > LARGEST ? null : value.toString(16);
}

const hexToDecimal = (id: string): string | null => (HEX.test(id) ? BigInt(`0x${id}`).toString() : null);

/** Applies conversions in sequence; null if one fails. */
const chain =
  (...steps: readonly Form["spell"][]) =>
  (id: string): string | null =>
    steps.reduce<string | null>((spelt, step) => (spelt === null ? null : step(spelt)), id);

/** Simplest first: if several match, the first is assumed. */
const FORMS: readonly Form[] = [
  { name: "as given", spell: (id) => id },
  { name: "in lower case", spell: inLowerCase },
  { name: "in upper case", spell: inUpperCase },
  { name: "without leading zeros", spell: withoutZeros },
  { name: "without leading zeros, in lower case", spell: chain(withoutZeros, inLowerCase) },
  { name: "without leading zeros, in upper case", spell: chain(withoutZeros, inUpperCase) },
  { name: "from decimal to hex, in lower case", spell: decimalToHex },
  { name: "from decimal to hex, in upper case", spell: chain(decimalToHex, inUpperCase) },
  { name: "from hex to decimal", spell: hexToDecimal },
  // Widths of 32-bit and 64-bit numbers.
  ...[10, 20].map((width) => ({
    name: `from hex to decimal, ${width} digits`,
    spell: chain(hexToDecimal, padded(width)),
  })),
  ...[8, 16].flatMap((width) => [
    { name: `from decimal to hex, in lower case, ${width} digits`, spell: chain(decimalToHex, padded(width)) },
    {
      name: `from decimal to hex, in upper case, ${width} digits`,
      spell: chain(decimalToHex, inUpperCase, padded(width)),
    },
    { name: `with leading zeros, in lower case, ${width} digits`, spell: chain(inLowerCase, padded(width)) },
    { name: `with leading zeros, in upper case, ${width} digits`, spell: chain(inUpperCase, padded(width)) },
  ]),
  ...[10, 20].map((width) => ({ name: `with leading zeros, ${width} digits`, spell: padded(width) })),
];

const BY_NAME = new Map(FORMS.map((form) => [form.name, form.spell]));

/** Names of all formats, the simplest first. */
export const ID_FORMS: readonly string[] = FORMS.map(({ name }) => name);

/**
 * All ids under which a carrier may have confirmed the same message, the likeliest first; the first is the id itself.
 * Ambiguous numbers are read as decimal and as hex, so some are ids of other messages: match them for the same phone only.
 */
export function alternateIds(id: string): MessageIdFormat[] {
  const spellings = new Map<string, string>();
  for (const { name, spell } of FORMS) {
    const spelt = spell(id);
    if (spelt !== null && !spellings.has(spelt)) spellings.set(spelt, name);
  }
  return [...spellings].map(([spelt, form]) => ({ id: spelt, form }));
}

/** Converts an id; returns it unchanged if it cannot be converted or the format is unknown. */
export const canonical = (id: string, form: string): string => BY_NAME.get(form)?.(id) ?? id;

/** The simplest conversion from a receipt's id to the id in the submit response; null if none fits. */
export const learnFormat = (submitId: string, receiptId: string): string | null =>
  FORMS.find(({ spell }) => spell(receiptId) === submitId)?.name ?? null;
