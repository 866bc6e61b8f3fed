/** What an account has. `held` belongs to messages that are accepted and not sent yet; it is no longer part of `balance`. */
export interface Balance {
  balance: number;
  held: number;
}

/**
 * One line of the ledger. The balance is the sum of all amounts, what is held the sum of all `held`.
 * - `top-up`: the operator gave credits, or took some back.
 * - `hold`: a request was accepted; `n` is 0, the line is for all its messages.
 * - `spend`: a carrier took the message.
 * - `release`: the message failed before a carrier took it.
 * - `refund`: the message failed afterwards, and the account is paid back.
 */
export interface LedgerEntry {
  accountId: number;
  /** The request; for a top-up an id of its own. */
  requestId: string;
  n: number;
  kind: LedgerKind;
  amount: number;
  held: number;
  note: string | null;
  at: number;
}

export type LedgerKind = "top-up" | "hold" | "spend" | "release" | "refund";
