import { prefixOf, type PrefixLedger } from "../../model/pumping.ts";
import type { PrefixRow } from "../tables.ts";
import { ledgerOf, prefixRow } from "../prefix-rows.ts";
import { columns } from "./columns.ts";
import type { Query } from "./pool.ts";
import { rowKey } from "./row-key.ts";
import { numberOf, type WithCode } from "./verify-numbers.ts";

const KEYS = columns({ account_id: "integer", prefix: "text" });

/** Ours until the commit, as numbers are, and always after them: whoever else decides about the prefix waits. */
const LOCK_PREFIXES = `
  insert into verify_prefixes (account_id, prefix)
  select distinct account_id, prefix from ${KEYS.rows} order by account_id, prefix
  on conflict (account_id, prefix) do update set strikes = verify_prefixes.strikes
  returning *`;

const PREFIXES = columns({
  account_id: "integer",
  prefix: "text",
  owed: "integer",
  slot: "integer",
  slot_sends: "integer",
  before_sends: "integer",
  sends: "integer",
  verified: "integer",
  sent_at: "bigint",
  blocked_at: "bigint",
  blocked_until: "bigint",
  strikes: "integer",
});

const PUT_PREFIXES = `
  update verify_prefixes set owed = batch.owed, slot = batch.slot, slot_sends = batch.slot_sends,
    before_sends = batch.before_sends, sends = batch.sends, verified = batch.verified, sent_at = batch.sent_at,
    blocked_at = batch.blocked_at, blocked_until = batch.blocked_until, strikes = batch.strikes
  from ${PREFIXES.rows}
  where verify_prefixes.account_id = batch.account_id and verify_prefixes.prefix = batch.prefix`;

interface LockedPrefix {
  accountId: number;
  prefix: string;
  ledger: PrefixLedger;
  changed: boolean;
}

/** What the prefixes of a batch owe, each locked, with what the batch has changed so far. */
export class LockedPrefixes {
  readonly #rows: Map<string, LockedPrefix>;

  private constructor(rows: Map<string, LockedPrefix>) {
    this.#rows = rows;
  }

  static async lock(query: Query, batch: readonly WithCode[]): Promise<LockedPrefixes> {
    if (batch.length === 0) return new LockedPrefixes(new Map());
    const keys = batch.map((item) => ({ account_id: item.message.accountId, prefix: prefixOf(numberOf(item)) }));
    const { rows } = await query<PrefixRow>({ name: "otp prefixes", text: LOCK_PREFIXES, values: KEYS.values(keys) });
    const locked = rows.map((row): [string, LockedPrefix] => [
      rowKey(row.account_id, row.prefix),
      { accountId: row.account_id, prefix: row.prefix, ledger: ledgerOf(row), changed: false },
    ]);
    return new LockedPrefixes(new Map(locked));
  }

  ledgerOf(accountId: number, prefix: string): PrefixLedger | null {
    return this.#rows.get(rowKey(accountId, prefix))?.ledger ?? null;
  }

  set(accountId: number, prefix: string, ledger: PrefixLedger): void {
    this.#rows.set(rowKey(accountId, prefix), { accountId, prefix, ledger, changed: true });
  }

  async put(query: Query): Promise<void> {
    const rows = [...this.#rows.values()]
      .filter(({ changed }) => changed)
      .map(({ accountId, prefix, ledger }) => prefixRow(accountId, prefix, ledger));
    if (rows.length > 0) await query({ name: "otp owed", text: PUT_PREFIXES, values: PREFIXES.values(rows) });
  }
}
