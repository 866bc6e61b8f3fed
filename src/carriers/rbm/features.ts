import type { RcsContent, Suggestion } from "../../model/rcs.ts";

/** A feature of phones: its name on the platform, and what a phone without it cannot show, in words. */
interface Feature {
  name: string;
  words: string;
  isUsedBy(content: RcsContent): boolean;
}

/**
 * Features without which a message cannot be shown. A phone that lists none of the features of actions has an old client that
 * does not report them, and still shows the actions.
 */
const KINDS: readonly Feature[] = [
  { name: "RICHCARD_STANDALONE", words: "cards", isUsedBy: ({ kind }) => kind === "card" },
  { name: "RICHCARD_CAROUSEL", words: "several cards", isUsedBy: ({ kind }) => kind === "carousel" },
];

const action = (name: string, words: string, isMeant: (suggestion: Suggestion) => boolean): Feature => ({
  name: `ACTION_${name}`,
  words,
  isUsedBy: ({ suggestions, cards }) =>
    suggestions.some(isMeant) || cards.some((card) => card.suggestions.some(isMeant)),
});

const ACTIONS: readonly Feature[] = [
  action("DIAL", "a call button", ({ type }) => type === "dial"),
  action("OPEN_URL", "a link", ({ type }) => type === "url"),
  action("VIEW_LOCATION", "a location", ({ type }) => type === "viewLocation"),
  action("SHARE_LOCATION", "a button that shares the location", ({ type }) => type === "shareLocation"),
  action("CREATE_CALENDAR_EVENT", "a calendar event", ({ type }) => type === "calendar"),
];

/** The first thing in a message that a phone cannot show, in words; null if it shows everything. */
export function missingFeature(content: RcsContent, features: ReadonlySet<string>): string | null {
  const reportsActions = ACTIONS.some(({ name }) => features.has(name));
  const needed = reportsActions ? [...KINDS, ...ACTIONS] : KINDS;
  return needed.find(({ name, isUsedBy }) => !features.has(name) && isUsedBy(content))?.words ?? null;
}
