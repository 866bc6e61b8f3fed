import type { Balance, LedgerEntry } from "../model/credits.ts";
import type { MessageRef } from "../model/message.ts";
import type { Page } from "./store.ts";

/** What accounts have to spend. Messages take and give back credits as they move; nothing else does but this. */
export interface CreditStore {
  findBalance(accountId: number): Promise<Balance>;
  /** Adds credits, or takes some away; false, and nothing changed, when there are not that many. The same id counts once. */
  addCredits(
    accountId: number,
    entry: { id: string; amount: number; note: string | null; at: number },
  ): Promise<boolean>;
  /** What one message did to the balance, with the entry of its whole request. */
  listLedgerOfMessage(ref: MessageRef): Promise<readonly LedgerEntry[]>;
  /** Newest request first. */
  listLedger(
    accountId: number,
    after: LedgerPosition | null,
    limit: number,
  ): Promise<Page<LedgerEntry, LedgerPosition>>;
}

export type LedgerPosition = Pick<LedgerEntry, "requestId" | "n" | "kind">;
