import type { Inbound } from "../../carriers/carrier.ts";
import { idOf, isSameButForTime, newId } from "../../lib/ids.ts";
import type { Account } from "../../model/account.ts";
import type { InboundContent, InboundMessage } from "../../model/inbound.ts";
import { readKeyword } from "../policy/opt-out-keywords.ts";
import type { InboundStore } from "../../store/inbound.ts";
import type { GroupCommit } from "../group-commit.ts";
import type { Metrics } from "../../metrics.ts";
import type { StopGuard } from "../dispatch/stop-guard.ts";
import { applyKeyword, type ApplyKeywordDeps } from "./apply-keyword.ts";

export interface ReceiveDeps extends ApplyKeywordDeps {
  store: ApplyKeywordDeps["store"] & Pick<InboundStore, "findInbound" | "listInbound">;
  commits: Pick<GroupCommit, "inbound">;
  metrics: Metrics;
  stopGuard: Pick<StopGuard, "waitUntilEffective">;
  accountOf(accountId: number): Account | null;
  /** True for a carrier whose platform keeps the files of users; the simulator has none. Absent where no files are kept. */
  hasFiles?(accountId: number, carrier: string): boolean;
}

/** Carriers repeat unacknowledged messages for a day; no phone sends more texts than the maximum in that time. */
const REPEATED_FOR_MS = 2 * 86_400_000;
const TEXTS_MAX = 200;

/**
 * Receives an inbound message on any channel. A stop keyword adds its number to the opt-out list, a start keyword removes it,
 * and the account may have a text that answers them.
 * Resolves once everything is on disk and no promotion can leave for a stopped number. Repeats by the carrier count once.
 */
export async function receive(deps: ReceiveDeps, received: Inbound): Promise<void> {
  const { store, commits, metrics, stopGuard, accountOf } = deps;
  const { isTimeOurs = false, ...inbound } = received;
  const { accountId, from, to, content, at, id = newId(at) } = inbound;
  const account = accountOf(accountId);
  if (!account) return;
  if (inbound.id !== undefined && (await store.findInbound(accountId, inbound.id))) return;
  if (isTimeOurs && (await wasReceived({ store }, inbound))) return;
  const text = textOf(content);
  const keyword = readKeyword(text, account.settings, { from, to });
  const effect = keyword ? await applyKeyword(deps, account, { inbound: { ...received, id }, text, keyword }) : "other";
  await Promise.all([
    commits.inbound.add(withMedia(deps, { ...inbound, id })),
    effect === "stop" ? stopGuard.waitUntilEffective({ accountId, numbers: [from] }) : null,
  ]);
  metrics.inbound(effect).inc();
}

/** Names the copy of a user's file, which a job fetches. The same message always names the same copy. */
function withMedia({ hasFiles }: ReceiveDeps, message: InboundMessage): InboundMessage {
  const { accountId, content, origin, id, at } = message;
  if (content.kind !== "file" || !origin || hasFiles?.(accountId, origin.carrier) !== true) return message;
  return { ...message, content: { kind: "file", file: { ...content.file, mediaId: idOf(at, `media ${id}`) } } };
}

/** True if the message was received before under another time: some carriers give none, so ours is part of the id. */
async function wasReceived({ store }: Pick<ReceiveDeps, "store">, inbound: Inbound): Promise<boolean> {
  const { accountId, id, channel, from, to, at } = inbound;
  if (id === undefined) return false;
  const conversation = { channel, from, to, since: at - REPEATED_FOR_MS };
  const { rows } = await store.listInbound(accountId, conversation, null, TEXTS_MAX);
  return rows.some((row) => isSameButForTime(row.id, id));
}

/** The text of the message, or the label of a suggested reply, which the sender agreed to. */
function textOf(content: InboundContent): string {
  if (content.kind === "text") return content.text;
  return content.kind === "suggestion" && content.type === "REPLY" ? content.plainText : "";
}
