import type { MessageRef } from "../../model/message.ts";
import type { BatchItem } from "../sub-batches.ts";

/** Joins a message with its step, in statements that write a batch. */
export const IS_MESSAGE = `messages.account_id = step.account_id and messages.request_id = step.request_id and messages.n = step.n`;

/** Sorts by row, to prevent deadlocks: nodes that change the same rows lock them in the same order. */
export const inOrderOfRows = <T extends MessageRef>(subBatch: readonly BatchItem<T>[]): BatchItem<T>[] =>
  subBatch.toSorted(({ item: a }, { item: b }) => compare(a.requestId, b.requestId) || a.n - b.n);

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
