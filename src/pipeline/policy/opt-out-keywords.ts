import type { AccountSettings } from "../../model/account.ts";
import type { KeywordRule } from "../../model/keyword-rule.ts";
import { countryOf } from "./country.ts";

type KeywordName = "stop" | "start" | "help" | "confirm";

/** A keyword of an inbound text, with the rule that decides about it; null where the account has no rule for it. */
export interface FoundKeyword {
  name: KeywordName;
  rule: KeywordRule | null;
}

/** The parties of an inbound text. */
interface Parties {
  /** The user: digits, without plus. */
  from: string;
  to: string;
}

type KeywordSettings = Pick<AccountSettings, "stopWords" | "startWords" | "keywordRules">;

/** Counts as a stop word under every rule: a rule for another language must not lose it. */
const STOP = ["STOP"];
const NAMES = ["stop", "start", "help", "confirm"] as const;

/**
 * The keyword of an inbound text, if the text is nothing else: "please stop by tomorrow" is no opt-out. A word in several
 * lists means stop, which is the harmless mistake. Of the rules that apply, the first with the word decides.
 */
export function readKeyword(text: string, settings: KeywordSettings, parties: Parties): FoundKeyword | null {
  const said = plain(text);
  if (said === "") return null;
  const rules = rulesFor(settings.keywordRules, parties);
  for (const name of NAMES)
    for (const rule of rules.length > 0 ? rules : [null])
      if (wordsOf(name, settings, rule).some((list) => plainWords(list).has(said))) return { name, rule };
  return null;
}

/** Rules for the number come before those for the country, and both before the others: only the first group counts. */
function rulesFor(rules: readonly KeywordRule[], { from, to }: Parties): readonly KeywordRule[] {
  if (rules.length === 0) return rules;
  const country = countryOf(from) ?? "";
  const fitting = rules.filter(
    ({ numbers, countries }) =>
      (numbers === null || numbers.some((number) => isSameNumber(number, to))) &&
      (countries === null || countries.includes(country)),
  );
  const groups = [
    fitting.filter(({ numbers }) => numbers !== null),
    fitting.filter(({ countries }) => countries !== null),
    fitting,
  ];
  return groups.find((group) => group.length > 0) ?? [];
}

/** Business numbers have a plus, and carriers give the same number without one. */
const isSameNumber = (one: string, other: string): boolean => one.replace(/^\+/, "") === other.replace(/^\+/, "");

function wordsOf(
  name: KeywordName,
  { stopWords, startWords }: KeywordSettings,
  rule: KeywordRule | null,
): readonly (readonly string[])[] {
  if (name === "stop") return rule ? [rule.stopWords ?? stopWords, STOP] : [stopWords];
  if (name === "start") return [rule?.startWords ?? startWords];
  if (rule === null) return [];
  return name === "help" ? [rule.helpWords] : rule.confirmReply === null ? [] : [rule.confirmWords];
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
