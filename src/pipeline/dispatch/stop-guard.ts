import { startStopwatch, type Clock } from "../../lib/clock.ts";
import type { Message } from "../../model/message.ts";
import type { NodeStore } from "../../store/nodes.ts";

/**
 * Lease on the store's answer that a message is not stopped: a node writes the message to its carrier within this time, or asks
 * again. With other nodes alive, a stop is acknowledged this long after its commit. It is longer than a commit and the wait
 * for a carrier's window usually take.
 */
export const LEASE_MS = 1000;

/** The scope of a stop: promotions to numbers, or a campaign. */
export type Stopped = { accountId: number } & ({ numbers: readonly string[] } | { campaignName: string });

interface StopGuardDeps {
  store: Pick<NodeStore, "countNodes">;
  clock: Clock;
}

const numberKey = (accountId: number, number: string): string => `n ${accountId} ${number}`;
const campaignKey = (accountId: number, name: string): string => `c ${accountId} ${name}`;

/**
 * Guarantees that no message leaves after a stop (opt-out, pause, cancellation) was acknowledged. The store records an intent
 * only without a stop; leases cover the time from the intent to the write to the carrier. A stop on this node ends the leases
 * of its messages. Leases of other nodes expire before the stop is acknowledged, so nodes need neither messages to each other
 * nor synchronised clocks.
 */
export class StopGuard {
  readonly #deps: StopGuardDeps;
  /** Stops on this node in order of time; those older than a lease have no effect. */
  readonly #stops = new Map<string, { count: number; at: number }>();
  #count = 0;

  constructor(deps: StopGuardDeps) {
    this.#deps = deps;
  }

  /** Called once a stop is committed; resolves when no node can send a stopped message any more. */
  async waitUntilEffective(stopped: Stopped): Promise<void> {
    const { clock, store } = this.#deps;
    const now = clock.monotonic();
    for (const [key, { at }] of this.#stops) {
      if (now - at < LEASE_MS) break;
      this.#stops.delete(key);
    }
    this.#count += 1;
    for (const key of keysOf(stopped)) {
      this.#stops.delete(key);
      this.#stops.set(key, { count: this.#count, at: now });
    }
    if ((await store.countNodes()) > 1) await new Promise<void>((resolve) => void clock.after(LEASE_MS, resolve));
  }

  /** Issued before the store is asked about a message. The function returns whether the answer is still valid. */
  issueLease({ accountId, recipient, routeClass, campaignName }: Message): () => boolean {
    const { clock } = this.#deps;
    const elapsed = startStopwatch(clock);
    const count = this.#count;
    const number = routeClass === "PROMO" ? numberKey(accountId, recipient) : null;
    const campaign = campaignName === null ? null : campaignKey(accountId, campaignName);
    const isStopped = (key: string | null): boolean => key !== null && (this.#stops.get(key)?.count ?? 0) > count;
    return () => elapsed() < LEASE_MS && !isStopped(number) && !isStopped(campaign);
  }
}

function keysOf(stopped: Stopped): string[] {
  const { accountId } = stopped;
  if ("campaignName" in stopped) return [campaignKey(accountId, stopped.campaignName)];
  return stopped.numbers.map((number) => numberKey(accountId, number));
}
