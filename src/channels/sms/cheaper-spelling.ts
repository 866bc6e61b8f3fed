import { firstUcs2Character, segment } from "./segment.ts";

/** One character that costs a text its GSM-7, and what is written for it on an ordinary keyboard. */
interface Respelling {
  found: string;
  use: string;
  /** True when a letter loses its accent: readable, but the reader will notice, so it is for the writer to decide. */
  letter: boolean;
}

const SIGNS = new Map<string, string>();
for (const sign of "‘’‚‛‹›′ʻʼ´`") SIGNS.set(sign, "'");
for (const sign of "“”„‟«»″") SIGNS.set(sign, '"');
for (const sign of "‐‑‒–—―−⁃﹣") SIGNS.set(sign, "-");
// Not a hyphen, which in front of a number would read as a minus.
for (const sign of "•‣◦∙▪●") SIGNS.set(sign, "*");
for (const sign of "⁄∕") SIGNS.set(sign, "/");
for (const sign of "\u0085\u2028\u2029") SIGNS.set(sign, "\n");
SIGNS.set("\t", " ").set("…", "...").set("⋯", "...").set("‥", "..");
// Invisible, and without effect between the characters of GSM-7, which all run from left to right: soft hyphen,
// zero-width space, (non-)joiner and marks of direction, as they come along when a number or a link is copied.
for (const sign of "\u00ad\u200b\u200c\u200d\u200e\u200f\u202a\u202c\u2060\u2066\u2068\u2069\ufeff")
  SIGNS.set(sign, "");

// Letters that Unicode does not take apart although everybody knows what they are written as.
const LETTERS = new Map(Object.entries({ œ: "oe", Œ: "OE", ł: "l", Ł: "L", đ: "d", Đ: "D", ħ: "h", Ħ: "H", ı: "i" }));

/**
 * Spells a text with the GSM alphabet when only typography keeps it from fitting and it then needs fewer segments; null
 * otherwise. What a writer means is left alone: with one emoji or one letter of another script there is no offer.
 */
export function cheaperSpelling(
  text: string,
): { text: string; replaced: readonly Respelling[]; segments: number } | null {
  if (firstUcs2Character(text) === null) return null;
  const replaced = new Map<string, Respelling>();
  let cheaper = "";
  // A character with the marks that combine with it is one thing to spell.
  for (const [found] of text.matchAll(/\P{M}\p{M}*|\p{M}+/gu)) {
    if (firstUcs2Character(found) === null) {
      cheaper += found;
      continue;
    }
    const respelling = replaced.get(found) ?? respell(found);
    if (respelling === null) return null;
    replaced.set(found, respelling);
    cheaper += respelling.use;
  }
  const { segments } = segment(cheaper);
  return segments < segment(text).segments ? { text: cheaper, replaced: [...replaced.values()], segments } : null;
}

function respell(found: string): Respelling | null {
  const sign = SIGNS.get(found) ?? (/^\p{Zs}$/u.test(found) ? " " : typographic(found));
  if (sign !== null) return { found, use: sign, letter: false };
  const letter = LETTERS.get(found) ?? withoutMarks(found);
  return letter === null ? null : { found, use: letter, letter: true };
}

/** The same letters in another form: base and accent put together, or a printer's ligature taken apart. */
function typographic(found: string): string | null {
  const same = found.normalize(/^[ﬀ-ﬆ]$/u.test(found) ? "NFKC" : "NFC");
  return firstUcs2Character(same) === null ? same : null;
}

function withoutMarks(found: string): string | null {
  const base = found.normalize("NFD").replace(/\p{Mn}+$/u, "");
  return /^\p{L}$/u.test(base) && firstUcs2Character(base) === null ? base : null;
}
