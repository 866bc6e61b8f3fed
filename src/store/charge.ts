import type { LedgerKind } from "../model/credits.ts";
import type { State } from "../model/message.ts";

/** What has become of a message's credits, as its row says it. */
export const FREE = 0;
export const HELD = 1;

const listed = (...states: readonly State[]): string => `(${states.map((state) => `'${state}'`).join(", ")})`;

/**
 * What a move does to the credits of a message: 0 nothing, 1 they are spent, 2 they are given back while held,
 * 3 they are given back after they were spent. All of it is decided by the row itself, inside the statement that moves it,
 * so that of two moves at the same moment exactly one spends. The parameters are names of columns or values.
 */
export const chargeChange = (to: string, refund: string): string => `case
    when messages.charge = 1 and (${to} in ${listed("rejected", "expired", "cancelled")} or (${refund} = 1 and ${to} = 'undelivered')) then 2
    when messages.charge = 1 and ${to} in ${listed("submitted", "enroute", "delivered", "undelivered", "unknown")} then 1
    when messages.charge = 2 and ${refund} = 1 and ${to} in ${listed("rejected", "expired", "undelivered")} then 3
    else 0 end`;

/** Where that leaves them: 2 spent, 3 given back. */
export const chargeAfter = (change: string): string =>
  `case ${change} when 0 then messages.charge when 1 then 2 else 3 end`;

/** Added to the change where a move is the first sign that a carrier has the message: the row alone knows that. */
export const TAKEN = 4;

/** The change without that sign. */
export const CHANGE_BITS = 3;

interface Effect {
  kind: LedgerKind;
  /** Of the message's credits, what goes to the balance. */
  amount: 0 | 1;
  /** And what leaves what is held. */
  held: 0 | -1;
}

/** The ledger's view of each change but the first, which is none. */
export const CHANGES: readonly Effect[] = [
  { kind: "spend", amount: 0, held: -1 },
  { kind: "release", amount: 1, held: -1 },
  { kind: "refund", amount: 1, held: 0 },
];
