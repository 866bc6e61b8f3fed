import { lookup as systemLookup } from "node:dns/promises";

/** Every address of a host, in the order in which they should be tried. */
export type Resolve = (host: string) => Promise<readonly { address: string }[]>;

/**
 * The system's lookups run on two threads and cannot be called off, so names that are slow to resolve would pile up
 * behind one another long after everybody has stopped waiting for them.
 */
const UNDER_WAY_MAX = 64;

const resolveBySystem: Resolve = (host) => systemLookup(host, { all: true, order: "verbatim" });

/** Asks once for a host however many wait for it, and asks for a bounded number of hosts at a time. */
export function createResolve(ask: Resolve = resolveBySystem): Resolve {
  const underWay = new Map<string, ReturnType<Resolve>>();
  return (host) => {
    const asked = underWay.get(host);
    if (asked) return asked;
    if (underWay.size >= UNDER_WAY_MAX) {
      return Promise.reject(new Error(`the name ${host} was not resolved: ${UNDER_WAY_MAX} others are waiting`));
    }
    const answer = ask(host).finally(() => underWay.delete(host));
    underWay.set(host, answer);
    return answer;
  };
}
