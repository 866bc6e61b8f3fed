import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { State } from "../../model/message.ts";

interface Changes {
  accountId: number;
  campaignName: string;
  byState: Map<State, number>;
}

/**
 * Message counts of campaigns by state, written in the transaction that changes the messages. The changes of a transaction are
 * added up in memory, so it writes a row for each campaign and state. Triggers would write one for each message: 12 µs for a
 * message of a campaign from its acceptance to its receipt, and 4 µs for any other message.
 */
export class CampaignCounts {
  readonly #add: StatementSync;
  readonly #pending = new Map<string, Changes>();

  constructor(db: DatabaseSync) {
    this.#add = db.prepare(
      `insert into campaign_counts (account_id, campaign_name, state, count) values (?, ?, ?, ?)
       on conflict (account_id, campaign_name, state) do update set count = count + excluded.count`,
    );
  }

  /** Notes new messages (`from` is null) or a change of state. Messages without a campaign are not counted. */
  note(accountId: number, campaignName: string | null, from: State | null, to: State, messages = 1): void {
    if (campaignName === null || from === to) return;
    const key = `${accountId} ${campaignName}`;
    let changes = this.#pending.get(key);
    if (!changes) this.#pending.set(key, (changes = { accountId, campaignName, byState: new Map() }));
    const { byState } = changes;
    byState.set(to, (byState.get(to) ?? 0) + messages);
    if (from !== null) byState.set(from, (byState.get(from) ?? 0) - messages);
  }

  /** Writes the noted changes, inside the transaction. */
  write(): void {
    if (this.#pending.size === 0) return;
    for (const { accountId, campaignName, byState } of this.#pending.values())
      for (const [state, change] of byState) if (change !== 0) this.#add.run(accountId, campaignName, state, change);
    this.#pending.clear();
  }

  /** Drops the noted changes of a transaction or savepoint that is rolled back. */
  drop(): void {
    this.#pending.clear();
  }
}
