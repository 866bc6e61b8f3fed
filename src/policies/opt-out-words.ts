import type { OptOutWords } from "../model/opt-out.ts";

/**
 * What a message from a phone asks for, if it says nothing else: somebody who writes "please stop by tomorrow" is not
 * leaving. A word that is in both lists means stop, which is the mistake that disturbs nobody.
 */
export function readOptOutWord(text: string, words: OptOutWords): "stop" | "start" | null {
  const said = plain(text);
  if (said === "") return null;
  if (plainWords(words.stop).has(said)) return "stop";
  return plainWords(words.start).has(said) ? "start" : null;
}

// The words of an account change seldom and are looked at for every message that comes in.
const plainLists = new WeakMap<readonly string[], ReadonlySet<string>>();

function plainWords(words: readonly string[]): ReadonlySet<string> {
  let list = plainLists.get(words);
  if (list === undefined) plainLists.set(words, (list = new Set(words.map(plain))));
  return list;
}

// Pictures and keycaps; the class of all emoji sequences says the same and takes a hundred times as long.
const EMOJI = /\p{Extended_Pictographic}|[0-9#*]\ufe0f?\u20e3/gu;
const INVISIBLE_OR_ACCENT = /[\p{Default_Ignorable_Code_Point}\u0300-\u036f]/gu;
const BETWEEN_WORDS = /[^\p{L}\p{M}\p{N}]+/gu;

// Letters as written on any keyboard: wide ones, with or without accents, and in capitals, where the Turkish i's meet.
function plain(text: string): string {
  return text
    .replaceAll(EMOJI, " ")
    .normalize("NFKD")
    .replaceAll(INVISIBLE_OR_ACCENT, "")
    .toUpperCase()
    .replaceAll(BETWEEN_WORDS, " ")
    .trim();
}
