import type { Clock } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";
import type { Account } from "../model/account.ts";
import type { DueMedia, MediaStore } from "../store/media.ts";
import { carrierOfDue, FETCH_LIMIT_MS, fetchMedia, type FetchMediaDeps } from "./fetch-media.ts";
import { removeBytes } from "./library.ts";
import type { MediaFiles } from "./media-files.ts";

interface MediaJobDeps extends Omit<FetchMediaDeps, "store" | "files"> {
  store: MediaStore & { listAccounts(): Promise<readonly Account[]> };
  files: MediaFiles | null;
  /** True on a node that has carriers, and so may fetch from their platforms. */
  sends: boolean;
  hasCarrier(accountId: number, carrier: string): boolean;
  clock: Clock;
  log: Log;
}

const BATCH = 50;
/** Files that a node fetches at once. */
const FETCHES_MAX = 8;
/** A process that stops while it works on a file loses it to another one after this time. */
const CLAIM_MS = FETCH_LIMIT_MS + 60_000;
/** A carrier that is not there may be enabled again. */
const NO_CARRIER_PAUSE_MS = 60_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/**
 * The job that ends expired media, removes the bytes of hidden media and of interrupted uploads, and fetches the files of users. A
 * run does not wait for its fetches, so that a slow platform does not hold up the others.
 */
export function createMediaJob(deps: MediaJobDeps): () => Promise<number | undefined> {
  const { store, clock } = deps;
  const fetching = new Set<string>();
  let expiredAt = Number.NEGATIVE_INFINITY;

  async function begin(due: DueMedia): Promise<void> {
    const { media } = due;
    if (fetching.has(media.id)) return;
    if (!deps.hasCarrier(media.accountId, carrierOfDue(due) ?? "")) return postpone(deps, due);
    if (!(await store.takeDueMedia(due, clock.now() + CLAIM_MS))) return;
    const { files } = deps;
    if (!files) return store.noteMediaFailure(media, "This server has no storage for media", null);
    fetching.add(media.id);
    void fetchMedia({ ...deps, files }, due)
      .catch((error: unknown) => deps.log.warn({ err: error, mediaId: media.id }, "media fetch not noted"))
      .finally(() => fetching.delete(media.id));
  }

  return async () => {
    if (clock.now() >= expiredAt + HOUR_MS) {
      await expire(deps);
      expiredAt = clock.now();
    }
    for (const due of await store.listDueMedia("remove", clock.now(), BATCH)) await remove(deps, due);
    const free = FETCHES_MAX - fetching.size;
    if (deps.sends && free > 0)
      for (const due of await store.listDueMedia("fetch", clock.now(), free)) await begin(due);
    return undefined;
  };
}

/** Without its carrier, a file waits for a day. */
async function postpone({ store, clock }: MediaJobDeps, due: DueMedia): Promise<void> {
  const { media } = due;
  if (clock.now() < media.createdAt + DAY_MS) await store.takeDueMedia(due, clock.now() + NO_CARRIER_PAUSE_MS);
  else await store.noteMediaFailure(media, "The carrier of the file is gone", null);
}

async function expire({ store, clock }: MediaJobDeps): Promise<void> {
  const now = clock.now();
  await store.expireMedia(now);
  for (const { id, settings } of await store.listAccounts())
    await store.releaseInboundMedia(id, now - settings.keepTextsDays * DAY_MS, now);
}

async function remove({ store, files, clock, log }: MediaJobDeps, due: DueMedia): Promise<void> {
  const { media } = due;
  if (!(await store.takeDueMedia(due, clock.now() + CLAIM_MS))) return;
  try {
    if (media.state === "storing") await store.releaseMedia(media, clock.now());
    if (files) await removeBytes({ store, files }, media);
    else await store.endMediaRemoval(media);
  } catch (error) {
    log.warn({ err: error, mediaId: media.id }, "media removal failed, will be repeated");
  }
}
