import { sql } from "kysely";
import type { MediaState, StoredMedia } from "../model/media.ts";
import type { Engine } from "./engine.ts";
import { pageOf } from "./page-of.ts";
import type { Page } from "./store.ts";
import type { MediaRow } from "./tables.ts";

type MediaRef = Pick<StoredMedia, "accountId" | "id">;

/** Media with bytes to fetch or to remove. */
export interface DueMedia {
  media: StoredMedia;
  /** Address of a user's file, as its carrier wrote it. */
  source: string | null;
  attempts: number;
  dueAt: number;
}

interface MediaFilter {
  /** Only those of test keys. */
  test?: true;
  /** Only uploads, or only files of users. */
  from?: "upload" | "inbound";
}

interface FetchedContent {
  type: string;
  size: number;
  sha256: string;
}

export interface MediaStore {
  /** Adds an upload whose bytes are on their way into the storage; after `dueAt` it counts as interrupted. */
  addMedia(media: StoredMedia, dueAt: number): Promise<void>;
  /** The bytes are stored. Rejects if the account has the same content already, which `contentKey` names. */
  keepMedia(ref: MediaRef, contentKey: string): Promise<void>;
  /** Hidden rows are not found. */
  findMedia(ref: MediaRef): Promise<StoredMedia | null>;
  findMediaList(accountId: number, ids: readonly string[]): Promise<readonly StoredMedia[]>;
  findMediaByContent(accountId: number, contentKey: string): Promise<StoredMedia | null>;
  /** Newest first. */
  listMedia(
    accountId: number,
    filter: MediaFilter,
    after: string | null,
    limit: number,
  ): Promise<Page<StoredMedia, string>>;
  /** Bytes of the uploads of an account. */
  countMediaBytes(accountId: number): Promise<number>;
  renewMedia(ref: MediaRef, expiresAt: number): Promise<void>;
  /** Hides media at once; a job removes the bytes. False if it is unknown. */
  releaseMedia(ref: MediaRef, at: number): Promise<boolean>;
  /** Hides media that has expired. */
  expireMedia(now: number): Promise<void>;
  /** Hides files of users from before a time. */
  releaseInboundMedia(accountId: number, before: number, at: number): Promise<void>;
  /** Hides all files of a number. */
  releaseMediaOfNumber(accountId: number, number: string, at: number): Promise<void>;
  /** Files of a number whose bytes may still be there. */
  countMediaOfNumber(accountId: number, number: string): Promise<number>;
  /** Bytes to fetch, or to remove, longest due first. */
  listDueMedia(work: "fetch" | "remove", now: number, limit: number): Promise<readonly DueMedia[]>;
  /** Reserves due media for this process until a time. False if another process was quicker. */
  takeDueMedia(due: DueMedia, until: number): Promise<boolean>;
  /** A user's file is fetched and stored. False if it was hidden meanwhile. */
  endMediaFetch(ref: MediaRef, content: FetchedContent): Promise<boolean>;
  /** A user's file could not be fetched: again at a time, or never with null. */
  noteMediaFailure(ref: MediaRef, failure: string, retryAt: number | null): Promise<void>;
  /** Deletes a hidden row, once its bytes are gone. */
  endMediaRemoval(ref: MediaRef): Promise<void>;
  /** The platform's id of media at a place, if it is valid for longer than `now`. */
  findMediaUpload(ref: MediaRef, place: string, now: number): Promise<string | null>;
  keepMediaUpload(ref: MediaRef, upload: { place: string; platformId: string; expiresAt: number }): Promise<void>;
}

const VISIBLE = ["pending", "ready", "failed"];

export function createMedia({ db, inBackground }: Engine): MediaStore {
  const ofRow = ({ accountId, id }: MediaRef) =>
    db.updateTable("media").where("account_id", "=", accountId).where("id", "=", id);
  const inAccount = (accountId: number) =>
    db.selectFrom("media").selectAll().where("account_id", "=", accountId).where("state", "in", VISIBLE);
  /** The content may come again while the bytes are removed. */
  const hidden = (at: number) => ({ state: "deleting", content_key: null, due_at: at });

  return {
    async addMedia(media, dueAt) {
      await db.insertInto("media").values(rowOf(media, dueAt)).execute();
    },

    async keepMedia(ref, contentKey) {
      await ofRow(ref).set({ state: "ready", content_key: contentKey }).where("state", "=", "storing").execute();
    },

    async findMedia({ accountId, id }) {
      const row = await inAccount(accountId).where("id", "=", id).executeTakeFirst();
      return row ? mediaOf(row) : null;
    },

    async findMediaList(accountId, ids) {
      if (ids.length === 0) return [];
      const rows = await inAccount(accountId).where("id", "in", ids).execute();
      return rows.map(mediaOf);
    },

    async findMediaByContent(accountId, contentKey) {
      const row = await inAccount(accountId).where("content_key", "=", contentKey).executeTakeFirst();
      return row ? mediaOf(row) : null;
    },

    async listMedia(accountId, { test, from }, after, limit) {
      let found = inAccount(accountId);
      if (test) found = found.where("test", "=", 1);
      if (from === "upload") found = found.where("inbound_id", "is", null);
      if (from === "inbound") found = found.where("inbound_id", "is not", null);
      if (after !== null) found = found.where("id", "<", after);
      const rows = await found
        .orderBy("id", "desc")
        .limit(limit + 1)
        .execute();
      return pageOf(rows, limit, mediaOf, ({ id }) => id);
    },

    async countMediaBytes(accountId) {
      const { rows } = await sql<{ bytes: number | null }>`select cast(sum(size) as bigint) as bytes from media
        where account_id = ${accountId} and inbound_id is null and state <> 'deleting'`.execute(db);
      return rows[0]?.bytes ?? 0;
    },

    async renewMedia(ref, expiresAt) {
      await ofRow(ref).set({ expires_at: expiresAt }).where("expires_at", "<", expiresAt).execute();
    },

    async releaseMedia(ref, at) {
      const { numUpdatedRows } = await ofRow(ref).set(hidden(at)).where("state", "!=", "deleting").executeTakeFirst();
      return numUpdatedRows === 1n;
    },

    async expireMedia(now) {
      await inBackground([
        db
          .updateTable("media")
          .set(hidden(now))
          // Literal states, so that the partial index serves the statement.
          .where(sql<boolean>`state in ('ready', 'failed')`)
          .where("expires_at", "<", now)
          .compile(),
      ]);
    },

    async releaseInboundMedia(accountId, before, at) {
      await inBackground([
        db
          .updateTable("media")
          .set(hidden(at))
          .where("account_id", "=", accountId)
          .where("inbound_id", "is not", null)
          .where("created_at", "<", before)
          .where("state", "!=", "deleting")
          .compile(),
      ]);
    },

    async releaseMediaOfNumber(accountId, number, at) {
      await db
        .updateTable("media")
        .set(hidden(at))
        .where("account_id", "=", accountId)
        .where("number", "=", number)
        .where("state", "!=", "deleting")
        .execute();
    },

    async countMediaOfNumber(accountId, number) {
      const { rows } = await sql<{ count: number }>`select count(*) as count from media
        where account_id = ${accountId} and number = ${number}`.execute(db);
      return rows[0]?.count ?? 0;
    },

    async listDueMedia(work, now, limit) {
      const rows = await db
        .selectFrom("media")
        .selectAll()
        // The condition of the partial index stands beside the narrower one: SQLite recognises it only by its text.
        .where(sql<boolean>`state in ('pending', 'storing', 'deleting')`)
        .where("state", work === "fetch" ? "=" : "!=", "pending")
        .where("due_at", "<=", now)
        .orderBy("due_at")
        .limit(limit)
        .execute();
      return rows.map((row) => ({
        media: mediaOf(row),
        source: row.source,
        attempts: row.attempts,
        dueAt: row.due_at,
      }));
    },

    async takeDueMedia({ media, dueAt }, until) {
      const { numUpdatedRows } = await ofRow(media)
        .set({ due_at: until })
        .where("state", "=", media.state)
        .where("due_at", "=", dueAt)
        .executeTakeFirst();
      return numUpdatedRows === 1n;
    },

    async endMediaFetch(ref, { type, size, sha256 }) {
      const { numUpdatedRows } = await ofRow(ref)
        .set({ state: "ready", type, size, sha256, source: null, failure: null })
        .where("state", "=", "pending")
        .executeTakeFirst();
      return numUpdatedRows === 1n;
    },

    async noteMediaFailure(ref, failure, retryAt) {
      await ofRow(ref)
        .set({
          failure,
          attempts: sql`attempts + 1`,
          ...(retryAt === null ? { state: "failed", source: null } : { due_at: retryAt }),
        })
        .where("state", "=", "pending")
        .execute();
    },

    async endMediaRemoval({ accountId, id }) {
      await inBackground([
        db.deleteFrom("media_uploads").where("account_id", "=", accountId).where("media_id", "=", id).compile(),
        db
          .deleteFrom("media")
          .where("account_id", "=", accountId)
          .where("id", "=", id)
          .where("state", "=", "deleting")
          .compile(),
      ]);
    },

    async findMediaUpload({ accountId, id }, place, now) {
      const row = await db
        .selectFrom("media_uploads")
        .selectAll()
        .where("account_id", "=", accountId)
        .where("media_id", "=", id)
        .where("destination", "=", place)
        .where("expires_at", ">", now)
        .executeTakeFirst();
      return row?.platform_id ?? null;
    },

    async keepMediaUpload({ accountId, id }, { place, platformId, expiresAt }) {
      const content = { platform_id: platformId, expires_at: expiresAt };
      await db
        .insertInto("media_uploads")
        .values({ account_id: accountId, media_id: id, destination: place, ...content })
        .onConflict((conflict) => conflict.columns(["account_id", "media_id", "destination"]).doUpdateSet(content))
        .execute();
    },
  };
}

const rowOf = (media: StoredMedia, dueAt: number): MediaRow => ({
  account_id: media.accountId,
  id: media.id,
  test: media.test ? 1 : 0,
  state: media.state,
  type: media.type,
  size: media.size,
  sha256: media.sha256,
  name: media.name,
  number: null,
  inbound_id: media.inboundId,
  source: null,
  content_key: null,
  failure: media.failure,
  attempts: 0,
  created_at: media.createdAt,
  expires_at: media.expiresAt,
  due_at: dueAt,
});

const mediaOf = (row: MediaRow): StoredMedia => ({
  accountId: row.account_id,
  id: row.id,
  test: row.test === 1,
  state: row.state as MediaState,
  type: row.type,
  size: row.size,
  sha256: row.sha256,
  name: row.name,
  inboundId: row.inbound_id,
  failure: row.failure,
  createdAt: row.created_at,
  expiresAt: row.expires_at,
});
