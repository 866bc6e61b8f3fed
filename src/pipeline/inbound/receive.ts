import type { Inbound } from "../../carriers/carrier.ts";
import { isSameButForTime, newId } from "../../lib/ids.ts";
import type { Account } from "../../model/account.ts";
import type { InboundContent } from "../../model/inbound.ts";
import { readOptOutKeyword } from "../policy/opt-out-keywords.ts";
import type { InboundStore } from "../../store/inbound.ts";
import type { OptOutStore } from "../../store/opt-outs.ts";
import type { GroupCommit } from "../group-commit.ts";
import type { Metrics } from "../../metrics.ts";
import type { StopGuard } from "../dispatch/stop-guard.ts";

export interface ReceiveDeps {
  store: OptOutStore & Pick<InboundStore, "findInbound" | "listInbound">;
  commits: Pick<GroupCommit, "inbound">;
  metrics: Metrics;
  stopGuard: Pick<StopGuard, "waitUntilEffective">;
  accountOf(accountId: number): Account | null;
}

const NOTE_MAX = 40;
/** Carriers repeat unacknowledged messages for a day; no phone sends more texts than the maximum in that time. */
const REPEATED_FOR_MS = 2 * 86_400_000;
const TEXTS_MAX = 200;

/**
 * Receives an inbound message on any channel. A stop keyword adds its number to the opt-out list, a start keyword removes it.
 * Resolves once everything is on disk and no promotion can leave for a stopped number. Repeats by the carrier count once.
 */
export async function receive(
  { store, commits, metrics, stopGuard, accountOf }: ReceiveDeps,
  received: Inbound,
): Promise<void> {
  const { isTimeOurs = false, ...inbound } = received;
  const { accountId, from, content, at } = inbound;
  const list = { test: inbound.test === true };
  const settings = accountOf(accountId)?.settings;
  if (!settings) return;
  if (inbound.id !== undefined && (await store.findInbound(accountId, inbound.id))) return;
  if (isTimeOurs && (await wasReceived({ store }, inbound))) return;
  const text = textOf(content);
  const word = readOptOutKeyword(text, { stop: settings.stopWords, start: settings.startWords });
  // The opt-out list comes first: after a crash in between, the carrier repeats the message and nothing is lost.
  if (word === "stop") {
    const note = text.trim().slice(0, NOTE_MAX).toWellFormed();
    await store.addOptOuts([{ accountId, number: from, source: "reply", note, createdAt: at }], list);
  }
  if (word === "start") await store.removeOptOut(accountId, from, at, list);
  await Promise.all([
    commits.inbound.add({ ...inbound, id: inbound.id ?? newId(at) }),
    word === "stop" ? stopGuard.waitUntilEffective({ accountId, numbers: [from] }) : null,
  ]);
  metrics.inbound(word ?? "other").inc();
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
