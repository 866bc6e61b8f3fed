import type { Inbound } from "../carriers/carrier.ts";
import { isSameButForTime, newId } from "../lib/ids.ts";
import type { Account } from "../model/account.ts";
import type { InboundContent } from "../model/inbound.ts";
import { readOptOutWord } from "../policies/opt-out-words.ts";
import type { InboundStore } from "../store/inbound-store.ts";
import type { OptOutStore } from "../store/opt-out-store.ts";
import type { GroupCommit } from "../work/group-commit.ts";
import type { Meters } from "../work/meters.ts";

export interface ReceiveNeeds {
  store: OptOutStore & Pick<InboundStore, "findInbound" | "listInbound">;
  commits: Pick<GroupCommit, "inbound">;
  meters: Meters;
  accountOf(accountId: number): Account | null;
}

const NOTE_MAX = 40;
/** Carriers tell again for a day what nobody has taken from them; no phone sends so many texts in that time. */
const TOLD_AGAIN_MS = 2 * 86_400_000;
const TEXTS_MAX = 200;

/**
 * Takes what a phone sent, on whatever channel. A stop word puts its number on the opt-out list, a start word takes it off
 * again. Resolves once all of it is on disk; what a carrier repeats after that counts once.
 */
export async function receive({ store, commits, meters, accountOf }: ReceiveNeeds, told: Inbound): Promise<void> {
  const { isTimeOurs = false, ...inbound } = told;
  const { accountId, from, content, at } = inbound;
  const settings = accountOf(accountId)?.settings;
  if (!settings) return;
  if (inbound.id !== undefined && (await store.findInbound(accountId, inbound.id))) return;
  if (isTimeOurs && (await wasHeard({ store }, inbound))) return;
  const said = wordsOf(content);
  const word = readOptOutWord(said, { stop: settings.stopWords, start: settings.startWords });
  // The list comes first: a crash before the message is stored makes the carrier repeat it, and neither is lost.
  if (word === "stop") {
    const note = said.trim().slice(0, NOTE_MAX).toWellFormed();
    await store.addOptOuts([{ accountId, number: from, source: "reply", note, createdAt: at }]);
  }
  if (word === "start") await store.removeOptOut(accountId, from, at);
  await commits.inbound.add({ ...inbound, id: inbound.id ?? newId(at) });
  meters.inbound(word ?? "other").inc();
}

/** Whether it is among the last that the phone has sent there, under the moment at which it was heard then. */
async function wasHeard({ store }: Pick<ReceiveNeeds, "store">, inbound: Inbound): Promise<boolean> {
  const { accountId, id, channel, from, to, at } = inbound;
  if (id === undefined) return false;
  const conversation = { channel, from, to, since: at - TOLD_AGAIN_MS };
  const { rows } = await store.listInbound(accountId, conversation, null, TEXTS_MAX);
  return rows.some((row) => isSameButForTime(row.id, id));
}

/** What the phone's owner said, in words: also the label of an answer that was offered, which is what they agreed to. */
function wordsOf(content: InboundContent): string {
  if (content.kind === "text") return content.text;
  return content.kind === "suggestion" && content.type === "REPLY" ? content.plainText : "";
}
