import { existsSync } from "node:fs";
import { StatementSync, type SQLInputValue } from "node:sqlite";
import { workerData } from "node:worker_threads";
import type { ThreadData } from "../../src/store/sqlite/thread.ts";
import { HOLD_SUFFIX } from "./hold-file.ts";
// oxlint-disable-next-line import/no-unassigned-import -- the thread starts by being imported
import "../../src/store/sqlite/reader.ts";

/** The reader thread of reporting queries, which stops in front of each query while a file beside the database exists. */

const hold = (workerData as ThreadData).path + HOLD_SUFFIX;
const cell = new Int32Array(new SharedArrayBuffer(4));
const prototype: { all(this: StatementSync, ...values: SQLInputValue[]): unknown } = StatementSync.prototype;
const { all } = prototype;

prototype.all = function held(...values) {
  while (existsSync(hold)) Atomics.wait(cell, 0, 0, 5);
  return all.apply(this, values);
};
