import { lookup as systemLookup } from "node:dns/promises";

/** All addresses of a host, in the order to try them. */
export type Resolve = (host: string) => Promise<readonly { address: string }[]>;

/**
 * System lookups run on two threads and cannot be cancelled. Without a limit, slow names would queue up long after their
 * callers have timed out.
 */
const PENDING_MAX = 64;

const resolveBySystem: Resolve = (host) => systemLookup(host, { all: true, order: "verbatim" });

/** Shares one lookup between concurrent callers of a host, and limits the number of hosts looked up at a time. */
export function createResolve(lookUp: Resolve = resolveBySystem): Resolve {
  const pending = new Map<string, ReturnType<Resolve>>();
  return (host) => {
    const known = pending.get(host);
    if (known) return known;
    if (pending.size >= PENDING_MAX) {
      return Promise.reject(new Error(`the name ${host} was not resolved: ${PENDING_MAX} others are waiting`));
    }
    const answer = lookUp(host).finally(() => pending.delete(host));
    pending.set(host, answer);
    return answer;
  };
}
