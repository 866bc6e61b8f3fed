import type { Clock } from "../lib/clock.ts";
import { LETTERS_AND_DIGITS, randomText } from "../lib/random.ts";
import { cancelMessage, type CancelDeps } from "../pipeline/cancel.ts";
import type { AudienceStore } from "../store/audiences.ts";
import type { MediaStore } from "../store/media.ts";
import { ERASED_TABLES, type ErasureStore, type ErasureWork } from "../store/erasures.ts";
import type { OptOutStore } from "../store/opt-outs.ts";
import type { Store } from "../store/store.ts";
import { ERASED_KNOWN_MS, type DigestNumber } from "./erased-opt-outs.ts";

interface ErasureJobDeps {
  store: ErasureStore &
    Pick<AudienceStore, "eraseFromAudiences"> &
    Pick<MediaStore, "releaseMediaOfNumber" | "countMediaOfNumber"> &
    Pick<OptOutStore, "areOptedOut"> &
    Pick<Store, "engine">;
  cancelDeps: CancelDeps;
  digestOf: DigestNumber;
  clock: Clock;
}

/** A process that stops working on an erasure loses it to another one after this time. */
const CLAIM_MS = 10_000;
/** A run ends after this time, so that a shutdown does not wait for a whole table. */
const RUN_MS = 300;
/** Rows that a step looks at. */
const LOOK_ROWS = 1000;
/** Pause before messages that were on their way, and files that were being checked, are looked at again. */
const PENDING_MS = 2000;

/**
 * The job that erases numbers. It looks at every table in short steps and notes its place after each, so that any process
 * continues after a crash. It ends with a pass that has found nothing, because messages and receipts may have come meanwhile.
 */
export function createErasureJob({
  store,
  cancelDeps,
  digestOf,
  clock,
}: ErasureJobDeps): () => Promise<number | undefined> {
  const claim = randomText(LETTERS_AND_DIGITS, 16);
  const lists = [{ test: false }, { test: true }];

  /** Does the next step; null at the end of the work, for now or for good. */
  async function step(work: ErasureWork): Promise<ErasureWork | null> {
    const { accountId, number } = work.erasure;
    let { found } = work;
    let erased = 0;
    if (work.step === 0 && work.position.length === 0) {
      await keepOptOuts(work);
      erased += await store.eraseFromAudiences(accountId, number);
      // A job removes the bytes.
      await store.releaseMediaOfNumber(accountId, number, clock.now());
    }
    if (work.step >= ERASED_TABLES.length) return endPass(work);
    const stretch = await store.eraseStretch(work, LOOK_ROWS);
    for (const ref of stretch.pending) await cancelMessage(cancelDeps, ref);
    erased += stretch.erased;
    found += erased + stretch.pending.length;
    const place = stretch.position
      ? { step: work.step, position: stretch.position }
      : { step: work.step + 1, position: [] };
    return advance(work, { ...place, found, erased, nextAt: 0 });
  }

  async function advance(
    work: ErasureWork,
    to: Pick<ErasureWork, "step" | "position" | "found"> & { erased: number; nextAt: number },
  ): Promise<ErasureWork | null> {
    const { step: next, position, found } = to;
    const isOurs = await store.advanceErasure(work, { ...to, claimedUntil: clock.now() + CLAIM_MS });
    return isOurs && to.nextAt === 0 ? { ...work, step: next, position, found } : null;
  }

  /** The opt-outs of the number stay by their keyed hashes, which all nodes know before the number is removed. */
  async function keepOptOuts({ erasure: { accountId, number } }: ErasureWork): Promise<void> {
    const areOnList = await store.areOptedOut(lists.map(({ test }) => ({ accountId, number, test })));
    for (const [index, { test }] of lists.entries())
      if (areOnList[index])
        await store.addErasedOptOut({ accountId, test, digest: digestOf(accountId, number), at: clock.now() });
  }

  async function endPass(work: ErasureWork): Promise<null> {
    const { requestedAt } = work.erasure;
    const unmatched = await store.eraseUnmatched(work);
    const { accountId, number } = work.erasure;
    const files = await store.countMediaOfNumber(accountId, number);
    const isKnown = clock.now() >= requestedAt + ERASED_KNOWN_MS;
    const again = { step: 0, position: [], found: 0, erased: unmatched };
    if (work.found > 0 || unmatched > 0 || files > 0 || !isKnown || (await store.countUnsearchedFiles(work)) > 0) {
      await advance(work, { ...again, nextAt: clock.now() + PENDING_MS });
      return null;
    }
    await store.eraseOptOuts(work);
    await store.endErasure(work, clock.now());
    return null;
  }

  return async () => {
    const startedAt = clock.monotonic();
    let work = await store.claimErasure(claim, clock.now(), clock.now() + CLAIM_MS);
    if (!work) return undefined;
    while (work && clock.monotonic() - startedAt < RUN_MS) work = await step(work);
    // A rest as long as the work, in which sends find the database free.
    return RUN_MS;
  };
}
