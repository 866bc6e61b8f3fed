import type { AccountCatalog, Catalog } from "../../records/catalog.ts";
import { composedFor, type Composition, type Draft } from "../../channels/draft.ts";
import type { MediaProbe } from "../../egress/media-probe.ts";
import type { CatalogRecord } from "../../model/catalog.ts";
import { FAILURES, type MessageContent, type RouteClass, type SmsLimits } from "../../model/message.ts";
import { Problem } from "../../model/problem.ts";
import type { ContactStore } from "../../store/contacts.ts";
import type { InboundStore } from "../../store/inbound.ts";
import type { MessageStore } from "../../store/store.ts";
import type { GroupCommit } from "../group-commit.ts";
import { routesFor } from "../dispatch/choose-route.ts";
import type { MediaFinder } from "./stored-media.ts";
import { checkPolicies, type CheckPoliciesDeps, type OwnFacts, type PolicySubject } from "../policy/check.ts";
import type { PolicyDecision } from "../policy/policies.ts";

export interface PrepareDeps extends CheckPoliciesDeps {
  catalog: Catalog;
  store: Pick<InboundStore, "lastInboundAt" | "lastInboundOfEach" | "findInbound"> &
    Pick<MessageStore, "findMessage" | "findCarrierMessageId"> &
    Pick<ContactStore, "findContacts">;
  commits: Pick<GroupCommit, "optedOut">;
  media: MediaProbe;
  library: MediaFinder;
  smsRules: SmsLimits;
  /** The longest time a message may wait to be sent. */
  validityMs: Readonly<Record<RouteClass, number>>;
  /** URL before the code of a short link. */
  shortLinkBase(): string;
}

/** A request that is ready to be stored, or to be shown as a preview. */
export interface Prepared<D extends Draft = Draft, C extends MessageContent = MessageContent> extends Composition<C> {
  subject: PolicySubject<D>;
  /** URLs to shorten in the text. */
  targets: readonly string[];
  /** By index of the recipient. */
  verdicts: readonly RecipientVerdict[];
}

export interface RecipientVerdict {
  decisions: readonly PolicyDecision[];
  failure: keyof typeof FAILURES | null;
  /** The end of the hold; null means that it is sent at the time of the request. */
  heldUntil: number | null;
  credits: number;
}

/** A request as its endpoint knows it, without the account's records. */
export type Request<D extends Draft> = Omit<PolicySubject<D>, "catalog">;

/** Evaluates the policies for every recipient. Next: src/pipeline/policy/check.ts */
export async function checkEachRecipient(
  deps: PrepareDeps,
  sending: PolicySubject,
  composition: Composition,
  factsOf: (place: number) => OwnFacts = () => NO_FACTS,
): Promise<readonly RecipientVerdict[]> {
  const { draft, dryRun, catalog } = sending;
  refuseEndedCampaign(sending);
  if (!dryRun) noteCampaign(deps.catalog, sending);
  const optedOut = draft.routeClass === "PROMO" ? await askOptOuts(deps, sending) : [];
  return draft.recipients.map((recipient, place): RecipientVerdict => {
    const composed = composedFor(composition, place);
    const decisions = checkPolicies(deps, sending, recipient, composed, {
      ...factsOf(place),
      optedOut: optedOut[place] ?? false,
    });
    return {
      decisions,
      failure: decisions.at(-1)?.failure ?? null,
      heldUntil: decisions.findLast(({ until }) => until !== undefined)?.until ?? null,
      credits: creditsFor(catalog, draft.routeClass, recipient.number, composed.segments),
    };
  });
}

/** The price in whole credits: segments times the price of the class and the longest matching prefix. */
function creditsFor({ prices }: AccountCatalog, routeClass: RouteClass, recipient: string, segments: number): number {
  for (const { content } of prices) {
    if (content.routeClass !== null && content.routeClass !== routeClass) continue;
    if (recipient.startsWith(content.prefix)) return segments * content.creditsPerSegment;
  }
  return segments;
}

/** Refuses a request for a single blocked recipient; with several recipients, each has its own record. */
export function refuseSingle({ subject: { draft }, verdicts }: Prepared): void {
  const [only] = verdicts;
  if (!only || draft.recipients.length > 1) return;
  const { failure } = only;
  const parameter = draft.channel === "rcs" && !("ways" in draft) ? "number" : "to";
  if (failure === "COUNTRY_NOT_ALLOWED" || failure === "RECIPIENT_OPTED_OUT")
    throw new Problem(failure, { faults: [{ parameter, message: FAILURES[failure] }] });
}

/** Names of the policies that would refuse or hold a message on a real carrier, separated by commas. */
export function notedPolicies({ verdicts }: Pick<Prepared, "verdicts">): string {
  const noted = new Set<string>();
  for (const { decisions } of verdicts)
    for (const { policy, verdict } of decisions) if (verdict === "noted") noted.add(policy);
  return [...noted].join(", ");
}

/** True if unknown names of a request become learned records: only if all its routes lead to the simulator. */
export function mayLearn({ account, test, simulated, catalog, draft, isTrial }: PolicySubject): boolean {
  if (account.settings.records !== "learn") return false;
  if (test || simulated) return true;
  const { channel, routeClass, sender, recipients } = draft;
  const isSimulated = ({ content }: CatalogRecord<"route">): boolean => catalog.isSimulated(content.carrier);
  const hasReal = !isTrial && catalog.realChannels.has(channel);
  // Fast path: with simulated routes only, no recipient has to be checked.
  if (!hasReal && catalog.liveRoutes(channel).every(isSimulated)) return true;
  return recipients.every(({ number }) => {
    const routes = routesFor(catalog, { channel, routeClass, sender, recipient: number });
    // Without a route, the message waits for one to the account's real carrier.
    return routes.every(isSimulated) && (routes.length > 0 || !hasReal);
  });
}

const NO_FACTS: OwnFacts = {};

function refuseEndedCampaign({ catalog, draft: { campaignName } }: PolicySubject): void {
  if (campaignName === null || catalog.named("campaign").get(campaignName)?.content.status !== "cancelled") return;
  const message = `The campaign ${JSON.stringify(campaignName)} was cancelled: use another name.`;
  throw new Problem("INVALID_REQUEST", { faults: [{ parameter: "campaignName", message }] });
}

/** The first live message creates its campaign, on any carrier. */
function noteCampaign(catalog: Catalog, { account, test, draft: { campaignName } }: PolicySubject): void {
  if (test || campaignName === null || catalog.of(account.id).named("campaign").has(campaignName)) return;
  catalog.learn(account.id, "campaign", campaignName, { status: "running", pausedAt: null, pausedMs: 0 });
}

const askOptOuts = ({ commits }: PrepareDeps, { account, draft, test }: PolicySubject): Promise<readonly boolean[]> =>
  commits.optedOut.add({ accountId: account.id, numbers: draft.recipients.map(({ number }) => number), test });
