import { firstUcs2Character, segment } from "./segment.ts";

/** A character outside GSM-7 and its replacement in GSM-7. */
interface Replacement {
  found: string;
  use: string;
  /** True when a letter loses its accent. Readers notice it, so the author decides. */
  letter: boolean;
}

const SIGNS = new Map<string, string>();
for (const sign of "‘’‚‛‹›′ʻʼ´`") SIGNS.set(sign, "'");
for (const sign of "“”„‟«»″") SIGNS.set(sign, '"');
for (const sign of "‐‑‒–—―−⁃﹣") SIGNS.set(sign, "-");
// Not a hyphen, which reads as a minus before a number.
for (const sign of "•‣◦∙▪●") SIGNS.set(sign, "*");
for (const sign of "⁄∕") SIGNS.set(sign, "/");
for (const sign of "\u0085\u2028\u2029") SIGNS.set(sign, "\n");
SIGNS.set("\t", " ").set("…", "...").set("⋯", "...").set("‥", "..");
// Invisible characters without effect between GSM-7 characters, which all run from left to right: soft hyphen,
// zero-width space, (non-)joiner and direction marks. They come with copied numbers and links.
for (const sign of "\u00ad\u200b\u200c\u200d\u200e\u200f\u202a\u202c\u2060\u2066\u2068\u2069\ufeff")
  SIGNS.set(sign, "");

// Letters without a Unicode decomposition but with a common replacement.
const LETTERS = new Map(Object.entries({ œ: "oe", Œ: "OE", ł: "l", Ł: "L", đ: "d", Đ: "D", ħ: "h", Ħ: "H", ı: "i" }));

/**
 * Replaces typographic characters by GSM-7 ones when the text then needs fewer segments; null otherwise. An emoji or a
 * letter of another script carries meaning, so a text with one has no cheaper version.
 */
export function cheaperText(text: string): { text: string; replaced: readonly Replacement[]; segments: number } | null {
  if (firstUcs2Character(text) === null) return null;
  const replaced = new Map<string, Replacement>();
  let cheaper = "";
  // A character and its combining marks are replaced together.
  for (const [found] of text.matchAll(/\P{M}\p{M}*|\p{M}+/gu)) {
    if (firstUcs2Character(found) === null) {
      cheaper += found;
      continue;
    }
    const respelling = replaced.get(found) ?? replacementOf(found);
    if (respelling === null) return null;
    replaced.set(found, respelling);
    cheaper += respelling.use;
  }
  const { segments } = segment(cheaper);
  return segments < segment(text).segments ? { text: cheaper, replaced: [...replaced.values()], segments } : null;
}

function replacementOf(found: string): Replacement | null {
  const sign = SIGNS.get(found) ?? (/^\p{Zs}$/u.test(found) ? " " : typographic(found));
  if (sign !== null) return { found, use: sign, letter: false };
  const letter = LETTERS.get(found) ?? withoutMarks(found);
  return letter === null ? null : { found, use: letter, letter: true };
}

/** The same letters in another Unicode form: composed accents, or ligatures taken apart. */
function typographic(found: string): string | null {
  const same = found.normalize(/^[ﬀ-ﬆ]$/u.test(found) ? "NFKC" : "NFC");
  return firstUcs2Character(same) === null ? same : null;
}

function withoutMarks(found: string): string | null {
  const base = found.normalize("NFD").replace(/\p{Mn}+$/u, "");
  return /^\p{L}$/u.test(base) && firstUcs2Character(base) === null ? base : null;
}
