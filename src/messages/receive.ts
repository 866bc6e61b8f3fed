import type { Inbound } from "../carriers/carrier.ts";
import type { Account } from "../model/account.ts";
import { readOptOutWord } from "../policies/opt-out-words.ts";
import type { OptOutStore } from "../store/store.ts";
import type { Meters } from "../work/meters.ts";

export interface ReceiveNeeds {
  store: OptOutStore;
  meters: Meters;
  accountOf(accountId: number): Account | null;
}

/** Takes what a phone sent. A stop word puts its number on the opt-out list, a start word takes it off again. */
export async function receive({ store, meters, accountOf }: ReceiveNeeds, inbound: Inbound): Promise<void> {
  const { accountId, from, text, at } = inbound;
  const settings = accountOf(accountId)?.settings;
  if (!settings) return;
  const word = readOptOutWord(text, { stop: settings.stopWords, start: settings.startWords });
  meters.inbound(word ?? "other").inc();
  if (word === "stop")
    await store.addOptOuts([
      { accountId, number: from, source: "reply", note: text.trim().slice(0, 40), createdAt: at },
    ]);
  if (word === "start") await store.removeOptOut(accountId, from);
}
