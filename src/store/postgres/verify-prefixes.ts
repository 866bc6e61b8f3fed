import { NEW_LEDGER, prefixOf, type PrefixLedger } from "../../model/pumping.ts";
import type { PrefixRow } from "../tables.ts";
import { ledgerOf, prefixRow } from "../prefix-rows.ts";
import { owedUnder } from "../verification-rows.ts";
import { rowKey } from "./row-key.ts";
import { numberOf, type WithCode } from "./verify-numbers.ts";

interface PrefixKey {
  account_id: number;
  prefix: string;
}

/** The prefixes that owe a verification for the codes of a batch. */
export function prefixKeys(batch: readonly WithCode[]): PrefixKey[] {
  const owing = batch.filter(({ verification }) => owedUnder(verification) !== null);
  const keys = owing.map((item) => ({ account_id: item.message.accountId, prefix: prefixOf(numberOf(item)) }));
  return [...new Map(keys.map((key) => [rowKey(key.account_id, key.prefix), key])).values()];
}

interface LockedPrefix {
  accountId: number;
  prefix: string;
  ledger: PrefixLedger;
  changed: boolean;
}

/** The locked prefixes of a batch with their ledgers, including the changes by the batch so far. */
export class LockedPrefixes {
  readonly #rows: Map<string, LockedPrefix>;

  constructor(rows: readonly PrefixRow[]) {
    const locked = rows.map((row): [string, LockedPrefix] => [
      rowKey(row.account_id, row.prefix),
      { accountId: row.account_id, prefix: row.prefix, ledger: ledgerOf(row), changed: false },
    ]);
    this.#rows = new Map(locked);
  }

  ledgerOf(accountId: number, prefix: string): PrefixLedger {
    return this.#rows.get(rowKey(accountId, prefix))?.ledger ?? NEW_LEDGER;
  }

  set(accountId: number, prefix: string, ledger: PrefixLedger): void {
    this.#rows.set(rowKey(accountId, prefix), { accountId, prefix, ledger, changed: true });
  }

  changedRows(): PrefixRow[] {
    return [...this.#rows.values()]
      .filter(({ changed }) => changed)
      .map(({ accountId, prefix, ledger }) => prefixRow(accountId, prefix, ledger));
  }
}
