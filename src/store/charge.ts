import type { LedgerKind } from "../model/credits.ts";
import type { State } from "../model/message.ts";

/** The charge states of a message's credits, as stored in its row. */
export const FREE = 0;
export const HELD = 1;

const SPENT = 2;
const GIVEN_BACK = 3;

/** End states of messages that no carrier had. */
const UNSENT_ENDS = ["rejected", "expired", "cancelled"] as const satisfies readonly State[];

/** The cost of a message after refunds. An account without metering pays nothing for a message that was never sent. */
export function costOf(row: { credits: number; charge: number; state: string; submitted_at: number | null }): number {
  const { credits, charge, state, submitted_at } = row;
  const isUnsent = charge === FREE && submitted_at === null && UNSENT_ENDS.some((end) => end === state);
  return charge === GIVEN_BACK || isUnsent ? 0 : credits;
}

/** The same as an SQL expression over the row. */
export const COST = `case when messages.charge = ${GIVEN_BACK} or (messages.charge = ${FREE} and messages.submitted_at is null
  and messages.state in (${UNSENT_ENDS.map((end) => `'${end}'`).join(", ")})) then 0 else messages.credits end`;

/** Effects of a transition on the credits of a message. */
const CHANGE = { none: 0, spend: 1, release: 2, refund: 3 } as const;
type Change = (typeof CHANGE)[keyof typeof CHANGE];

interface Rule {
  charge: number;
  to: readonly State[];
  /** Only if undelivered messages are refunded. */
  refund?: true;
  change: Change;
}

/** The first matching rule applies. Rules depend on the row alone, so only one of two concurrent transitions spends. */
const RULES: readonly Rule[] = [
  { charge: HELD, to: ["rejected", "expired", "cancelled"], change: CHANGE.release },
  { charge: HELD, to: ["undelivered"], refund: true, change: CHANGE.release },
  { charge: HELD, to: ["submitted", "enroute", "delivered", "undelivered", "unknown"], change: CHANGE.spend },
  { charge: SPENT, to: ["rejected", "expired", "undelivered"], refund: true, change: CHANGE.refund },
];

export function changeOf(charge: number, to: State, refund: boolean): Change {
  const rule = RULES.find((each) => each.charge === charge && each.to.includes(to) && (refund || !each.refund));
  return rule?.change ?? CHANGE.none;
}

export const chargeAfterChange = (charge: number, change: Change): number =>
  change === CHANGE.none ? charge : change === CHANGE.spend ? SPENT : GIVEN_BACK;

/** The same rules as an SQL expression over the row; the parameters are column names. */
export const changeExpression = (to: string, refund: string): string =>
  `case ${RULES.map(
    ({ charge, to: states, refund: ifRefunded, change }) =>
      `when messages.charge = ${charge} and ${to} in (${states.map((state) => `'${state}'`).join(", ")})${
        ifRefunded ? ` and ${refund} = 1` : ""
      } then ${change}`,
  ).join(" ")} else ${CHANGE.none} end`;

export const chargeAfterExpression = (change: string): string =>
  `case ${change} when ${CHANGE.none} then messages.charge when ${CHANGE.spend} then ${SPENT} else ${GIVEN_BACK} end`;

/** Bit added to the change by the first transition that proves a carrier has the message. Only the row shows that. */
export const TAKEN = 4;

/** Factor of the state that a campaign's message left, which `returning` cannot tell. */
export const FROM_STATE = 8;

/** Mask for the change without what else the column carries. */
export const CHANGE_BITS = 3;

interface Effect {
  kind: LedgerKind;
  /** Factor of the message's credits that is added to the balance. */
  amount: 0 | 1;
  /** Factor of the message's credits that is added to the held amount. */
  held: 0 | -1;
}

/** The ledger entry of each change except `none`. */
export const CHANGES: readonly Effect[] = [
  { kind: "spend", amount: 0, held: -1 },
  { kind: "release", amount: 1, held: -1 },
  { kind: "refund", amount: 1, held: 0 },
];
