import type { IncomingMessage } from "node:http";
import { rm } from "node:fs/promises";
import type { FileLocation } from "../carriers/carrier.ts";
import type { FileTransfer } from "../egress/file-transfer.ts";
import type { Clock } from "../lib/clock.ts";
import { isObject } from "../lib/json.ts";
import type { Log } from "../lib/log.ts";
import type { DueMedia, MediaStore } from "../store/media.ts";
import type { MediaFiles } from "./media-files.ts";
import { FileTooLarge, stageFile } from "./staged-file.ts";

export interface FetchMediaDeps {
  store: MediaStore;
  files: MediaFiles;
  stagingFolder: string;
  transfer: FileTransfer;
  /** Asks the carrier where a user's file is; null if this node has no such carrier. */
  locate(accountId: number, carrier: string, uri: string): Promise<FileLocation> | null;
  bytesMax: number;
  clock: Clock;
  log: Log;
}

const SECOND_MS = 1000;
export const FETCH_LIMIT_MS = 120 * SECOND_MS;
/** Pauses after failures. Platforms keep files for days, so the last attempt comes a day after the first. */
const PAUSES_S = [5, 30, 120, 600, 3600, 3 * 3600, 8 * 3600, 12 * 3600];
/** The bytes of an unknown type, which are only ever downloaded. */
const ANY_TYPE = "application/octet-stream";

/** A failure that no repetition changes. */
class Gone extends Error {
  override name = "Gone";
}

/** Address of a user's file as its row has it. */
function sourceOf(source: string | null): { carrier: string; uri: string } | null {
  const parsed: unknown = source === null ? null : JSON.parse(source);
  if (!isObject(parsed)) return null;
  const { carrier, uri } = parsed;
  return typeof carrier === "string" && typeof uri === "string" ? { carrier, uri } : null;
}

/** The carrier of a file that is to be fetched. */
export const carrierOfDue = ({ source }: DueMedia): string | null => sourceOf(source)?.carrier ?? null;

/** Fetches a user's file from its platform into the storage. A failure is noted in its row, with the time of the next attempt. */
export async function fetchMedia(deps: FetchMediaDeps, due: DueMedia): Promise<void> {
  const { store, clock, log } = deps;
  const { media, attempts } = due;
  try {
    await fetchInto(deps, due);
  } catch (error) {
    const failure = error instanceof Error ? error.message : String(error);
    const pause = PAUSES_S[attempts];
    const retryAt = error instanceof Gone || pause === undefined ? null : clock.now() + pause * SECOND_MS;
    log.info({ mediaId: media.id, attempts: attempts + 1, willRepeat: retryAt !== null }, "media fetch failed");
    await store.noteMediaFailure(media, failure.slice(0, 300), retryAt);
  }
}

async function fetchInto(deps: FetchMediaDeps, due: DueMedia): Promise<void> {
  const { store, files, stagingFolder, transfer, locate } = deps;
  const { media } = due;
  const source = sourceOf(due.source);
  const located = source && (await locate(media.accountId, source.carrier, source.uri));
  if (!located) throw new Gone("The carrier of the file is gone");
  if (located.kind === "gone") throw new Gone(located.description);
  if (located.kind === "failed") throw new Error(located.description);
  const { status, body } = await transfer.get(located.url, { headers: located.headers, limitMs: FETCH_LIMIT_MS });
  if (status !== 200) {
    body.destroy();
    throw new Error(`The platform answered the download with HTTP ${status}`);
  }
  const staged = await stage(deps, stagingFolder, due, body);
  try {
    await files.put(media, staged.path);
    const content = { type: staged.types[0] ?? ANY_TYPE, size: staged.size, sha256: staged.sha256 };
    // Hidden meanwhile, by an erasure: its job may have removed the bytes before they came.
    if (!(await store.endMediaFetch(media, content))) await files.remove(media);
  } finally {
    await rm(staged.path, { force: true });
  }
}

async function stage({ bytesMax }: FetchMediaDeps, folder: string, { media }: DueMedia, body: IncomingMessage) {
  try {
    return await stageFile(folder, `${media.id}.${process.pid}`, body as AsyncIterable<Buffer>, bytesMax);
  } catch (error) {
    if (error instanceof FileTooLarge) throw new Gone(`The file has more than ${bytesMax} bytes`);
    throw error;
  } finally {
    body.destroy();
  }
}
