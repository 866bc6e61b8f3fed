import { isIP } from "node:net";
import type { Clock } from "../lib/clock.ts";
import type { EgressRules } from "./addresses.ts";
import { EgressRefused, guardedLookup } from "./guarded-connect.ts";
import { createResolve, type Resolve } from "./resolve.ts";

interface Needs {
  rules: EgressRules;
  clock: Clock;
  resolve?: Resolve;
}

/**
 * Finds the address of a host for connections that are not HTTP: one that the rules have just passed, so that whoever
 * connects to it goes there and nowhere else. Rejects with the reason when there is none.
 */
export function createOpenAddress({
  rules,
  clock,
  resolve = createResolve(),
}: Needs): (host: string) => Promise<string> {
  const lookup = guardedLookup(rules, clock, resolve);
  return (host) =>
    new Promise((give, refuse) => {
      // Nobody looks up what is an address already.
      if (isIP(host) !== 0) return rules.isOpen(host) ? give(host) : refuse(new EgressRefused(host));
      lookup(host, { all: false }, (error, address) =>
        typeof address === "string" && !error ? give(address) : refuse(error ?? new EgressRefused(host)),
      );
    });
}
