import { createHmac } from "node:crypto";
import type { Clock } from "../lib/clock.ts";
import type { ErasureStore } from "../store/erasures.ts";
import type { OptOutStore } from "../store/opt-outs.ts";
import type { StopStore } from "../store/stops.ts";

/** The keyed hash of an account's number. Without the key, the few numbers of the world could be tried. */
export type DigestNumber = (accountId: number, number: string) => string;

export const createNumberDigest =
  (key: Buffer): DigestNumber =>
  (accountId, number) =>
    createHmac("sha256", key).update(`${accountId} ${number}`).digest("base64url");

/** A node reads this often whether an account has hashed opt-outs: most have none, and their sends cost one look at a map. */
const REFRESH_MS = 2000;
/** By then every node knows of a new hash. */
export const ERASED_KNOWN_MS = 2 * REFRESH_MS;

type Listed = OptOutStore & StopStore & ErasureStore;
type Asked = Parameters<OptOutStore["areOptedOut"]>[0][number];

/** Lets the opt-outs of erased numbers bind, of which only keyed hashes are stored. */
export function keepErasedOptOuts<S extends Listed>(
  store: S,
  { digestOf, clock }: { digestOf: DigestNumber; clock: Pick<Clock, "monotonic"> },
): S {
  const known = new Map<number, { at: number; hasAny: Promise<boolean> }>();

  function hasAny(accountId: number): Promise<boolean> {
    const before = known.get(accountId);
    if (before && clock.monotonic() - before.at < REFRESH_MS) return before.hasAny;
    const found = store.countErasedOptOuts(accountId).then((count) => count > 0);
    known.set(accountId, { at: clock.monotonic(), hasAny: found });
    found.catch(() => known.delete(accountId));
    return found;
  }

  /** For each number, true if its hash is stored. */
  async function areErased(batch: readonly Asked[]): Promise<readonly boolean[]> {
    const results = batch.map(() => false);
    const places = batch.map((item, index) => ({ ...item, index }));
    for (const [, items] of Map.groupBy(places, ({ accountId, test = false }) => `${accountId} ${test}`)) {
      const [{ accountId, test = false } = { accountId: 0 }] = items;
      if (!(await hasAny(accountId))) continue;
      const digests = items.map(({ number }) => digestOf(accountId, number));
      const found = await store.areErasedOptOuts(accountId, test, digests);
      for (const [place, { index }] of items.entries()) results[index] = found.has(digests[place] ?? "");
    }
    return results;
  }

  return {
    ...store,
    async areOptedOut(batch) {
      const [listed, erased] = [await store.areOptedOut(batch), await areErased(batch)];
      return listed.map((isListed, index) => isListed || erased[index] === true);
    },
    async findStops(batch) {
      const stops = await store.findStops(batch);
      const asked = batch.map(({ accountId, number, test }) => ({ accountId, number: number ?? "", test }));
      const erased = await areErased(asked);
      return stops.map((stop, index) => ({ ...stop, optedOut: stop.optedOut || erased[index] === true }));
    },
    async findOptOut(accountId, number) {
      const listed = await store.findOptOut(accountId, number);
      if (listed) return listed;
      const [isErased = false] = await areErased([{ accountId, number }]);
      return isErased ? { accountId, number, source: "reply", note: "erased number", createdAt: 0 } : null;
    },
    async removeOptOut(accountId, number, before, list) {
      const test = list?.test ?? false;
      const isListed = await store.removeOptOut(accountId, number, before, list);
      if (!(await hasAny(accountId))) return isListed;
      return (await store.removeErasedOptOut({ accountId, test, digest: digestOf(accountId, number) })) || isListed;
    },
  };
}
