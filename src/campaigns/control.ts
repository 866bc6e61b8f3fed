import { newId } from "../lib/ids.ts";
import { joinWithOr } from "../lib/text.ts";
import type { Account } from "../model/account.ts";
import type { Audience } from "../model/audience.ts";
import {
  CAMPAIGN_ACTIONS,
  CAMPAIGN_STATES,
  type Campaign,
  type CampaignAction,
  type CampaignState,
} from "../model/campaign.ts";
import type { CampaignContent, CatalogRecord } from "../model/catalog.ts";
import { Problem, refuseFaults } from "../model/problem.ts";
import type { PrepareDeps } from "../pipeline/accept/prepare.ts";
import { changeCampaign, type CampaignDeps } from "../pipeline/campaigns.ts";
import { cancelMessage, type CancelDeps } from "../pipeline/cancel.ts";
import type { AudienceStore } from "../store/audiences.ts";
import type { CampaignStore } from "../store/campaigns.ts";
import { messageFaults } from "./message-faults.ts";
import { prepareFitting } from "./prepare-fitting.ts";
import { requestsOf } from "./requests.ts";

export interface CampaignControlDeps extends CancelDeps {
  store: CampaignStore & Pick<AudienceStore, "findAudience" | "listAudienceRecipients"> & CancelDeps["store"];
  prepareDeps: PrepareDeps;
  campaignDeps: CampaignDeps;
}

const CANCEL_AT_ONCE = 500;

/** Schedules or starts a campaign, once its message can be sent to the first recipient of its audience. */
export async function startCampaign(
  deps: CampaignControlDeps,
  campaign: Campaign,
  account: Account,
  scheduledAt: number | null,
): Promise<void> {
  const action = scheduledAt === null ? "start" : "schedule";
  refuseState(campaign, action);
  const audience = await deps.store.findAudience({ accountId: campaign.accountId, id: campaign.audienceId });
  await refuseUnsendable(deps, campaign, account, audience);
  const at = deps.clock.now();
  const change = scheduledAt === null ? { at, nextAt: at } : { at, nextAt: scheduledAt, scheduledAt };
  await move(deps, campaign, action, scheduledAt === null ? "running" : "scheduled", change);
}

async function refuseUnsendable(
  { store, prepareDeps, clock }: CampaignControlDeps,
  campaign: Campaign,
  account: Account,
  audience: Audience | null,
): Promise<void> {
  if (!audience?.layout || audience.state !== "ready") {
    const state = audience ? `is ${audience.state}: wait until it is ready` : "is gone: choose another one";
    throw new Problem("INVALID_REQUEST", {
      faults: [{ parameter: "audienceId", message: `The audience ${state}.` }],
    });
  }
  refuseFaults(messageFaults(campaign.message, audience.layout, { limits: prepareDeps.smsRules, now: clock.now() }));
  const { rows } = await store.listAudienceRecipients({ accountId: campaign.accountId, id: campaign.audienceId }, 0, 1);
  if (rows.length === 0)
    throw new Problem("INVALID_REQUEST", {
      faults: [{ parameter: "audienceId", message: "The audience has no recipients." }],
    });
  const requests = requestsOf(prepareDeps, campaign, audience.layout);
  try {
    // A recipient whose values do not fit is skipped, here as later.
    await prepareFitting(prepareDeps, { account, test: campaign.test, dryRun: true }, requests, rows);
  } catch (error) {
    throw inFieldsOfCampaign(error);
  }
}

/** The field of a campaign that a field of a send comes from: its one recipient has values by the fields of all. */
const ownField = (parameter: string): string =>
  parameter === "campaignName" ? "name" : parameter.replace("recipients[0].", "");

export function inFieldsOfCampaign(error: unknown): unknown {
  if (!(error instanceof Problem)) return error;
  const faults = error.faults.map(({ parameter, message }) => ({ parameter: ownField(parameter), message }));
  return new Problem(error.code, { message: error.message, faults });
}

/** Stops the feed, then the messages that no carrier has yet. Repeating it is harmless, in case a response was lost. */
export async function pauseCampaign(deps: CampaignControlDeps, campaign: Campaign): Promise<void> {
  if (campaign.state !== "paused") {
    await move(deps, campaign, "pause", "paused", { at: deps.clock.now() });
  }
  await changeName(deps, campaign, "paused");
}

/** The messages first: an interruption leaves the campaign paused, and it can be resumed again. */
export async function resumeCampaign(deps: CampaignControlDeps, campaign: Campaign): Promise<void> {
  refuseState(campaign, "resume");
  await changeName(deps, campaign, "running");
  // A throttled campaign waits for its next batch as if it had not paused.
  await move(deps, campaign, "resume", "running", { at: deps.clock.now() });
}

/**
 * Stops the feed for good, cancels the messages that no carrier has yet, and keeps the others from their next ways. Repeating
 * it is harmless.
 */
export async function cancelCampaign(deps: CampaignControlDeps, campaign: Campaign): Promise<void> {
  if (campaign.state !== "cancelled") await move(deps, campaign, "cancel", "cancelled", { at: deps.clock.now() });
  const current = await deps.store.findCampaign(campaign);
  // A campaign that never started has no messages, and no status under its name.
  if (!current || current.startedAt === null) return;
  if (current.test) await cancelTestMessages(deps, current);
  else await changeName(deps, current, "cancelled");
}

/** By its messages and not by its name: a test key must not stop live messages under the same name. */
async function cancelTestMessages(deps: CampaignControlDeps, campaign: Campaign): Promise<void> {
  for (;;) {
    const waiting = await deps.store.listWaitingMessages(campaign, CANCEL_AT_ONCE);
    const results = await Promise.all(waiting.map((ref) => cancelMessage(deps, ref)));
    if (!results.some((result) => result && result.cancelled > 0)) return;
  }
}

async function changeName(
  { campaignDeps, clock }: CampaignControlDeps,
  { accountId, name, test }: Campaign,
  status: CampaignContent["status"],
): Promise<void> {
  if (test) return;
  const now = clock.now();
  const record: CatalogRecord<"campaign"> = {
    accountId,
    kind: "campaign",
    id: newId(now),
    name,
    origin: "authored",
    content: { status: "running", pausedAt: null, pausedMs: 0 },
    createdAt: now,
    updatedAt: now,
  };
  await changeCampaign(campaignDeps, record, status);
}

async function move(
  { store }: CampaignControlDeps,
  campaign: Campaign,
  action: CampaignAction,
  to: CampaignState,
  change: Parameters<CampaignStore["moveCampaign"]>[3],
): Promise<void> {
  if (await store.moveCampaign(campaign, statesFor(action, campaign), to, change)) return;
  const current = await store.findCampaign(campaign);
  if (!current) throw new Problem("RECORD_NOT_FOUND");
  // Another request may have made the same change.
  if (current.state !== to) throw stateProblem(current.state);
}

/** The messages of a finished campaign with several ways may still take their next ones. */
const statesFor = (action: CampaignAction, { message }: Campaign): readonly CampaignState[] =>
  action === "cancel" && message.ways !== null ? [...CAMPAIGN_ACTIONS.cancel, "finished"] : CAMPAIGN_ACTIONS[action];

function refuseState({ state }: Campaign, action: CampaignAction): void {
  if (!(CAMPAIGN_ACTIONS[action] as readonly CampaignState[]).includes(state)) throw stateProblem(state);
}

/** Names the state and the actions that it allows. */
export function stateProblem(state: CampaignState): Problem {
  return new Problem("CAMPAIGN_STATE", { message: `The campaign is ${state}: you can ${POSSIBLE[state]} it.` });
}

const actionsIn = (state: CampaignState): string => {
  const actions = (Object.keys(CAMPAIGN_ACTIONS) as CampaignAction[]).filter((action) =>
    (CAMPAIGN_ACTIONS[action] as readonly CampaignState[]).includes(state),
  );
  return joinWithOr([...(state === "draft" ? ["change"] : []), ...actions, "duplicate"]);
};
const POSSIBLE = Object.fromEntries(CAMPAIGN_STATES.map((state) => [state, actionsIn(state)])) as Record<
  CampaignState,
  string
>;
