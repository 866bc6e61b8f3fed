import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";
import type { AcceptResult } from "../store.ts";
import type { Transition, TransitionResult } from "../transition.ts";
import { CODE_TAKEN, createAccept, UNPAID_CODE } from "./accept.ts";
import type { CampaignCounts } from "./campaign-counts.ts";
import { createCheck } from "./check-codes.ts";
import { createClaimCallbacks } from "./claim-callbacks.ts";
import { createClaim, createRelease } from "./claim.ts";
import type { Failed, Isolation } from "./isolation.ts";
import { eachOf, isPacked, isRun, unpackTransition, type PackedTransition } from "./fast.ts";
import { createFreePages } from "./free-pages.ts";
import { createRecordClick, type PackedClick } from "./links.ts";
import { createLeave } from "./nodes.ts";
import type { PackedCheck, PackedResult } from "./pack-checks.ts";
import type { Packed } from "./packing.ts";
import { createMarkReported, createReceiveOnPhones } from "./phones.ts";
import { createSettleCallbacks } from "./settle-callbacks.ts";
import { createTransitions } from "./transition.ts";
import { createStoreUnmatched } from "./unmatched.ts";

type Values = readonly SQLInputValue[];
type PlainQuery = { sql: string; values: Values };

/**
 * The write commands of the writer thread. The writer opens the transaction, which all waiting jobs share; statements are
 * prepared once and cached. Next: src/store/sqlite/accept.ts, Next: src/store/sqlite/transition.ts
 */
export function createCommands(db: DatabaseSync, isolation: Isolation, counts: CampaignCounts) {
  const kept = new Map<string, StatementSync>();
  const prepare = (sql: string): StatementSync => {
    let statement = kept.get(sql);
    if (!statement) {
      statement = db.prepare(sql);
      kept.set(sql, statement);
    }
    return statement;
  };

  const acceptAll = createAccept(db, counts);
  const beginTransitions = createTransitions(db, counts);
  const checkAll = createCheck(db);
  const recordClick = createRecordClick(db);
  const runAll = (queries: readonly PlainQuery[]): void => {
    for (const { sql, values } of queries) db.prepare(sql).run(...values);
  };

  return {
    accept(batch: readonly Packed[]): (AcceptResult | Failed)[] {
      return isolation.together(batch, acceptAll).map((result) => {
        if (!("failed" in result)) return result;
        if (result.failed.message === UNPAID_CODE) return { kind: "unpaid" };
        return result.failed.message === CODE_TAKEN ? { kind: "code taken" } : result;
      });
    },

    /** A null result means `predictedResult`. */
    transition(batch: readonly PackedTransition[]): (TransitionResult | Failed | null)[] {
      const { apply, applyFast, intend, end } = beginTransitions(isolation.careful);
      const alone = (transition: Transition): TransitionResult | Failed | null =>
        isolation.alone(() => apply(transition));
      const results = batch.flatMap((step) => {
        if (isPacked(step)) return isolation.alone(() => applyFast(unpackTransition(step)));
        if (!isRun(step)) return alone(step);
        const isWritten = isolation.alone(() => intend(step)) === true;
        return isWritten ? Array.from({ length: step.count }, () => null) : eachOf(step).map(alone);
      });
      end();
      return results;
    },

    checkCodes: (batch: readonly PackedCheck[]): (PackedResult | Failed)[] => isolation.together(batch, checkAll),

    claim: createClaim(db),
    claimCallbacks: createClaimCallbacks(db),
    settleCallbacks: createSettleCallbacks(db),
    release: createRelease(db),
    storeUnmatched: createStoreUnmatched(db),
    receiveOnPhones: createReceiveOnPhones(db),
    markReported: createMarkReported(db),
    leave: createLeave(db),

    /** Any single statement, for the shared queries. */
    query(sql: string, values: Values): { rows: unknown[]; changes: number } {
      const statement = db.prepare(sql);
      if (statement.columns().length > 0) return { rows: statement.all(...values), changes: 0 };
      return { rows: [], changes: Number(statement.run(...values).changes) };
    },

    atomically: runAll,

    /** Runs maintenance; returns the rows that each statement changed. */
    background: (queries: readonly PlainQuery[]): number[] =>
      queries.map(({ sql, values }) => Number(prepare(sql).run(...values).changes)),

    freePages: createFreePages(db),

    recordClicks(batch: readonly PackedClick[], callbacks: readonly PlainQuery[]): void {
      for (const click of batch) recordClick(click);
      runAll(callbacks);
    },
  };
}

export type WriterCommands = ReturnType<typeof createCommands>;

export type Write = <K extends keyof WriterCommands>(
  command: K,
  ...args: Parameters<WriterCommands[K]>
) => Promise<ReturnType<WriterCommands[K]>>;
