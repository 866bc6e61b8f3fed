import type { AccountCatalog } from "../../records/catalog.ts";
import type { Composed, Draft, DraftRecipient } from "../../channels/draft.ts";
import type { Clock } from "../../lib/clock.ts";
import type { Account } from "../../model/account.ts";
import { FAILURES, textOf } from "../../model/message.ts";
import type { DuplicateTextFilter } from "./duplicate-text.ts";
import { evaluatePolicies, refusal, type PolicyDecision, type PolicyFacts } from "./policies.ts";
import { quietHoursOf, routesFor, withheldRoutes, type Routable } from "../dispatch/choose-route.ts";
import { channelOf } from "../dispatch/fallback.ts";
import { fallbackOf } from "../../model/fallback.ts";

export interface CheckPoliciesDeps {
  clock: Clock;
  duplicateTexts: DuplicateTextFilter;
}

/** The facts that all recipients of a request share. */
export interface PolicySubject<D extends Draft = Draft> {
  account: Account;
  catalog: AccountCatalog;
  /** Sent with a test key: it goes to the simulator whatever the routes say, and test keys see it. */
  test: boolean;
  /** Sent to a test number of a verification configuration: it goes to the simulator, whichever key sent it. */
  simulated?: true;
  draft: D;
  /** For a preview: nothing is learned, counted or stored. */
  dryRun: boolean;
  /** A test send to one carrier: until a route leads to a real carrier, the sender need not be registered. */
  isTrial?: true;
}

/** Facts about one recipient that its channel finds out. */
export type OwnFacts = Pick<PolicyFacts, "media" | "lastWrittenAt">;

/**
 * Evaluates every policy for one recipient at acceptance. Limits that protect money and people bind on real carriers; on a
 * simulated one they are only noted, unless the account has `limits: everywhere`.
 * Next: src/pipeline/accept/accept.ts
 */
export function checkPolicies(
  deps: CheckPoliciesDeps,
  subject: PolicySubject,
  recipient: DraftRecipient,
  composed: Composed,
  facts: OwnFacts & { optedOut: boolean },
): PolicyDecision[] {
  if (recipient.failure) return [refusal("number", recipient.failure, FAILURES[recipient.failure])];
  const { account, catalog, draft } = subject;
  const { settings } = account;
  const { number } = recipient;
  const { channel, routeClass, sender } = draft;
  const routable = { channel, routeClass, sender, recipient: number };
  const isSimulatorOnly = subject.test || subject.simulated === true;
  const routes = isSimulatorOnly ? [] : routesWithFallback(catalog, routable, composed);
  const isWaitingForRoute = !isSimulatorOnly && routes.length === 0;
  if (isWaitingForRoute && withheldRoutes(catalog, routable).length === 0)
    return [refusal("route", "NO_ROUTE", noRoute(catalog, routable))];
  return evaluatePolicies({
    number,
    routeClass,
    at: draft.sendAt ?? deps.clock.now(),
    binding:
      settings.limits === "everywhere" ||
      isWaitingForRoute ||
      routes.some(({ content }) => !catalog.isSimulated(content.carrier)),
    allowedCountries: settings.allowedCountries,
    ...facts,
    isNumberUnchecked: true,
    sameText: countSameText(deps, subject, number, composed),
    quietHours: quietHoursOf(routes),
  });
}

/** Without a route of its own, a message takes the routes of its first fallback that has some. */
function routesWithFallback(
  catalog: AccountCatalog,
  routable: Routable,
  composed: Composed,
): ReturnType<typeof routesFor> {
  let routes = routesFor(catalog, routable);
  let fallback = fallbackOf(composed);
  while (routes.length === 0 && fallback) {
    routes = routesFor(catalog, { ...routable, channel: channelOf(fallback), sender: fallback.sender });
    fallback = fallbackOf(fallback);
  }
  return routes;
}

function countSameText(
  { duplicateTexts, clock }: CheckPoliciesDeps,
  { account, dryRun, test }: PolicySubject,
  number: string,
  { content }: Composed,
): NonNullable<PolicyFacts["sameText"]> | null {
  const { sameText } = account.settings;
  if (!sameText || dryRun) return null;
  const { max, windowSeconds } = sameText;
  const key = duplicateTextKey(textOf(content), test);
  return { count: duplicateTexts.ask(account.id, number, key, windowSeconds * 1000, clock.now()), max, windowSeconds };
}

/** Test traffic is counted apart. No text contains NUL, so a prefix of NUL cannot collide. */
export const duplicateTextKey = (text: string, test: boolean): string => (test ? `\0${text}` : text);

function noRoute(catalog: AccountCatalog, { channel }: Routable): string {
  const { length } = catalog.routes;
  if (length === 0) return "The account has no route that is switched on";
  const none = `None of ${length} ${length === 1 ? "route" : "routes"} matches`;
  return catalog.realChannels.has(channel)
    ? `${none}; one to the simulator takes live messages only with simulateLive, as there is a real carrier for ${channel}`
    : none;
}
