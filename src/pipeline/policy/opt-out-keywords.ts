import type { OptOutWords } from "../../model/opt-out.ts";

/**
 * The opt-out keyword of an inbound text, if the text is nothing else: "please stop by tomorrow" is no opt-out. A word in both
 * lists means stop, which is the harmless mistake.
 */
export function readOptOutKeyword(text: string, words: OptOutWords): "stop" | "start" | null {
  const said = plain(text);
  if (said === "") return null;
  if (plainWords(words.stop).has(said)) return "stop";
  return plainWords(words.start).has(said) ? "start" : null;
}

// Memo: keywords rarely change and are read for every inbound message.
const plainLists = new WeakMap<readonly string[], ReadonlySet<string>>();

function plainWords(words: readonly string[]): ReadonlySet<string> {
  let list = plainLists.get(words);
  if (list === undefined) plainLists.set(words, (list = new Set(words.map(plain))));
  return list;
}

// Pictures and keycaps; the class of all emoji sequences matches the same and is 100 times slower.
const EMOJI = /\p{Extended_Pictographic}|[0-9#*]\ufe0f?\u20e3/gu;
const INVISIBLE_OR_ACCENT = /[\p{Default_Ignorable_Code_Point}\u0300-\u036f]/gu;
const BETWEEN_WORDS = /[^\p{L}\p{M}\p{N}]+/gu;

// Normalises full-width letters, accents and case; in upper case the Turkish letters i are the same.
function plain(text: string): string {
  return text
    .replaceAll(EMOJI, " ")
    .normalize("NFKD")
    .replaceAll(INVISIBLE_OR_ACCENT, "")
    .toUpperCase()
    .replaceAll(BETWEEN_WORDS, " ")
    .trim();
}
