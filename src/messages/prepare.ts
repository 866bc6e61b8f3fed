import type { Catalog } from "../catalog/catalog.ts";
import { composedFor, type Composition, type Draft } from "../channels/draft.ts";
import type { SmsRules } from "../channels/sms/read.ts";
import type { MediaProbe } from "../egress/media-probe.ts";
import { FAILURES, type MessageContent, type RouteClass } from "../model/message.ts";
import { Problem } from "../model/problem.ts";
import type { InboundStore } from "../store/inbound-store.ts";
import type { GroupCommit } from "../work/group-commit.ts";
import { isSimulated, routesFor } from "./choose-route.ts";
import { judge, type JudgeNeeds, type Judgement, type Sending } from "./judge.ts";
import { creditsFor } from "./price.ts";

export interface PrepareNeeds extends JudgeNeeds {
  catalog: Catalog;
  store: Pick<InboundStore, "lastInboundAt">;
  commits: Pick<GroupCommit, "optedOut">;
  media: MediaProbe;
  smsRules: SmsRules;
  /** How long a message may wait to be sent. */
  validityMs: Readonly<Record<RouteClass, number>>;
  /** What stands before the code of a short link. */
  shortLinkBase(): string;
}

/** A request that is ready to be stored, or shown to whoever only asks. */
export interface Prepared<D extends Draft = Draft, C extends MessageContent = MessageContent> extends Composition<C> {
  sending: Sending<D>;
  /** Addresses to be shortened in the text. */
  targets: readonly string[];
  /** By the recipients' places. */
  verdicts: readonly RecipientVerdict[];
}

export interface RecipientVerdict {
  judgements: readonly Judgement[];
  failure: keyof typeof FAILURES | null;
  /** Until when it is held; null means it may go when the request says. */
  heldUntil: number | null;
  credits: number;
}

/** What a door knows of a request: all but the account's records, which are looked up here. */
export type Request<D extends Draft> = Omit<Sending<D>, "catalog">;

/** Asks every policy about every recipient of what has been composed. Next: src/messages/judge.ts */
export async function judgeEach(
  needs: PrepareNeeds,
  sending: Sending,
  composition: Composition,
): Promise<readonly RecipientVerdict[]> {
  const { draft, dryRun, catalog } = sending;
  refuseEndedCampaign(sending);
  if (!dryRun) noteCampaign(needs.catalog, sending);
  const optedOut = draft.routeClass === "PROMO" ? await askOptOuts(needs, sending) : [];
  return draft.recipients.map((recipient, place): RecipientVerdict => {
    const composed = composedFor(composition, place);
    const judgements = judge(needs, sending, recipient, composed, optedOut[place] ?? false);
    return {
      judgements,
      failure: judgements.at(-1)?.failure ?? null,
      heldUntil: judgements.findLast(({ until }) => until !== undefined)?.until ?? null,
      credits: creditsFor(catalog, draft.routeClass, recipient.number, composed.segments),
    };
  });
}

/** One recipient who may not be written to is the caller's to know at once; among several, each has its record. */
export function refuseSingle({ sending: { draft }, verdicts }: Prepared): void {
  const [only] = verdicts;
  if (!only || draft.recipients.length > 1) return;
  const { failure } = only;
  const parameter = draft.channel === "rcs" ? "number" : "to";
  if (failure === "COUNTRY_NOT_ALLOWED" || failure === "RECIPIENT_OPTED_OUT")
    throw new Problem(failure, { faults: [{ parameter, message: FAILURES[failure] }] });
}

/** The policies that would have refused or held somebody on a real carrier, with commas between them. */
export function notedPolicies({ verdicts }: Pick<Prepared, "verdicts">): string {
  const noted = new Set<string>();
  for (const { judgements } of verdicts)
    for (const { policy, verdict } of judgements) if (verdict === "noted") noted.add(policy);
  return [...noted].join(", ");
}

/** Whether names that nobody authored are taken from a request: every way it could take has to end in the simulator. */
export function mayLearn({ account, test, catalog, draft }: Sending): boolean {
  if (account.settings.records !== "learn") return false;
  // Most accounts have simulated routes alone or real ones alone, and need not look at each recipient.
  if (test || catalog.routes.every(({ content }) => isSimulated(catalog, content.carrier))) return true;
  const { channel, routeClass, sender, recipients } = draft;
  return recipients.every(({ number }) =>
    routesFor(catalog, { channel, routeClass, sender, recipient: number }).every(({ content }) =>
      isSimulated(catalog, content.carrier),
    ),
  );
}

function refuseEndedCampaign({ catalog, draft: { campaignName } }: Sending): void {
  if (campaignName === null || catalog.named("campaign").get(campaignName)?.content.status !== "cancelled") return;
  const message = `The campaign ${JSON.stringify(campaignName)} was cancelled: use another name.`;
  throw new Problem("INVALID_REQUEST", { faults: [{ parameter: "campaignName", message }] });
}

/** A campaign begins with its first message, on any carrier: there is no other way to make one. */
function noteCampaign(catalog: Catalog, { account, draft: { campaignName } }: Sending): void {
  if (campaignName === null || catalog.of(account.id).named("campaign").has(campaignName)) return;
  catalog.learn(account.id, "campaign", campaignName, { status: "running", pausedAt: null, pausedMs: 0 });
}

const askOptOuts = ({ commits }: PrepareNeeds, { account, draft }: Sending): Promise<readonly boolean[]> =>
  commits.optedOut.add({ accountId: account.id, numbers: draft.recipients.map(({ number }) => number) });
