import { rm } from "node:fs/promises";
import type { Readable } from "node:stream";
import type { Clock } from "../lib/clock.ts";
import { newId } from "../lib/ids.ts";
import { declaredType, MEDIA_TYPES, type StoredMedia } from "../model/media.ts";
import { Problem } from "../model/problem.ts";
import type { MediaStore } from "../store/media.ts";
import type { MediaFiles } from "./media-files.ts";
import { FileTooLarge, stageFile, type StagedFile } from "./staged-file.ts";

export interface MediaLibraryDeps {
  store: MediaStore;
  /** Null where no storage is configured, which several nodes on one database need. */
  files: MediaFiles | null;
  /** Folder of files that are being received. */
  stagingFolder: string;
  clock: Clock;
  /** True if the disk of the folder has no room for so many bytes. */
  isDiskFull(bytes: number): Promise<boolean>;
  bytesMax: number;
  /** Bytes of all uploads of an account. */
  storedMax: number;
  /** Life of an upload after its last use. */
  lifeMs: number;
}

interface Upload {
  accountId: number;
  test: boolean;
  source: AsyncIterable<Buffer>;
  /** Content type as the client declares it; empty if it does not. */
  declared: string;
  /** The field of the request that declares it. */
  parameter: string;
  name: string | null;
  /** Announced bytes; 0 if they are unknown. */
  announced: number;
}

const MIB = 1_048_576;
const HOUR_MS = 3_600_000;
/** Uploads that a node receives at once, of all accounts and of one. */
const UPLOADS_MAX = 32;
const UPLOADS_OF_ACCOUNT_MAX = 8;
const RETRY_SECONDS = 5;

/** The files of all accounts: their bytes in the storage, their records in the database. */
export class MediaLibrary {
  readonly #deps: MediaLibraryDeps;
  readonly #running = new Map<number, number>();

  constructor(deps: MediaLibraryDeps) {
    this.#deps = deps;
  }

  /** The storage; refuses where none is configured. */
  requireFiles(): MediaFiles {
    const { files } = this.#deps;
    if (!files) throw new Problem("MEDIA_STORAGE_MISSING");
    return files;
  }

  /** Stores a file. Identical content of an account is stored once: the second upload gets the first one's record. */
  async upload(upload: Upload): Promise<{ media: StoredMedia; isNew: boolean }> {
    const { accountId } = upload;
    const files = this.requireFiles();
    const running = this.#running.get(accountId) ?? 0;
    const all = [...this.#running.values()].reduce((sum, count) => sum + count, 0);
    if (running >= UPLOADS_OF_ACCOUNT_MAX || all >= UPLOADS_MAX)
      throw new Problem("OVERLOADED", {
        message: `${running >= UPLOADS_OF_ACCOUNT_MAX ? `An account has at most ${UPLOADS_OF_ACCOUNT_MAX}` : `This node receives at most ${UPLOADS_MAX}`} uploads at once: retry.`,
        retryAfterSeconds: RETRY_SECONDS,
      });
    this.#running.set(accountId, running + 1);
    try {
      return await this.#store(upload, files);
    } finally {
      const left = (this.#running.get(accountId) ?? 1) - 1;
      if (left === 0) this.#running.delete(accountId);
      else this.#running.set(accountId, left);
    }
  }

  async #store(upload: Upload, files: MediaFiles): Promise<{ media: StoredMedia; isNew: boolean }> {
    const { stagingFolder, clock } = this.#deps;
    const { accountId, announced } = upload;
    await this.#refuseFull(accountId, announced);
    const id = newId(clock.now());
    const staged = await this.#stage(stagingFolder, id, upload);
    try {
      const type = typeOfUpload(staged, upload);
      refuseLarge(type, staged.size, upload.parameter);
      const known = await this.#renewKnown(upload, type, staged);
      if (known) return { media: known, isNew: false };
      await this.#refuseFull(accountId, staged.size);
      return await this.#keep(upload, files, { id, type, staged });
    } finally {
      await rm(staged.path, { force: true });
    }
  }

  async #keep(
    upload: Upload,
    files: MediaFiles,
    { id, type, staged }: { id: string; type: string; staged: StagedFile },
  ): Promise<{ media: StoredMedia; isNew: boolean }> {
    const { store, clock, lifeMs } = this.#deps;
    const { accountId, test, name } = upload;
    const { size, sha256, path } = staged;
    const now = clock.now();
    const expiresAt = now + lifeMs;
    const about = { type, size, sha256, name, inboundId: null, failure: null, createdAt: now, expiresAt };
    const media: StoredMedia = { accountId, id, test, state: "storing", ...about };
    // The record comes first: a crash in between leaves a record that the job removes with the bytes.
    await store.addMedia(media, now + HOUR_MS);
    try {
      await files.put(media, path);
      await store.keepMedia(media, contentKeyOf(upload, type, sha256));
    } catch (error) {
      await this.remove(media);
      // The same content was uploaded at the same time.
      const known = await this.#renewKnown(upload, type, staged);
      if (known) return { media: known, isNew: false };
      throw error;
    }
    return { media: { ...media, state: "ready" }, isNew: true };
  }

  async #stage(folder: string, id: string, { source, parameter }: Upload): Promise<StagedFile> {
    const { bytesMax } = this.#deps;
    try {
      return await stageFile(folder, id, source, bytesMax);
    } catch (error) {
      if (!(error instanceof FileTooLarge)) throw error;
      throw tooLarge(`A file has at most ${bytesMax / MIB} MiB (HELIOGRAPH_MEDIA_MAX_MB).`, parameter);
    }
  }

  async #refuseFull(accountId: number, bytes: number): Promise<void> {
    const { store, storedMax, isDiskFull } = this.#deps;
    if (await isDiskFull(bytes)) throw new Problem("STORAGE_FULL", { retryAfterSeconds: RETRY_SECONDS });
    const stored = await store.countMediaBytes(accountId);
    if (stored + bytes <= storedMax) return;
    throw new Problem("MEDIA_FULL", {
      message: `The files of an account have at most ${storedMax / MIB} MiB (HELIOGRAPH_MEDIA_STORED_MB), and those of this one have ${Math.ceil(stored / MIB)}: delete some.`,
    });
  }

  async #renewKnown(upload: Upload, type: string, { sha256 }: StagedFile): Promise<StoredMedia | null> {
    const { store } = this.#deps;
    const known = await store.findMediaByContent(upload.accountId, contentKeyOf(upload, type, sha256));
    return known && this.renew(known);
  }

  /** Postpones the end of an upload that is used; written at most twice in its life. */
  async renew(media: StoredMedia): Promise<StoredMedia> {
    const { store, clock, lifeMs } = this.#deps;
    const expiresAt = clock.now() + lifeMs;
    if (media.expiresAt === null || media.expiresAt > expiresAt - lifeMs / 2) return media;
    await store.renewMedia(media, expiresAt);
    return { ...media, expiresAt };
  }

  /** Ready uploads and files of users, for messages. */
  async findUsable(accountId: number, ids: readonly string[]): Promise<ReadonlyMap<string, StoredMedia>> {
    const found = await this.#deps.store.findMediaList(accountId, ids);
    const usable = new Map<string, StoredMedia>();
    for (const media of found) if (media.state === "ready") usable.set(media.id, await this.renew(media));
    return usable;
  }

  /** Null if the bytes are not in the storage. */
  read(media: Pick<StoredMedia, "accountId" | "id">): Promise<{ bytes: number; body: Readable } | null> {
    return this.requireFiles().read(media);
  }

  /** Hides media, and removes its bytes if the storage is there; the job repeats what fails. False if it is unknown. */
  async remove(media: Pick<StoredMedia, "accountId" | "id">): Promise<boolean> {
    const { store, files, clock } = this.#deps;
    const isKnown = await store.releaseMedia(media, clock.now());
    if (isKnown && files)
      await removeBytes({ store, files }, media).catch(() => {
        // The job tries again.
      });
    return isKnown;
  }
}

/** Bytes first: a crash in between leaves a record by which the job finds them. */
export async function removeBytes(
  { store, files }: { store: MediaStore; files: MediaFiles },
  media: Pick<StoredMedia, "accountId" | "id">,
): Promise<void> {
  await files.remove(media);
  await store.endMediaRemoval(media);
}

/** Live and test uploads are apart, and a type belongs to the content: one MP4 may be a video or an audio. */
const contentKeyOf = ({ test }: Pick<Upload, "test">, type: string, sha256: string): string =>
  `${test ? "test" : "live"} ${type} ${sha256}`;

function typeOfUpload({ types, size }: StagedFile, { declared, parameter }: Upload): string {
  const [likeliest] = types;
  if (size === 0)
    throw new Problem("INVALID_REQUEST", { faults: [{ parameter: "file", message: "The file is empty." }] });
  if (likeliest === undefined)
    throw new Problem("MEDIA_TYPE_UNSUPPORTED", {
      message: "The content of the file is of no type that a message can show.",
      faults: [{ parameter: "file", message: `The content is one of ${Object.keys(MEDIA_TYPES).join(", ")}.` }],
    });
  const wanted = declaredType(declared);
  if (wanted === null || types.includes(wanted)) return wanted ?? likeliest;
  throw new Problem("MEDIA_TYPE_UNSUPPORTED", {
    message: `The content is ${likeliest} and not ${wanted}, as ${parameter} says.`,
    faults: [{ parameter, message: `Send the type of the content, ${types.join(" or ")}, or leave it out.` }],
  });
}

function refuseLarge(type: string, size: number, parameter: string): void {
  const { bytesMax = 0, kind = "file" } = MEDIA_TYPES[type] ?? {};
  if (size > bytesMax)
    throw tooLarge(`A file of the type ${type} (${kind}) has at most ${bytesMax / 1024} KiB.`, parameter);
}

const tooLarge = (message: string, parameter: string): Problem =>
  new Problem("MEDIA_TOO_LARGE", {
    message,
    faults: [{ parameter: parameter === "Content-Type" ? "file" : parameter, message }],
  });
