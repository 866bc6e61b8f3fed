import { sql, type RawBuilder } from "kysely";
import { newId } from "../lib/ids.ts";
import type { Engine } from "./engine.ts";
import { AGAIN, type InboundStore, type KeptText, type TextKey } from "./inbound.ts";
import type { Tables } from "./tables.ts";

type Row = Tables["inbound_parts"];

/** Queries for the parts of long inbound texts, for both engines. */
export function createInboundParts({
  db,
  atomically,
}: Engine): Pick<InboundStore, "keepInboundPart" | "endInboundParts" | "listIncompleteTexts"> {
  const partsOf = (key: TextKey) => db.selectFrom("inbound_parts").selectAll().where(isOf(key)).orderBy("part");

  return {
    async keepInboundPart({ index, octets, dataCoding, alphabet, at, ...given }) {
      const key = { ...given, reference: String(given.reference) };
      const written = octets.toString("base64");
      const exists = (condition: RawBuilder<boolean>): RawBuilder<boolean> =>
        sql`exists (select 1 from inbound_parts as other where ${isOf(key, "other")} and ${condition})`;
      const isThere = sql<boolean>`other.part = ${sql.lit(index)}`;
      await atomically([
        // Phones reuse references after 255 texts. A new text under the same reference renames the older one.
        db
          .updateTable("inbound_parts")
          .set({ reference: key.reference + AGAIN + newId(at) })
          .where(isOf(key))
          .where(
            sql<boolean>`(${exists(sql`${isThere} and other.octets <> ${written}`)}
              or ${exists(sql`other.done_at is not null`)} and not ${exists(isThere)})`,
          )
          .compile(),
        db
          .insertInto("inbound_parts")
          .values({
            account_id: key.accountId,
            carrier: key.carrier,
            number: key.from,
            sender: key.to,
            reference: key.reference,
            total: key.total,
            part: index,
            octets: written,
            data_coding: dataCoding,
            alphabet,
            at,
          })
          .onConflict((conflict) => conflict.doNothing())
          .compile(),
      ]);
      // A separate query after the commit: when two nodes store two parts at once, the later one sees both.
      const rows = await partsOf(key).execute();
      return rows.length === key.total ? textOf(key, rows) : null;
    },

    async endInboundParts(key, at) {
      await db
        .updateTable("inbound_parts")
        .set({ done_at: at })
        .where(isOf(key))
        .where("done_at", "is", null)
        .execute();
    },

    async listIncompleteTexts(before, limit) {
      const first = await db
        .selectFrom("inbound_parts")
        .selectAll()
        .where("at", "<", before)
        .where("done_at", "is", null)
        .orderBy("at")
        .limit(limit)
        .execute();
      const keys = new Map(first.map((row) => [JSON.stringify(keyOf(row)), keyOf(row)]));
      const texts: KeptText[] = [];
      for (const key of keys.values()) texts.push(textOf(key, await partsOf(key).execute()));
      return texts.filter(({ parts }) => parts.length > 0);
    },
  };
}

const isOf = (key: TextKey, table = "inbound_parts"): RawBuilder<boolean> => {
  const column = (name: keyof Row): RawBuilder<unknown> => sql.ref(`${table}.${name}`);
  return sql`${column("account_id")} = ${key.accountId} and ${column("carrier")} = ${key.carrier}
    and ${column("number")} = ${key.from} and ${column("sender")} = ${key.to}
    and ${column("reference")} = ${key.reference} and ${column("total")} = ${key.total}`;
};

const keyOf = (row: Row): TextKey => ({
  accountId: row.account_id,
  carrier: row.carrier,
  from: row.number,
  to: row.sender,
  reference: row.reference,
  total: row.total,
});

const textOf = (key: TextKey, rows: readonly Row[]): KeptText => ({
  ...key,
  alphabet: rows[0]?.alphabet ?? "",
  parts: rows.map((row) => ({
    index: row.part,
    octets: Buffer.from(row.octets, "base64"),
    dataCoding: row.data_coding,
  })),
  firstAt: Math.min(...rows.map(({ at }) => at)),
});
