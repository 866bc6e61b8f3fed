import type { Clock } from "../lib/clock.ts";
import { LETTERS_AND_DIGITS, randomText } from "../lib/random.ts";
import type { Account } from "../model/account.ts";
import type { AudienceLayout, AudienceRecipient } from "../model/audience.ts";
import { BATCH_PATH, batchKeyOf, RECIPIENT_ZONE, type Campaign, type SendWindow } from "../model/campaign.ts";
import type { CampaignContent } from "../model/catalog.ts";
import { Problem } from "../model/problem.ts";
import { accept, earlierAnswer, type AcceptDeps } from "../pipeline/accept/accept.ts";
import type { PrepareDeps } from "../pipeline/accept/prepare.ts";
import { cancelMessage, type CancelDeps } from "../pipeline/cancel.ts";
import { quietUntil } from "../pipeline/policy/quiet-hours.ts";
import type { AudienceStore } from "../store/audiences.ts";
import type { CampaignStore, FedBatch } from "../store/campaigns.ts";
import { holdByLocalWindow } from "./local-window.ts";
import { messageFaults } from "./message-faults.ts";
import { prepareFitting } from "./prepare-fitting.ts";
import { requestsOf, type CampaignRequests } from "./requests.ts";

export interface CampaignFeedDeps {
  store: CampaignStore & Pick<AudienceStore, "findAudience" | "listAudienceRecipients"> & CancelDeps["store"];
  prepareDeps: PrepareDeps;
  acceptDeps: AcceptDeps;
  accountOf(accountId: number): Account | null;
  clock: Clock;
}

/** A process that stops feeding a campaign loses it to another one after this time. */
const CLAIM_MS = 10_000;
/** A run ends after this time, so that campaigns take turns and a shutdown does not wait. */
const RUN_MS = 400;
/** Recipients of a batch. One-time passwords wait for at most one. */
const BATCH_SIZE = 200;
/** After a temporary failure, such as an overloaded node. */
const RETRY_MS = 1000;
/** Interval of looking for the last messages of a campaign; a campaign that waits long is looked at less often. */
const WAITING_MS = { least: 1000, most: 30_000 } as const;
/** Messages of a campaign that may wait for their carrier: few leave after the end of its window. */
const DUE_MAX = 2000;
/** Pause of the feed of a campaign with that many. */
const BUSY_MS = 200;
/** A throttled campaign that fell behind catches up at most this much. */
const CATCH_UP_MS = 1000;
const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;

/**
 * The job that feeds the recipients of campaigns into the send pipeline, in batches. A campaign is claimed by one process at a
 * time. Each batch is a request whose idempotency key is the row before it, so a batch that a crash interrupts is neither lost nor
 * accepted twice, also if two processes take themselves for the owner.
 */
export function createCampaignFeed(deps: CampaignFeedDeps): () => Promise<number | undefined> {
  const { store, clock } = deps;
  const claim = randomText(LETTERS_AND_DIGITS, 16);
  const until = (): number => clock.now() + CLAIM_MS;

  async function feed(claimed: Campaign): Promise<void> {
    const startedAt = clock.monotonic();
    let isFirst = true;
    for (let current: Campaign | null = claimed; current;) {
      const goesOn: boolean = await feedBatch(deps, current, isFirst, until);
      isFirst = false;
      if (!goesOn || clock.monotonic() - startedAt >= RUN_MS) return;
      current = await store.findClaimedCampaign(current, claim);
    }
  }

  return async () => {
    const now = clock.now();
    const campaign = await store.claimCampaign(claim, now, until());
    if (!campaign) return undefined;
    try {
      await feed(campaign);
    } catch (error) {
      // Otherwise a campaign that fails would be claimed again and again, before all others.
      await store.deferCampaign(campaign, clock.now() + RETRY_MS);
      if (!(error instanceof Problem)) throw error;
    }
    // A short rest, in which sends find the writer free.
    return 5;
  };
}

/** Feeds the next recipients; true if more can follow at once. */
async function feedBatch(
  deps: CampaignFeedDeps,
  campaign: Campaign,
  isFirst: boolean,
  until: () => number,
): Promise<boolean> {
  const { store, clock } = deps;
  if (isFirst && (await recordEarlier(deps, campaign, until))) return campaign.throttle === null;
  if (await followName(deps, campaign)) return false;
  if (campaign.isFed) {
    const waiting = await store.countCampaignMessages(campaign, ["accepted", "scheduled"], 1);
    if (waiting > 0) await store.deferCampaign(campaign, clock.now() + waitingMs(campaign, clock.now()));
    else await store.finishCampaign(campaign, clock.now());
    return false;
  }
  const now = clock.now();
  const isLocal = campaign.window?.zone === RECIPIENT_ZONE;
  const opensAt = campaign.window && !isLocal ? windowOpensAt(campaign.window, now) : null;
  if (opensAt !== null) {
    await store.deferCampaign(campaign, opensAt);
    return false;
  }
  const account = deps.accountOf(campaign.accountId);
  if (!account) throw new Problem("OVERLOADED", { message: "The account is not loaded yet." });
  const pause = async (code: string, message: string): Promise<false> => {
    await store.pauseByItself(campaign, { code, message }, now);
    return false;
  };
  if (account.suspended) return pause("ACCOUNT_SUSPENDED", "The account is suspended.");
  const layout = await layoutOf(deps, campaign, account);
  if (!layout) return pause("AUDIENCE_NOT_READY", AUDIENCE_GONE);
  // The audience may have been mapped again since the start.
  const [fault] = messageFaults(campaign.message, layout, { limits: deps.prepareDeps.smsRules, now });
  if (fault) return pause("INVALID_REQUEST", fault.message);
  if ((await store.countCampaignMessages(campaign, ["accepted"], DUE_MAX)) >= DUE_MAX) {
    await store.deferCampaign(campaign, now + BUSY_MS);
    return false;
  }
  const ref = { accountId: campaign.accountId, id: campaign.audienceId };
  const { rows } = await store.listAudienceRecipients(ref, campaign.position, batchSize(campaign.throttle));
  if (rows.length === 0) {
    // A deleted audience loses its recipients one after another.
    if (!(await layoutOf(deps, campaign, account))) return pause("AUDIENCE_NOT_READY", AUDIENCE_GONE);
    await store.markFed(campaign);
    return true;
  }
  try {
    const batch = await acceptBatch(deps, campaign, account, requestsOf(deps.prepareDeps, campaign, layout), rows);
    await recordBatch(deps, campaign, batch, until);
  } catch (error) {
    if (!(error instanceof Problem) || isTemporary(error)) throw error;
    const { code, faults } = error;
    return pause(code, [error.message, ...faults.map((each) => each.message)].join(" "));
  }
  return campaign.throttle === null;
}

const AUDIENCE_GONE = "The audience is gone or is checked again, so the remaining recipients are unknown.";

/** A twentieth of the time since the start: promotions may wait for the morning. */
const waitingMs = ({ startedAt }: Campaign, now: number): number =>
  Math.min(WAITING_MS.most, Math.max(WAITING_MS.least, (now - (startedAt ?? now)) / 20));

const isTemporary = ({ status, code }: Problem): boolean => status >= 500 || code === "IDEMPOTENCY_IN_PROGRESS";

/** The end of the hours outside the window; null inside it. */
const windowOpensAt = ({ from, to, zone }: SendWindow, now: number): number | null =>
  quietUntil({ from: to, to: from }, [zone], now);

/** A throttled campaign is fed evenly, in batches of about a second. */
const batchSize = (throttle: number | null): number =>
  throttle === null ? BATCH_SIZE : Math.min(BATCH_SIZE, Math.max(1, Math.floor(throttle / 3600)));

function nextBatchAt({ throttle }: Campaign, accepted: number, dueAt: number, now: number): number {
  if (throttle === null) return now;
  return Math.max(dueAt, now - CATCH_UP_MS) + Math.ceil((accepted * HOUR_MS) / throttle);
}

/** Null if the audience has other recipients than when the campaign began, or is about to lose them. */
async function layoutOf(
  { store, clock }: CampaignFeedDeps,
  { accountId, audienceId }: Campaign,
  { settings }: Account,
): Promise<AudienceLayout | null> {
  const audience = await store.findAudience({ accountId, id: audienceId });
  if (audience?.state !== "ready") return null;
  // Retention removes its recipients one after another, and then the audience.
  return audience.createdAt < clock.now() - settings.keepMessagesDays * DAY_MS ? null : audience.layout;
}

/** Records a batch that was accepted, before a crash or an error left the campaign at the row before it. */
async function recordEarlier(deps: CampaignFeedDeps, campaign: Campaign, until: () => number): Promise<boolean> {
  const earlier = await earlierAnswer(deps.acceptDeps, campaign.accountId, keyOf(campaign));
  if (earlier !== null) await recordBatch(deps, campaign, JSON.parse(earlier) as FedBatch, until);
  return earlier !== null;
}

const keyOf = ({ id, position }: Campaign) => ({ path: BATCH_PATH, key: batchKeyOf(id, position), body: {} });

async function acceptBatch(
  { prepareDeps, acceptDeps, clock }: CampaignFeedDeps,
  campaign: Campaign,
  account: Account,
  requests: CampaignRequests,
  rows: readonly AudienceRecipient[],
): Promise<FedBatch> {
  const sending = { account, test: campaign.test, dryRun: false };
  const { prepared: ready, skipped } = await prepareFitting(prepareDeps, sending, requests, rows);
  const isLocal = campaign.window?.zone === RECIPIENT_ZONE;
  const prepared = ready && campaign.window && isLocal ? holdByLocalWindow(ready, campaign.window, clock.now()) : ready;
  const batch = { from: campaign.position, to: rows.at(-1)?.row ?? campaign.position, skipped };
  if (!prepared) return { ...batch, accepted: 0, requestId: null };
  const accepted = prepared.subject.draft.recipients.length;
  const { answer } = await accept(acceptDeps, {
    prepared,
    idempotency: keyOf(campaign),
    flow: `campaign ${campaign.id}`,
    answer: (requestId) => JSON.stringify({ ...batch, accepted, requestId } satisfies FedBatch),
  });
  return JSON.parse(answer) as FedBatch;
}

/** A test campaign that was cancelled meanwhile has no cancelled name that would stop its messages. */
async function recordBatch(
  { store, acceptDeps, clock }: CampaignFeedDeps,
  campaign: Campaign,
  batch: FedBatch,
  until: () => number,
): Promise<void> {
  const at = nextBatchAt(campaign, batch.accepted, campaign.nextAt, clock.now());
  await store.recordBatch(campaign, batch, { at, claimedUntil: until() });
  const { requestId } = batch;
  if (!campaign.test || requestId === null) return;
  const now = await store.findCampaign(campaign);
  if (now?.state !== "cancelled") return;
  for (let n = 1; n <= batch.accepted; n += 1)
    await cancelMessage({ ...acceptDeps, store }, { accountId: campaign.accountId, requestId, n });
}

/**
 * Follows the status of the name, by which `/api/campaigns` pauses and cancels: true if the campaign must not go on. The record in
 * memory may be older than a resumption, so it is read again first.
 */
async function followName({ store, prepareDeps, clock }: CampaignFeedDeps, campaign: Campaign): Promise<boolean> {
  if (campaign.test) return false;
  const { catalog } = prepareDeps;
  const status = (): CampaignContent["status"] | undefined =>
    catalog.of(campaign.accountId).named("campaign").get(campaign.name)?.content.status;
  if ((status() ?? "running") === "running") return false;
  await catalog.refresh();
  const current = status() ?? "running";
  if (current === "running") return false;
  if (current === "paused") await store.pauseByItself(campaign, null, clock.now());
  else await store.followCampaignName(campaign.accountId, campaign.name, "cancelled", clock.now());
  return true;
}
