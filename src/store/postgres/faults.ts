import { DatabaseError } from "pg";
import { StorageUnavailable } from "../store.ts";

/** This server version is not supported; a retry does not help. */
export class ServerTooOld extends Error {
  override name = "ServerTooOld";
}

/**
 * SQLSTATE codes of an unavailable database: connection (08), resources (53), I/O (58), shutdown (57P01 to 57P03), read-only
 * standby (25006), time-outs (57014, 25P03, 55P03), and rolled-back transactions (40).
 */
const AWAY = /^(08...|53...|58...|57P0[123]|57014|25006|25P03|55P03|40...)$/;

const OUTDONE = new Set(["40001", "40P01"]);

const stateOf = (error: unknown): string | null => (error instanceof DatabaseError ? (error.code ?? "") : null);

/** Data error or constraint violation (SQLSTATE 22 and 23): the row is at fault, so other rows of the batch may be stored. */
export const isRowFault = (error: unknown): error is Error => /^2[23]/.test(stateOf(error) ?? "");

/** Serialization failure or deadlock: the server rolled this transaction back. It can be retried at once. */
export const isOutdone = (error: unknown): boolean => OUTDONE.has(stateOf(error) ?? "");

const READ_ONLY = "25006";

/** The server is a standby, or was the primary until a failover. */
export const isReadOnly = (error: unknown): boolean =>
  error instanceof StorageUnavailable && stateOf(error.cause) === READ_ONLY;

const CANCELLED = "57014";

const LOCK_TIMEOUT = "55P03";

/** The statement has waited for a lock as long as it may. */
export const isLockTimeout = (error: unknown): boolean => stateOf(error) === LOCK_TIMEOUT;

/** The server cancelled the statement, after its time limit or on request. */
export const isCancelled = (error: unknown): boolean =>
  error instanceof StorageUnavailable && stateOf(error.cause) === CANCELLED;

/** Names of connection errors from the driver and from Node, which have no class of their own. */
const LINE_FAULTS = new Set(["Error", "AggregateError"]);

/** Converts a driver error into `StorageUnavailable` if the database is unavailable; returns other errors unchanged. */
export function readFault(error: unknown): Error {
  const fault = error instanceof Error ? error : new Error(String(error));
  const state = stateOf(fault);
  const away = state === null ? LINE_FAULTS.has(fault.name) : AWAY.test(state);
  return away ? unavailable(fault) : fault;
}

/** A refused login counts as an unavailable store: the password may be changing, or the database moving. */
export const readConnectFault = (error: unknown): Error =>
  error instanceof DatabaseError ? unavailable(error) : readFault(error);

const unavailable = (fault: Error): StorageUnavailable =>
  new StorageUnavailable(`the database is not available: ${fault.message}`, { cause: fault });
