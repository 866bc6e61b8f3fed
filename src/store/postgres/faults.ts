import { DatabaseError } from "pg";
import { StorageUnavailable } from "../store.ts";

/** The server is one we do not know how to use; waiting does not help. */
export class ServerTooOld extends Error {
  override name = "ServerTooOld";
}

/** Line broken (08), not now (57P01 to 57P03), out of space or of connections (53), I/O (58), no longer the primary, or too slow. */
const AWAY = /^(08...|53...|58...|57P0[123]|57014|25006|25P03|55P03|40...)$/;

const OUTDONE = new Set(["40001", "40P01"]);

const stateOf = (error: unknown): string | null => (error instanceof DatabaseError ? (error.code ?? "") : null);

/** A value or a row that this database will not have: another row might be taken. */
export const isRowFault = (error: unknown): error is Error => /^2[23]/.test(stateOf(error) ?? "");

/** Two transactions were in each other's way and this one was undone. It may be done again at once. */
export const isOutdone = (error: unknown): boolean => OUTDONE.has(stateOf(error) ?? "");

/** What the driver and the system throw about a line carry no name of their own. */
const LINE_FAULTS = new Set(["Error", "AggregateError"]);

/** What a failure of the driver means to the caller. */
export function readFault(error: unknown): Error {
  const fault = error instanceof Error ? error : new Error(String(error));
  const state = stateOf(fault);
  const away = state === null ? LINE_FAULTS.has(fault.name) : AWAY.test(state);
  return away ? unavailable(fault) : fault;
}

/** Whoever is not let in has no store, for whatever reason: a changed password, a database that is being moved. */
export const readConnectFault = (error: unknown): Error =>
  error instanceof DatabaseError ? unavailable(error) : readFault(error);

const unavailable = (fault: Error): StorageUnavailable =>
  new StorageUnavailable(`the database is not available: ${fault.message}`, { cause: fault });
