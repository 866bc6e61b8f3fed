import { AsyncLocalStorage } from "node:async_hooks";

/** The request on whose behalf the store is read. */
export interface QueryCaller {
  /** Zero if the request has no account. */
  accountId: number;
  /** Aborted when the client has closed its connection. */
  signal: AbortSignal;
}

const callers = new AsyncLocalStorage<{ caller: QueryCaller | null }>();

/**
 * Reads the store on behalf of a request. Timers and loops that the work starts outlive the request: their reads have no
 * caller once the work has ended.
 */
export async function queryAs<T>(caller: QueryCaller, work: () => Promise<T>): Promise<T> {
  const context: { caller: QueryCaller | null } = { caller };
  try {
    return await callers.run(context, work);
  } finally {
    context.caller = null;
  }
}

/** Null outside a request. */
export const queryCaller = (): QueryCaller | null => callers.getStore()?.caller ?? null;
