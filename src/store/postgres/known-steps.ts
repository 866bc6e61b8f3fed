import type { AsKnown } from "../as-known.ts";
import type { Placed } from "../rounds.ts";
import type { Move } from "../store.ts";

// What statements that move messages share, most of it those that do so without a look at the rows first.

export const IS_MESSAGE = `messages.account_id = step.account_id and messages.request_id = step.request_id and messages.n = step.n`;

/** One row where every step is among what was changed; else a division by nothing ends the statement. */
export const ALL_OF_THEM = (changed: string): string => `(
    select 1 / (case when (select count(*) from ${changed}) = (select count(*) from step) then 1 else 0 end) as all_of_them
  ) as judged where all_of_them = 1`;

export const STEP_COLUMNS = {
  account_id: "integer",
  request_id: "uuid",
  n: "integer",
  channel: "text",
  owner: "integer",
  at: "bigint",
  carrier: "text",
  trail: "text",
} as const;

export const stepRow = (step: AsKnown & Required<Pick<Move, "carrier">>) => ({
  account_id: step.accountId,
  request_id: step.requestId,
  n: step.n,
  channel: step.known.channel,
  owner: step.owner,
  at: step.at,
  carrier: step.carrier,
  trail: step.trail ?? "",
});

/** Nodes that touch the same rows touch them in the same order, and so wait for each other instead of deadlocking. */
export const inOrderOfRows = <M extends Move>(round: readonly Placed<M>[]): Placed<M>[] =>
  round.toSorted(({ item: a }, { item: b }) => compare(a.requestId, b.requestId) || a.n - b.n);

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
