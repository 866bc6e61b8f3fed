import { sql } from "kysely";
import { FILE, type AudienceRef } from "./audience-rows.ts";
import type { Engine } from "./engine.ts";
import type { Tables } from "./tables.ts";

/** The uploaded files of audiences. */
export interface AudienceFileStore {
  /**
   * Stores a part of the file if it continues what was received. The last part ends the upload and starts the check. Returns false
   * if the offset is another one, or the upload has ended.
   */
  addAudiencePart(ref: AudienceRef, part: { offset: number; content: Buffer }): Promise<boolean>;
  /** Bytes of the uploaded file from an offset, up to the end of the part that holds it. */
  findAudienceBytes(ref: AudienceRef, offset: number): Promise<Buffer | null>;
  /** Removes files that were checked before a time, and begins to remove uploads that were created before a time. */
  releaseAudienceFiles(checkedBefore: number, startedBefore: number): Promise<void>;
}

/** A part is stored in pieces, so that the check has no more than one in memory. */
const PIECE_BYTES = 196_608;
/** Pieces that a transaction removes. SQLite has one writer, and reads all pages of a long value to free them. */
const REMOVED_PIECES = 16;

const isOf = ({ accountId, id }: AudienceRef) => sql<boolean>`account_id = ${accountId} and audience_id = ${id}`;

const ofRow = ({ db }: Pick<Engine, "db">, { accountId, id }: AudienceRef) =>
  db.updateTable("audiences").where("account_id", "=", accountId).where("id", "=", id);

/** Removes a file that is no longer wanted, in short transactions: a send waits for the end of each. */
export async function removeAudienceFile(
  { db, inBackground }: Pick<Engine, "db" | "inBackground">,
  ref: AudienceRef,
): Promise<void> {
  const isUnwanted = sql<boolean>`exists (select 1 from audiences
      where audiences.account_id = ${ref.accountId} and id = ${ref.id} and (has_file <> ${FILE.stored} or state = 'deleting'))`;
  const last = sql<number>`(select max(at) from (select at from audience_parts
      where ${isOf(ref)} order by at limit ${REMOVED_PIECES}) as first)`;
  const some = db.deleteFrom("audience_parts").where(isOf(ref)).where(isUnwanted).where("at", "<=", last).compile();
  for (let removed = REMOVED_PIECES; removed >= REMOVED_PIECES;) {
    const { changes } = await inBackground([some]);
    removed = changes[0] ?? 0;
  }
  await ofRow({ db }, ref).set({ has_file: FILE.none }).where("has_file", "=", FILE.leaving).execute();
}

export function createAudienceFiles({ db, rowsOf, atomically, inBackground }: Engine): AudienceFileStore {
  return {
    async addAudiencePart(ref, { offset, content }) {
      const end = offset + content.length;
      const continues = sql<boolean>`state = 'uploading' and received = ${offset}`;
      const pieces: Tables["audience_parts"][] = [];
      for (let at = 0; at < content.length; at += PIECE_BYTES) {
        const piece = content.subarray(at, at + PIECE_BYTES);
        const { accountId: account_id, id: audience_id } = ref;
        pieces.push({
          account_id,
          audience_id,
          at: offset + at,
          bytes: piece.length,
          content: piece.toString("base64"),
        });
      }
      const types = {
        account_id: "integer",
        audience_id: "uuid",
        at: "bigint",
        bytes: "integer",
        content: "text",
      } as const;
      const columns = ["account_id", "audience_id", "at", "bytes", "content"] as const;
      await atomically([
        // Locks the row, so that of two equal parts one is stored.
        ofRow({ db }, ref)
          .set({ received: sql`received` })
          .where(continues)
          .compile(),
        db
          .insertInto("audience_parts")
          .columns([...columns])
          .expression(
            db
              .selectFrom(rowsOf<Tables["audience_parts"]>(types, pieces).as("part"))
              .select([...columns])
              .where(
                sql<boolean>`exists (select 1 from audiences where audiences.account_id = ${ref.accountId} and id = ${ref.id} and ${continues})`,
              ),
          )
          .onConflict((conflict) => conflict.doNothing())
          .compile(),
        ofRow({ db }, ref)
          .set({
            received: end,
            state: sql`case when size <= ${end} then 'checking' else state end`,
          })
          .where(continues)
          .compile(),
      ]);
      const row = await db
        .selectFrom("audiences")
        .select("received")
        .where("account_id", "=", ref.accountId)
        .where("id", "=", ref.id)
        .where("state", "!=", "deleting")
        .executeTakeFirst();
      return row !== undefined && row.received >= end;
    },

    async findAudienceBytes(ref, offset) {
      const part = await db
        .selectFrom("audience_parts")
        .selectAll()
        .where(isOf(ref))
        .where("at", "<=", offset)
        .orderBy("at", "desc")
        .limit(1)
        .executeTakeFirst();
      if (!part || offset >= part.at + part.bytes) return null;
      return Buffer.from(part.content, "base64").subarray(offset - part.at);
    },

    async releaseAudienceFiles(checkedBefore, startedBefore) {
      // Literals of states and files, so that partial indexes serve these statements.
      await db
        .updateTable("audiences")
        .set({ state: "deleting", checked: -1 })
        .where(sql<boolean>`state = 'uploading'`)
        .where("created_at", "<", startedBefore)
        .execute();
      const refs = () => db.selectFrom("audiences").select(["account_id", "id"]).limit(20);
      const old = await refs()
        .where(sql<boolean>`has_file = 1`)
        .where("ended_at", "<", checkedBefore)
        .execute();
      for (const { account_id: accountId, id } of old)
        await ofRow({ db }, { accountId, id })
          .set({ has_file: FILE.leaving })
          .where("has_file", "=", FILE.stored)
          .where("ended_at", "<", checkedBefore)
          .execute();
      const leaving = await refs()
        .where(sql<boolean>`has_file = 2`)
        .execute();
      for (const { account_id: accountId, id } of leaving)
        await removeAudienceFile({ db, inBackground }, { accountId, id });
    },
  };
}
