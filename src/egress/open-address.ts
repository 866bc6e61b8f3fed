import { isIP } from "node:net";
import type { Clock } from "../lib/clock.ts";
import type { EgressRules } from "./addresses.ts";
import { EgressRefused, guardedLookup } from "./guarded-connect.ts";
import { createResolve, type Resolve } from "./resolve.ts";

interface OpenAddressDeps {
  rules: EgressRules;
  clock: Clock;
  resolve?: Resolve;
}

/**
 * Resolves a host to an allowed address, for connections other than HTTP (SMPP). Connecting to this address and not to the
 * name prevents DNS rebinding. Rejects with the reason if no address is allowed.
 */
export function createOpenAddress({
  rules,
  clock,
  resolve = createResolve(),
}: OpenAddressDeps): (host: string) => Promise<string> {
  const lookup = guardedLookup(rules, clock, resolve);
  return (host) =>
    new Promise((resolveAddress, reject) => {
      // A literal address needs no lookup.
      if (isIP(host) !== 0) return rules.isOpen(host) ? resolveAddress(host) : reject(new EgressRefused(host));
      lookup(host, { all: false }, (error, address) =>
        typeof address === "string" && !error ? resolveAddress(address) : reject(error ?? new EgressRefused(host)),
      );
    });
}
