import type { Catalog } from "../catalog/catalog.ts";
import type { Clock } from "../lib/clock.ts";
import { PAUSED_MS, type CampaignContent, type CatalogRecord } from "../model/catalog.ts";
import { FAILURES } from "../model/message.ts";
import { writeTrail } from "../model/trail.ts";
import type { CatalogStore } from "../store/catalog-store.ts";
import { NOBODY, type MessageStore, type Move, type StoredMessage } from "../store/store.ts";
import type { GroupCommit } from "../work/group-commit.ts";

export interface CampaignNeeds {
  store: Pick<MessageStore, "listCampaignMessages"> & Pick<CatalogStore, "changeCatalogRecord">;
  catalog: Catalog;
  commits: GroupCommit;
  clock: Clock;
}

type Campaign = CatalogRecord<"campaign">;

const AT_ONCE = 500;
/** How many messages a caller waits for; the job does the rest. */
const WHILE_CALLER_WAITS = 20;
/** A campaign that was changed so recently may have messages that the change has not reached. */
const RECENT_MS = 86_400_000;

/** Pauses, resumes or cancels a campaign. What is under way at a carrier cannot be called back. */
export async function changeCampaign(
  needs: CampaignNeeds,
  { accountId, name, ...asked }: Campaign,
  status: CampaignContent["status"],
): Promise<Campaign> {
  const { store, catalog, clock } = needs;
  const changed = await catalog.change(async (revision) => {
    // A campaign that was learned a moment ago may be in the store under the id that another node gave it.
    const current = catalog.of(accountId).named("campaign").get(name) ?? { accountId, name, ...asked };
    const now = clock.now();
    const { pausedAt, pausedMs } = current.content;
    const content: CampaignContent = {
      status,
      pausedAt: status === "paused" ? (pausedAt ?? now) : null,
      pausedMs: status === "running" && pausedAt !== null ? now - pausedAt : pausedMs,
    };
    const campaign: Campaign = { ...current, origin: "authored", content, updatedAt: now };
    return (await store.changeCatalogRecord(campaign, revision)) === "outdated" ? "outdated" : campaign;
  });
  for (let round = 0; round < WHILE_CALLER_WAITS; round += 1) if (!(await carryThrough(needs, changed))) break;
  return changed;
}

/** Brings the messages of recently changed campaigns to where the campaign is: all that a crash or another node left out. */
export async function settleCampaigns(needs: CampaignNeeds): Promise<void> {
  const since = needs.clock.now() - RECENT_MS;
  for (const campaign of needs.catalog.all("campaign")) {
    if (campaign.origin === "learned" || campaign.updatedAt < since) continue;
    while (await carryThrough(needs, campaign));
  }
}

/** Moves some of a campaign's messages to where it is; says whether there may be more. */
async function carryThrough(needs: CampaignNeeds, campaign: Campaign): Promise<boolean> {
  const { store, commits, clock } = needs;
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

function moveOf(message: StoredMessage, { status, pausedMs }: CampaignContent, at: number): Move | null {
  const { accountId, requestId, n, dueAt } = message;
  const move = { accountId, requestId, n, at, owner: NOBODY };
  if (status === "paused") {
    // What a node has in its lanes is left to that node, which holds it when its turn comes: if the row were taken from
    // under it and claimed again after a short pause, there would be two of the message in memory and both would be sent.
    return { ...move, to: "scheduled", ownedBy: NOBODY, dueAt: dueAt + PAUSED_MS, trail: changed(at, "paused") };
  }
  if (status === "cancelled") {
    // One that waits for its second route has been with a carrier, and is no longer ours to call back.
    if (message.submittedAt !== null) return null;
    const errorCode = "CANCELLED";
    const trail = changed(at, "cancelled");
    return { ...move, to: "cancelled", errorCode, description: FAILURES[errorCode], trail };
  }
  return {
    ...move,
    to: "scheduled",
    ownedBy: NOBODY,
    dueIs: dueAt,
    dueAt: Math.max(at, dueAt - PAUSED_MS),
    // What the pause took of the message's time is given back; before it was due, it took nothing.
    extendMs: Math.max(0, Math.min(pausedMs, at - (dueAt - PAUSED_MS))),
    trail: changed(at, "resumed"),
  };
}

const changed = (at: number, what: "paused" | "resumed" | "cancelled"): string =>
  writeTrail({ at, step: "changed", what });
