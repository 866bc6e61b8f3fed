import { sql, type RawBuilder } from "kysely";
import { newId } from "../lib/ids.ts";
import type { Engine } from "./engine.ts";
import { AGAIN } from "./inbound.ts";
import type { Tables } from "./tables.ts";

type Row = Tables["submitted_parts"];

/** Identifies one long text that a client submits in parts, until the client reuses the reference. */
export interface SubmittedKey {
  accountId: number;
  credentialId: string;
  source: string;
  destination: string;
  reference: string;
  total: number;
}

export interface SubmittedPart {
  /** The id in the submit response. */
  id: string;
  /** From 1. */
  index: number;
  /** The encrypted octets; empty once the text has ended. */
  octets: string;
  /** Equal for equal octets, without revealing them. */
  digest: string;
  dataCoding: number;
  registeredDelivery: number;
  /**
   * The id of a part of an ended text with the same place, reference and octets: this one may repeat it, because its response
   * was lost. It was answered with that id.
   */
  repeats: string | null;
}

/** The stored parts of a text that is not accepted yet. */
export interface SubmittedText extends SubmittedKey {
  /** Ordered by index. */
  parts: readonly SubmittedPart[];
  /** The other fields of the submit, as JSON. */
  fields: string;
  firstAt: number;
}

/** Texts that clients of the SMPP server submit in parts. */
export interface SubmittedPartStore {
  /**
   * Stores a part once, and returns it with the parts that are there. A repeated part keeps its first id, and names the part that
   * it repeats if that one's text ended after `repeatsSince`.
   */
  keepSubmittedPart(
    key: SubmittedKey,
    part: Omit<SubmittedPart, "repeats">,
    other: { fields: string; at: number; repeatsSince: number },
  ): Promise<{ part: SubmittedPart; text: SubmittedText }>;
  /** Removes the octets of a text that was accepted or given up. Its ids stay known; `requestId` is that of the message. */
  endSubmittedText(text: SubmittedText, requestId: string | null, at: number): Promise<void>;
  /** Texts whose parts are all there and from before a time, and those with a part from before `expiredBefore`. */
  listSubmittedTexts(
    wanted: { before: number; expiredBefore: number },
    limit: number,
  ): Promise<readonly SubmittedText[]>;
  /** The request that accepted a part; null if it is unknown, waits, or was given up. */
  findSubmittedRequest(accountId: number, partId: string): Promise<string | null>;
}

export function createSubmittedParts({ db, atomically }: Engine): SubmittedPartStore {
  const partsOf = (key: SubmittedKey) =>
    db.selectFrom("submitted_parts").selectAll().where(isOf(key)).where("done_at", "is", null).orderBy("part");

  /** A part whose text ended while it was kept: its own row, or that of the earlier part which it repeats. */
  async function findEnded(
    accountId: number,
    part: Omit<SubmittedPart, "repeats">,
    repeatsSince: number,
  ): Promise<SubmittedPart> {
    const rows = await db
      .selectFrom("submitted_parts")
      .select(["part_id", "repeats"])
      .where("account_id", "=", accountId)
      .where("digest", "=", part.digest)
      .where("done_at", ">=", repeatsSince)
      .orderBy("done_at", "desc")
      .execute();
    const found = rows.find((row) => row.part_id === part.id) ?? rows[0];
    return { ...part, id: found?.part_id ?? part.id, repeats: found?.repeats ?? null };
  }

  return {
    async keepSubmittedPart(key, part, { fields, at, repeatsSince }) {
      const hasOther = sql<boolean>`exists (select 1 from submitted_parts as other where ${isOf(key, "other")}
        and other.part = ${sql.lit(part.index)} and other.digest <> ${part.digest})`;
      const earlier = sql<{
        id: string;
      }>`(select coalesce(ended.repeats, ended.part_id) as id from submitted_parts as ended
        where ended.account_id = ${key.accountId} and ended.digest = ${part.digest} and ended.done_at >= ${repeatsSince}
          and ended.request_id is not null
        order by ended.done_at desc limit 1)`.as<"earlier">("earlier");
      await atomically([
        // Clients reuse references. A new text under the same reference renames the older one.
        db
          .updateTable("submitted_parts")
          .set({ reference: key.reference + AGAIN + newId(at) })
          .where(isOf(key))
          .where(hasOther)
          .compile(),
        // Locks the first copy of a repeated part, so that its text ends either before the insert sees it or after the commit.
        db
          .updateTable("submitted_parts")
          .set({ part: part.index })
          .where(isOf(key))
          .where("part", "=", part.index)
          .compile(),
        db
          .insertInto("submitted_parts")
          .values({
            account_id: key.accountId,
            credential_id: key.credentialId,
            source: key.source,
            destination: key.destination,
            reference: key.reference,
            total: key.total,
            part: part.index,
            part_id: part.id,
            octets: part.octets,
            digest: part.digest,
            repeats: null,
            data_coding: part.dataCoding,
            registered_delivery: part.registeredDelivery,
            fields,
            at,
            done_at: null,
            request_id: null,
          })
          .onConflict((conflict) => conflict.doNothing())
          .compile(),
        // A statement of its own: the insert may have waited for the first copy, whose text has ended since the insert began.
        db
          .updateTable("submitted_parts")
          .from(earlier)
          .set({ repeats: sql<string>`earlier.id` })
          .where("submitted_parts.account_id", "=", key.accountId)
          .where("submitted_parts.part_id", "=", part.id)
          .compile(),
      ]);
      // A separate query after the commit: when two nodes store two parts at once, the later one sees both.
      const text = textOf(key, await partsOf(key).execute());
      const kept = text.parts.find(({ index }) => index === part.index);
      return { part: kept ?? (await findEnded(key.accountId, part, repeatsSince)), text };
    },

    async endSubmittedText(text, requestId, at) {
      await db
        .updateTable("submitted_parts")
        .set({
          reference: text.reference + AGAIN + newId(at),
          octets: "",
          fields: "",
          done_at: at,
          request_id: requestId,
        })
        // By id: the client may have reused the reference, so that its next text has the key by now.
        .where("account_id", "=", text.accountId)
        .where(
          "part_id",
          "in",
          text.parts.map(({ id }) => id),
        )
        .where("done_at", "is", null)
        .execute();
    },

    async listSubmittedTexts({ before, expiredBefore }, limit) {
      // Grouped by the database: texts that miss parts must not hide those that are complete.
      const found = await db
        .selectFrom("submitted_parts")
        .select(KEY)
        .where("done_at", "is", null)
        .groupBy(KEY)
        .having(
          sql<boolean>`(count(*) = total and max(at) < ${sql.lit(before)}) or min(at) < ${sql.lit(expiredBefore)}`,
        )
        .orderBy(sql`min(at)`)
        .limit(limit)
        .execute();
      const texts: SubmittedText[] = [];
      for (const key of found.map(keyOf)) texts.push(textOf(key, await partsOf(key).execute()));
      return texts.filter(({ parts }) => parts.length > 0);
    },

    async findSubmittedRequest(accountId, partId) {
      const row = await db
        .selectFrom("submitted_parts")
        .select("request_id")
        .where("account_id", "=", accountId)
        .where("part_id", "=", partId)
        .executeTakeFirst();
      return row?.request_id ?? null;
    },
  };
}

const isOf = (key: SubmittedKey, table = "submitted_parts"): RawBuilder<boolean> => {
  const column = (name: keyof Row): RawBuilder<unknown> => sql.ref(`${table}.${name}`);
  return sql`${column("account_id")} = ${key.accountId} and ${column("credential_id")} = ${key.credentialId}
    and ${column("source")} = ${key.source} and ${column("destination")} = ${key.destination}
    and ${column("reference")} = ${key.reference} and ${column("total")} = ${key.total}`;
};

const KEY = ["account_id", "credential_id", "source", "destination", "reference", "total"] as const;

const keyOf = (row: Pick<Row, (typeof KEY)[number]>): SubmittedKey => ({
  accountId: row.account_id,
  credentialId: row.credential_id,
  source: row.source,
  destination: row.destination,
  reference: row.reference,
  total: row.total,
});

const textOf = (key: SubmittedKey, rows: readonly Row[]): SubmittedText => ({
  ...key,
  parts: rows.map((row) => ({
    id: row.part_id,
    index: row.part,
    octets: row.octets,
    digest: row.digest,
    repeats: row.repeats,
    dataCoding: row.data_coding,
    registeredDelivery: row.registered_delivery,
  })),
  fields: rows[0]?.fields ?? "{}",
  firstAt: Math.min(...rows.map(({ at }) => at)),
});
