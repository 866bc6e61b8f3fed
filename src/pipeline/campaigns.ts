import type { Catalog } from "../records/catalog.ts";
import type { Clock } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";
import { PAUSED_MS, type CampaignContent, type CatalogRecord } from "../model/catalog.ts";
import { unsentEnd } from "../model/message.ts";
import { Problem } from "../model/problem.ts";
import { encodeTimeline } from "../model/timeline.ts";
import type { CatalogStore } from "../store/catalog.ts";
import { UNOWNED, type MessageStore, type StoredMessage } from "../store/store.ts";
import type { Deferred, Ended } from "../store/transition.ts";
import { forEachIsolated } from "../cluster/for-each-isolated.ts";
import type { GroupCommit } from "./group-commit.ts";
import type { StopGuard } from "./dispatch/stop-guard.ts";

export interface CampaignDeps {
  store: Pick<MessageStore, "listCampaignMessages"> & Pick<CatalogStore, "changeCatalogRecord" | "insertCatalogRecord">;
  catalog: Catalog;
  commits: GroupCommit;
  clock: Clock;
  stopGuard: Pick<StopGuard, "waitUntilEffective">;
}

type Campaign = CatalogRecord<"campaign">;

const AT_ONCE = 500;
/** Batches that are written before the caller gets its answer; the job writes the rest. */
const BATCHES_BEFORE_ANSWER = 20;
/** The job looks at campaigns that changed within this time. */
const RECENT_MS = 86_400_000;

/**
 * Pauses, resumes or cancels a campaign. Once this resolves, a pause or a cancellation is effective on every node. Messages
 * that were written to a carrier before cannot be recalled. A cancelled campaign stays cancelled.
 */
export async function changeCampaign(
  deps: CampaignDeps,
  { accountId, name, ...asked }: Campaign,
  status: CampaignContent["status"],
): Promise<Campaign> {
  const { store, catalog, clock } = deps;
  const changed = await catalog.change(async (revision) => {
    // Another node may have learned the campaign a moment ago under another id.
    const current = catalog.of(accountId).named("campaign").get(name) ?? { accountId, name, ...asked };
    // Here and not before: a pause that was asked for together with the cancellation would revive the campaign.
    if (current.content.status === "cancelled" && status !== "cancelled") throw new Problem("CAMPAIGN_CANCELLED");
    const now = clock.now();
    const { pausedAt, pausedMs } = current.content;
    const content: CampaignContent = {
      status,
      pausedAt: status === "paused" ? (pausedAt ?? now) : null,
      pausedMs: status === "running" && pausedAt !== null ? now - pausedAt : pausedMs,
    };
    const campaign: Campaign = { ...current, origin: "authored", content, updatedAt: now };
    const found = await store.changeCatalogRecord(campaign, revision);
    // A node that was killed right after it accepted the first messages has not stored the record of their campaign.
    const result = found === "missing" ? await store.insertCatalogRecord(campaign, revision) : found;
    return result === "changed" || result === "inserted" ? campaign : "outdated";
  });
  if (status !== "running") await deps.stopGuard.waitUntilEffective({ accountId, campaignName: name });
  for (let round = 0; round < BATCHES_BEFORE_ANSWER; round += 1) if (!(await applyStatus(deps, changed))) break;
  return changed;
}

/** Applies the status of recently changed campaigns to messages that a crash or another node left out. */
export async function settleCampaigns(deps: CampaignDeps & { log: Log }): Promise<void> {
  const since = deps.clock.now() - RECENT_MS;
  await forEachIsolated(deps, "campaign-settlement", deps.catalog.all("campaign"), async (campaign) => {
    if (campaign.origin === "learned" || campaign.updatedAt < since) return;
    while (await applyStatus(deps, campaign));
  });
}

/** Applies the campaign's status to a batch of its messages; returns whether there may be more. */
async function applyStatus(deps: CampaignDeps, campaign: Campaign): Promise<boolean> {
  const { store, commits, clock } = deps;
  const { accountId, name, content } = campaign;
  const messages = await store.listCampaignMessages(accountId, name, wantedBy(content.status), AT_ONCE);
  const at = clock.now();
  const moves = messages.flatMap((message) => moveOf(message, content, at) ?? []);
  const results = await Promise.all(moves.map((move) => commits.move.add(move)));
  return messages.length === AT_ONCE && results.some(({ moved }) => moved);
}

function wantedBy(status: CampaignContent["status"]): Parameters<MessageStore["listCampaignMessages"]>[2] {
  const far = Number.MAX_SAFE_INTEGER;
  if (status === "running") return { states: ["scheduled"], dueFrom: PAUSED_MS, dueBefore: far };
  return { states: ["accepted", "scheduled"], dueFrom: 0, dueBefore: status === "paused" ? PAUSED_MS : far };
}

function moveOf(message: StoredMessage, { status, pausedMs }: CampaignContent, at: number): Deferred | Ended | null {
  const { accountId, requestId, n, dueAt } = message;
  const move = { accountId, requestId, n, at, owner: UNOWNED };
  if (status === "paused") {
    // Rows that a node has queued are left to that node, which holds them at dispatch. If they were released and claimed
    // again after a short pause, two copies would be in memory and both would be sent.
    return {
      ...move,
      kind: "deferred",
      to: "scheduled",
      ownedBy: UNOWNED,
      dueAt: dueAt + PAUSED_MS,
      timeline: changed(at, "paused"),
    };
  }
  if (status === "cancelled") {
    const end = unsentEnd(message, "cancelled", "CANCELLED");
    // One that was with a carrier may be with its next one by now: then its attempts have changed.
    const fence = end.to === "expired" ? { attemptIs: message.attempts } : {};
    return { ...move, kind: "ended", ...end, ...fence, timeline: changed(at, "cancelled") };
  }
  return {
    ...move,
    kind: "deferred",
    to: "scheduled",
    ownedBy: UNOWNED,
    dueIs: dueAt,
    dueAt: Math.max(at, dueAt - PAUSED_MS),
    // Extends the validity by the time that the pause took after the message was due.
    extendMs: Math.max(0, Math.min(pausedMs, at - (dueAt - PAUSED_MS))),
    timeline: changed(at, "resumed"),
  };
}

const changed = (at: number, what: "paused" | "resumed" | "cancelled"): string =>
  encodeTimeline({ at, step: "changed", what });
