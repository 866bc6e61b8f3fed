/** An account's credits. `held` is reserved for accepted messages that are not sent yet, and not part of `balance`. */
export interface Balance {
  balance: number;
  held: number;
}

/**
 * One line of the ledger. The balance is the sum of all amounts; the held credits are the sum of all `held`.
 * - `top-up`: the operator added credits, or removed some.
 * - `hold`: a request was accepted; `n` is 0, the line is for all its messages.
 * - `spend`: a carrier took the message.
 * - `release`: the message failed before a carrier took it.
 * - `refund`: the message failed afterwards, and its credits are returned.
 */
export interface LedgerEntry {
  accountId: number;
  /** The request's id; a top-up has its own. */
  requestId: string;
  n: number;
  kind: LedgerKind;
  amount: number;
  held: number;
  note: string | null;
  at: number;
}

export type LedgerKind = "top-up" | "hold" | "spend" | "release" | "refund";
