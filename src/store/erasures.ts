import { sql, type CompiledQuery, type RawBuilder } from "kysely";
import { mentions, withoutNumber, type Erasure } from "../model/erasure.ts";
import type { MessageRef } from "../model/message.ts";
import type { Engine } from "./engine.ts";
import { optOutTable } from "./opt-outs.ts";
import { OF_MESSAGE } from "./retention.ts";
import type { Tables } from "./tables.ts";

type ErasureRef = Pick<Erasure, "accountId" | "id">;

/** An erasure that a job works on, and the place where it stands. */
export interface ErasureWork {
  erasure: Erasure & { number: string };
  /** Place in `ERASED_TABLES`; behind the last one at the end of a pass. */
  step: number;
  /** Key of the last row that was looked at; empty at the beginning of a table. */
  position: readonly (string | number)[];
  /** Rows that this pass has changed so far. */
  found: number;
  claim: string;
}

/** A stretch of a table that was looked at. */
interface ErasedStretch {
  position: readonly (string | number)[] | null;
  /** Rows that were deleted or changed. */
  erased: number;
  /** Messages that are not ended: they are cancelled, or wait for their carrier. */
  pending: readonly MessageRef[];
  ms: number;
}

export interface ErasureStore {
  addErasure(erasure: Erasure): Promise<void>;
  findErasure(ref: ErasureRef): Promise<Erasure | null>;
  /** The unfinished erasure of a number, or null. */
  findErasureOf(accountId: number, number: string): Promise<Erasure | null>;
  claimErasure(claim: string, now: number, until: number): Promise<ErasureWork | null>;
  /** Erases the number in the next rows of a table, in one short transaction. */
  eraseStretch(work: ErasureWork, limit: number): Promise<ErasedStretch>;
  /** Erases unmatched receipts of the number. Returns how many. */
  eraseUnmatched(work: ErasureWork): Promise<number>;
  /** Removes the number from both opt-out lists, where its keyed hash takes its place. */
  eraseOptOuts(work: ErasureWork): Promise<void>;
  /** Uploaded files from before the request that are not checked, so that the number may be in them. */
  countUnsearchedFiles(work: ErasureWork): Promise<number>;
  /** Notes the place of the work. False if another process has the erasure. */
  advanceErasure(
    work: ErasureWork,
    to: Pick<ErasureWork, "step" | "position" | "found"> & { erased: number; nextAt: number; claimedUntil: number },
  ): Promise<boolean>;
  endErasure(work: ErasureWork, at: number): Promise<void>;

  /** Keeps an opt-out by the keyed hash of its number. */
  addErasedOptOut(entry: { accountId: number; test: boolean; digest: string; at: number }): Promise<void>;
  removeErasedOptOut(entry: { accountId: number; test: boolean; digest: string }): Promise<boolean>;
  countErasedOptOuts(accountId: number): Promise<number>;
  areErasedOptOuts(accountId: number, test: boolean, digests: readonly string[]): Promise<ReadonlySet<string>>;
}

interface ErasedTable {
  table: keyof Tables;
  /** The primary key after the account. */
  key: readonly string[];
  /** A row with the number in this column is deleted. */
  number?: string;
  /** A row that mentions the number in one of these texts is deleted. */
  mentioned?: readonly string[];
  /** Texts in which the number is replaced. */
  texts?: readonly string[];
}

const MESSAGES = "messages";

/**
 * Every table with phone numbers, except opt-outs and unmatched receipts, which have steps of their own, and the configuration,
 * which people write. Messages come first: what depends on a message is deleted with it.
 */
export const ERASED_TABLES: readonly ErasedTable[] = [
  {
    table: MESSAGES,
    key: ["request_id", "n"],
    number: "recipient",
    texts: ["content", "trail", "callback", "description"],
  },
  { table: "search_numbers", key: ["segment", "ending", "recipient", "request_id", "n"], number: "recipient" },
  { table: "callbacks", key: ["event_id", "endpoint_id"], mentioned: ["facts"], texts: ["log", "description"] },
  { table: "link_targets", key: ["request_id", "k"], texts: ["url"] },
  { table: "inbound", key: ["id"], number: "number", texts: ["content"] },
  { table: "inbound_parts", key: ["carrier", "number", "sender", "reference", "total", "part"], number: "number" },
  {
    table: "submitted_parts",
    key: ["credential_id", "source", "destination", "reference", "total", "part"],
    mentioned: ["destination"],
  },
  // Files that the number sent are removed by the job of media, with their bytes.
  { table: "media", key: ["id"], texts: ["name", "source"] },
  { table: "conversations", key: ["id"], number: "number" },
  { table: "contacts", key: ["test", "number"], number: "number", texts: ["name", "attributes", "consents"] },
  { table: "contact_imports", key: ["id"], texts: ["content"] },
  { table: "audience_recipients", key: ["audience_id", "line"], texts: ["content"] },
  { table: "audiences", key: ["id"], texts: ["name", "layout", "mapping"] },
  { table: "campaigns", key: ["id"], texts: ["message"] },
  { table: "verifications", key: ["id"], number: "number", texts: ["plan"] },
  { table: "verify_numbers", key: ["mode", "number"], number: "number" },
  { table: "keyword_users", key: ["number", "test"], number: "number" },
  { table: "phones", key: ["number"], number: "number" },
  { table: "phone_messages", key: ["id"], number: "number", texts: ["content"] },
  { table: "ledger", key: ["request_id", "n", "kind"], texts: ["note"] },
  { table: "audit", key: ["id"], texts: ["record_id", "record_name", "fields", "changes"] },
  { table: "agent_sends", key: ["id"], texts: ["result", "reason"] },
  { table: "idempotency", key: ["path", "key"], mentioned: ["key"], texts: ["response"] },
];

type Row = Record<string, string | number | null>;

/** Messages that no carrier has had, or that are on their way to one: their credits are not settled. */
const UNSETTLED: ReadonlySet<unknown> = new Set(["accepted", "scheduled", "submitting"]);

export function createErasures(engine: Engine): ErasureStore {
  const { db, holds, inBackground, deletingMessages, rowsOf, isAmong } = engine;
  const compile = (query: RawBuilder<unknown>): CompiledQuery => query.compile(db);
  const ofWork = ({ erasure: { accountId, id }, claim }: ErasureWork) =>
    db
      .updateTable("erasures")
      .where("account_id", "=", accountId)
      .where("id", "=", id)
      .where("claim", "=", claim)
      .where("state", "=", "running");
  const columnsOf = (columns: readonly string[]): RawBuilder<unknown> =>
    sql.join(columns.map((column) => sql.ref(column)));

  /** The rows after a position: the last key of the stretch, and the rows that may have the number. */
  async function look({ erasure, step, position }: ErasureWork, limit: number) {
    const { accountId, number } = erasure;
    const { table, key, number: own, mentioned = [], texts = [] } = ERASED_TABLES[step] as ErasedTable;
    const from = sql.table(table);
    const after = position.length === 0 ? sql`` : sql`and (${columnsOf(key)}) > (${sql.join(position)})`;
    const edge = await sql<Row>`select ${columnsOf(key)} from ${from} where account_id = ${accountId} ${after}
      order by ${columnsOf(key)} limit 1 offset ${limit - 1}`.execute(db);
    const last = edge.rows[0] && key.map((column) => edge.rows[0]?.[column] ?? 0);
    const upTo = last ? sql`and (${columnsOf(key)}) <= (${sql.join(last)})` : sql``;
    const isFound = sql.join(
      [
        ...(own === undefined ? [] : [sql`${sql.ref(own)} = ${number}`]),
        ...[...mentioned, ...texts].map((column) => holds(column, number)),
      ],
      sql` or `,
    );
    const columns = [...new Set([...key, ...(own === undefined ? [] : [own]), ...mentioned, ...texts])];
    const state = table === MESSAGES ? sql`, state` : sql``;
    const { rows } = await sql<Row>`select ${columnsOf(columns)} ${state} from ${from}
      where account_id = ${accountId} ${after} ${upTo} and (${isFound})`.execute(db);
    return { rows, last: last ?? null };
  }

  /** Deletes messages with everything that belongs to them. */
  function deleteMessages(accountId: number, rows: readonly Row[]): CompiledQuery[] {
    const refs = rows.map(({ request_id, n }) => ({ request_id: String(request_id), n: Number(n) }));
    const batch = rowsOf<{ request_id: string; n: number }>({ request_id: "uuid", n: "integer" }, refs);
    const isOne = sql<boolean>`account_id = ${accountId}
      and (request_id, n) in (select batch.request_id, batch.n from ${batch} as batch)`;
    const codes = sql`select code from links where ${isOne}`;
    return [
      sql`delete from clicks where account_id = ${accountId} and code in (${codes})`.compile(db),
      ...["links", "callbacks", ...OF_MESSAGE].map((table) =>
        sql`delete from ${sql.table(table)} where ${isOne}`.compile(db),
      ),
      ...deletingMessages(isOne),
    ];
  }

  const isRow = (key: readonly string[], row: Row): RawBuilder<unknown> =>
    sql`(${columnsOf(key)}) = (${sql.join(key.map((column) => row[column]))})`;

  return {
    async addErasure(erasure) {
      await db
        .insertInto("erasures")
        .values({
          account_id: erasure.accountId,
          id: erasure.id,
          number: erasure.number,
          state: erasure.state,
          step: 0,
          position: "[]",
          found: 0,
          erased: 0,
          requested_at: erasure.requestedAt,
          ended_at: null,
          next_at: erasure.requestedAt,
          claim: null,
          claimed_until: 0,
        })
        .execute();
    },

    async findErasure({ accountId, id }) {
      const row = await db
        .selectFrom("erasures")
        .selectAll()
        .where("account_id", "=", accountId)
        .where("id", "=", id)
        .executeTakeFirst();
      return row ? erasureOf(row) : null;
    },

    async findErasureOf(accountId, number) {
      const row = await db
        .selectFrom("erasures")
        .selectAll()
        .where(sql<boolean>`state = 'running'`)
        .where("account_id", "=", accountId)
        .where("number", "=", number)
        .limit(1)
        .executeTakeFirst();
      return row ? erasureOf(row) : null;
    },

    async claimErasure(claim, now, until) {
      // A literal state, so that the partial index serves both statements.
      const waits = sql<boolean>`state = 'running' and next_at <= ${now} and (claimed_until < ${now} or claim = ${claim})`;
      const next = await db
        .selectFrom("erasures")
        .select(["account_id", "id"])
        .where(waits)
        .orderBy("next_at")
        .limit(1)
        .executeTakeFirst();
      if (!next) return null;
      const own = { accountId: next.account_id, id: next.id };
      await db
        .updateTable("erasures")
        .set({ claim, claimed_until: until })
        .where("account_id", "=", own.accountId)
        .where("id", "=", own.id)
        .where(waits)
        .execute();
      const row = await db
        .selectFrom("erasures")
        .selectAll()
        .where("account_id", "=", own.accountId)
        .where("id", "=", own.id)
        .where("claim", "=", claim)
        .executeTakeFirst();
      if (!row || row.number === null) return null;
      const position = JSON.parse(row.position) as (string | number)[];
      const { step, found } = row;
      return { erasure: { ...erasureOf(row), number: row.number }, step, position, found, claim };
    },

    async eraseStretch(work, limit) {
      const { accountId, number } = work.erasure;
      const { table, key, number: own, mentioned = [], texts = [] } = ERASED_TABLES[work.step] as ErasedTable;
      const { rows, last } = await look(work, limit);
      const textOf = (row: Row, column: string): string => String(row[column] ?? "");
      const isGone = (row: Row): boolean =>
        (own !== undefined && row[own] === number) || mentioned.some((column) => mentions(textOf(row, column), number));
      const gone = rows.filter((row) => isGone(row) && !(table === MESSAGES && UNSETTLED.has(row["state"])));
      const pending = rows.filter((row) => isGone(row) && !gone.includes(row));
      const queries: CompiledQuery[] = [];
      if (table === MESSAGES && gone.length > 0) queries.push(...deleteMessages(accountId, gone));
      else
        for (const row of gone)
          queries.push(
            compile(sql`delete from ${sql.table(table)} where account_id = ${accountId} and ${isRow(key, row)}`),
          );
      let changed = 0;
      for (const row of rows.filter((each) => !isGone(each)))
        for (const column of texts) {
          const before = textOf(row, column);
          if (!mentions(before, number)) continue;
          changed += 1;
          // A text that another transaction has changed meanwhile is looked at again in the next pass.
          queries.push(
            compile(sql`update ${sql.table(table)} set ${sql.ref(column)} = ${withoutNumber(before, number)}
              where account_id = ${accountId} and ${isRow(key, row)} and ${sql.ref(column)} = ${before}`),
          );
        }
      const { ms } = queries.length > 0 ? await inBackground(queries) : { ms: 0 };
      return {
        position: last,
        erased: gone.length + changed,
        pending: pending.map((row) => ({ accountId, requestId: String(row["request_id"]), n: Number(row["n"]) })),
        ms,
      };
    },

    async eraseUnmatched({ erasure: { accountId, number } }) {
      // Receipts of the shared simulator have no account.
      const { numDeletedRows } = await db
        .deleteFrom("parked_receipts")
        .where("recipient", "=", number)
        .where(sql<boolean>`(account_id = ${accountId} or account_id is null)`)
        .executeTakeFirst();
      return Number(numDeletedRows);
    },

    async eraseOptOuts({ erasure: { accountId, number } }) {
      for (const list of [{ test: false }, { test: true }])
        await db
          .deleteFrom(optOutTable(list))
          .where("account_id", "=", accountId)
          .where("number", "=", number)
          .execute();
    },

    async countUnsearchedFiles({ erasure: { accountId, requestedAt } }) {
      const { rows } = await sql<{ count: number }>`select count(*) as count from audiences
        where account_id = ${accountId} and state in ('uploading', 'checking') and created_at <= ${requestedAt}`.execute(
        db,
      );
      return rows[0]?.count ?? 0;
    },

    async advanceErasure(work, { step, position, found, erased, nextAt, claimedUntil }) {
      const { numUpdatedRows } = await ofWork(work)
        .set({
          step,
          position: JSON.stringify(position),
          found,
          erased: sql`erased + ${erased}`,
          next_at: nextAt,
          claimed_until: claimedUntil,
        })
        .executeTakeFirst();
      return numUpdatedRows === 1n;
    },

    async endErasure(work, at) {
      await ofWork(work).set({ state: "finished", number: null, position: "[]", ended_at: at, claim: null }).execute();
    },

    async addErasedOptOut({ accountId, test, digest, at }) {
      await db
        .insertInto("erased_optouts")
        .values({ account_id: accountId, test: test ? 1 : 0, digest, created_at: at })
        .onConflict((conflict) => conflict.doNothing())
        .execute();
    },

    async removeErasedOptOut({ accountId, test, digest }) {
      const { numDeletedRows } = await db
        .deleteFrom("erased_optouts")
        .where("account_id", "=", accountId)
        .where("test", "=", test ? 1 : 0)
        .where("digest", "=", digest)
        .executeTakeFirst();
      return numDeletedRows > 0n;
    },

    async countErasedOptOuts(accountId) {
      const row = await db
        .selectFrom("erased_optouts")
        .select("digest")
        .where("account_id", "=", accountId)
        .limit(1)
        .executeTakeFirst();
      return row ? 1 : 0;
    },

    async areErasedOptOuts(accountId, test, digests) {
      if (digests.length === 0) return new Set();
      const rows = await db
        .selectFrom("erased_optouts")
        .select("digest")
        .where("account_id", "=", accountId)
        .where("test", "=", test ? 1 : 0)
        .where(isAmong("digest", digests))
        .execute();
      return new Set(rows.map(({ digest }) => digest));
    },
  };
}

const erasureOf = (row: Tables["erasures"]): Erasure => ({
  accountId: row.account_id,
  id: row.id,
  number: row.number,
  state: row.state as Erasure["state"],
  erased: row.erased,
  requestedAt: row.requested_at,
  endedAt: row.ended_at,
});
