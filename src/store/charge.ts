import type { LedgerKind } from "../model/credits.ts";
import type { State } from "../model/message.ts";

/** What has become of a message's credits, as its row says it. */
export const FREE = 0;
export const HELD = 1;

const SPENT = 2;
const GIVEN_BACK = 3;

/** What a move does to the credits of a message. */
const CHANGE = { none: 0, spend: 1, release: 2, refund: 3 } as const;
type Change = (typeof CHANGE)[keyof typeof CHANGE];

interface Rule {
  charge: number;
  to: readonly State[];
  /** Only where undelivered messages are paid back. */
  refund?: true;
  change: Change;
}

/** Of these the first that fits holds. All is decided by the row itself, so that of two moves at the same moment one spends. */
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

/** Where a change leaves the credits. */
export const chargeAfterChange = (charge: number, change: Change): number =>
  change === CHANGE.none ? charge : change === CHANGE.spend ? SPENT : GIVEN_BACK;

/** The same rules as an expression over the row; the parameters are names of columns. */
export const changeExpression = (to: string, refund: string): string =>
  `case ${RULES.map(
    ({ charge, to: states, refund: ifRefunded, change }) =>
      `when messages.charge = ${charge} and ${to} in (${states.map((state) => `'${state}'`).join(", ")})${
        ifRefunded ? ` and ${refund} = 1` : ""
      } then ${change}`,
  ).join(" ")} else ${CHANGE.none} end`;

export const chargeAfterExpression = (change: string): string =>
  `case ${change} when ${CHANGE.none} then messages.charge when ${CHANGE.spend} then ${SPENT} else ${GIVEN_BACK} end`;

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
