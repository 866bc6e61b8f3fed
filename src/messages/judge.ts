import type { AccountCatalog } from "../catalog/catalog.ts";
import type { Composed, Draft, DraftRecipient } from "../channels/draft.ts";
import type { Clock } from "../lib/clock.ts";
import type { Account } from "../model/account.ts";
import { FAILURES, wordsOf } from "../model/message.ts";
import type { PolicyName, TrailEntry, Verdict } from "../model/trail.ts";
import { countryOf, isPossible } from "../policies/country.ts";
import type { FloodFilter } from "../policies/flood.ts";
import { quietUntil } from "../policies/quiet-hours.ts";
import { zonesOf } from "../policies/zones.ts";
import { isSimulated, quietHoursOf, routesFor } from "./choose-route.ts";
import { fallbackOf } from "./fall-back.ts";

export interface JudgeNeeds {
  clock: Clock;
  flood: FloodFilter;
}

/** What all recipients of a request have in common. */
export interface Sending<D extends Draft = Draft> {
  account: Account;
  catalog: AccountCatalog;
  /** Sent with a test key: it goes to the simulator whatever the routes say. */
  test: boolean;
  draft: D;
  /** Only looked at, as for a preview: it must not count as a message. */
  dryRun: boolean;
}

type Failure = keyof typeof FAILURES;

/** One policy's word on one recipient. */
export interface Judgement {
  policy: PolicyName;
  verdict: Verdict;
  detail: string;
  /** Why it fails, when it does. */
  failure?: Failure;
  /** Until when it is held, when it is. */
  until?: number;
}

/**
 * Asks every policy about one recipient; the first that refuses has the last word. Limits that guard money and people bind on
 * real carriers; on a simulated one they are only noted, unless the account wants otherwise.
 * Next: src/messages/accept.ts
 */
export function judge(
  needs: JudgeNeeds,
  sending: Sending,
  recipient: DraftRecipient,
  composed: Composed,
  optedOut: boolean,
): Judgement[] {
  const { account, catalog, test, draft } = sending;
  const { settings } = account;
  if (recipient.failure) return [refusal("number", recipient.failure, FAILURES[recipient.failure])];

  const { number } = recipient;
  const { channel, routeClass, sender } = draft;
  const routable = { channel, routeClass, sender, recipient: number };
  const fallback = fallbackOf(composed);
  const own = test ? [] : routesFor(catalog, routable);
  // Without a route of its own, a message goes the way of the text that was given for this case.
  const routes =
    own.length > 0 || test || !fallback
      ? own
      : routesFor(catalog, { ...routable, channel: "sms", sender: fallback.sender });
  if (!test && routes.length === 0) return [refusal("route", "NO_ROUTE", noRoute(catalog))];
  const binding =
    settings.limits === "everywhere" || routes.some(({ content }) => !isSimulated(catalog, content.carrier));
  const said: Judgement[] = [];

  if (settings.allowedCountries) {
    const country = countryOf(number) ?? "unknown";
    if (!settings.allowedCountries.includes(country))
      return [
        ...said,
        refusal("country", "COUNTRY_NOT_ALLOWED", `${country} is not among ${settings.allowedCountries.join(", ")}`),
      ];
    said.push({ policy: "country", verdict: "passed", detail: country });
  }
  if (routeClass === "PROMO") {
    if (optedOut) return [...said, refusal("opt-out", "RECIPIENT_OPTED_OUT", "The number is on the opt-out list")];
    said.push({ policy: "opt-out", verdict: "passed", detail: "Not on the list" });
  }
  if (!isPossible(number)) {
    const detail = "No country gives out such a number";
    if (binding) return [...said, refusal("number", "INVALID_RECIPIENT", detail)];
    said.push({ policy: "number", verdict: "noted", detail });
  }
  const flood = judgeFlood(needs, sending, number, wordsOf(composed.content));
  if (flood && binding) return [...said, refusal("same text", "SAME_TEXT_FLOOD", flood)];
  if (flood) said.push({ policy: "same text", verdict: "noted", detail: flood });
  const quiet = quietHoursOf(routes);
  if (quiet && routeClass === "PROMO") {
    const until = quietUntil(quiet, zonesOf(number), draft.sendAt ?? needs.clock.now());
    const detail = `${quiet.from} to ${quiet.to} where the recipient is`;
    if (until === null) said.push({ policy: "quiet hours", verdict: "passed", detail });
    else said.push({ policy: "quiet hours", detail, ...(binding ? { verdict: "held", until } : { verdict: "noted" }) });
  }
  return said;
}

function judgeFlood(
  { flood, clock }: JudgeNeeds,
  { account, dryRun }: Sending,
  number: string,
  text: string,
): string | null {
  const { sameText } = account.settings;
  if (!sameText || dryRun) return null;
  const count = flood.ask(account.id, number, text, sameText.windowSeconds * 1000, clock.now());
  if (count <= sameText.max) return null;
  return `The same text ${count} times within ${sameText.windowSeconds} s; ${sameText.max} are allowed`;
}

const noRoute = ({ routes }: AccountCatalog): string =>
  routes.length === 0 ? "The account has no route that is switched on" : `None of ${routes.length} routes matches`;

const refusal = (policy: PolicyName, failure: Failure, detail: string): Judgement => ({
  policy,
  verdict: "refused",
  detail,
  failure,
});

/** A judgement as a step of the message's trail. */
export const trailOf = ({ policy, verdict, detail, until }: Judgement, at: number): TrailEntry => ({
  at,
  step: "policy",
  policy,
  verdict,
  detail: until === undefined ? detail : `${detail}; held until ${new Date(until).toISOString()}`,
});
