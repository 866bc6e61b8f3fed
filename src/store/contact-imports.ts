import { sql } from "kysely";
import type { ContactImport, ImportFailure, ImportState } from "../model/contact.ts";
import type { Engine } from "./engine.ts";
import { pageOf } from "./page-of.ts";
import type { Page } from "./store.ts";
import type { Tables } from "./tables.ts";

type ImportRef = Pick<ContactImport, "accountId" | "id">;

/** An import that a job works on. */
export interface ImportWork {
  contactImport: ContactImport;
  /** Row of the last recipient that was imported. */
  position: number;
  claim: string;
}

export interface ContactImportStore {
  addContactImport(contactImport: ContactImport): Promise<void>;
  findContactImport(ref: ImportRef): Promise<ContactImport | null>;
  /** Newest first; `test`: only those of test keys. */
  listContactImports(
    accountId: number,
    filter: { test?: true },
    after: string | null,
    limit: number,
  ): Promise<Page<ContactImport, string>>;
  /** Claims the import that waits longest for a job, or null. The claim lasts until `until`, and each step renews it. */
  claimContactImport(claim: string, now: number, until: number): Promise<ImportWork | null>;
  /** Notes that recipients were imported. False if another process has the import. */
  advanceContactImport(
    work: ImportWork,
    step: { position: number; recipients: number; claimedUntil: number },
  ): Promise<boolean>;
  endContactImport(work: ImportWork, end: { failure: ImportFailure | null; at: number }): Promise<void>;
}

type Row = Tables["contact_imports"];

export function createContactImports({ db }: Engine): ContactImportStore {
  const inAccount = (accountId: number) =>
    db.selectFrom("contact_imports").selectAll().where("account_id", "=", accountId);
  const ofWork = ({ contactImport: { accountId, id }, claim }: ImportWork) =>
    db
      .updateTable("contact_imports")
      .where("account_id", "=", accountId)
      .where("id", "=", id)
      .where("claim", "=", claim)
      .where("state", "=", "running");

  return {
    async addContactImport(contactImport) {
      await db.insertInto("contact_imports").values(rowOf(contactImport)).execute();
    },

    async findContactImport({ accountId, id }) {
      const row = await inAccount(accountId).where("id", "=", id).executeTakeFirst();
      return row ? importOf(row) : null;
    },

    async listContactImports(accountId, { test }, after, limit) {
      let found = inAccount(accountId);
      if (test) found = found.where("test", "=", 1);
      if (after !== null) found = found.where("id", "<", after);
      const rows = await found
        .orderBy("id", "desc")
        .limit(limit + 1)
        .execute();
      return pageOf(rows, limit, importOf, ({ id }) => id);
    },

    async claimContactImport(claim, now, until) {
      // A literal state, so that the partial index serves both statements.
      const waits = sql<boolean>`state = 'running' and (claimed_until < ${now} or claim = ${claim})`;
      const next = await db
        .selectFrom("contact_imports")
        .select(["account_id", "id"])
        .where(waits)
        .orderBy("claimed_until")
        .limit(1)
        .executeTakeFirst();
      if (!next) return null;
      await db
        .updateTable("contact_imports")
        .set({ claim, claimed_until: until })
        .where("account_id", "=", next.account_id)
        .where("id", "=", next.id)
        .where(waits)
        .execute();
      const row = await inAccount(next.account_id)
        .where("id", "=", next.id)
        .where("claim", "=", claim)
        .where("state", "=", "running")
        .executeTakeFirst();
      return row ? { contactImport: importOf(row), position: row.position, claim } : null;
    },

    async advanceContactImport(work, { position, recipients, claimedUntil }) {
      const { numUpdatedRows } = await ofWork(work)
        .set({ position, done: sql`done + ${recipients}`, claimed_until: claimedUntil })
        .where("position", "=", work.position)
        .executeTakeFirst();
      return numUpdatedRows === 1n;
    },

    async endContactImport(work, { failure, at }) {
      await ofWork(work)
        .set({ state: failure === null ? "finished" : "failed", failure, ended_at: at, claim: null })
        .execute();
    },
  };
}

type Content = Pick<ContactImport, "nameVariable" | "attributes" | "tags" | "consents">;

function rowOf(contactImport: ContactImport): Row {
  const { nameVariable, attributes, tags, consents } = contactImport;
  const content: Content = { nameVariable, attributes, tags, consents };
  return {
    account_id: contactImport.accountId,
    id: contactImport.id,
    test: contactImport.test ? 1 : 0,
    audience_id: contactImport.audienceId,
    state: contactImport.state,
    content: JSON.stringify(content),
    total: contactImport.total,
    done: contactImport.done,
    position: 0,
    failure: contactImport.failure,
    created_at: contactImport.createdAt,
    ended_at: contactImport.endedAt,
    claim: null,
    claimed_until: 0,
  };
}

const importOf = (row: Row): ContactImport => ({
  ...(JSON.parse(row.content) as Content),
  accountId: row.account_id,
  id: row.id,
  test: row.test === 1,
  audienceId: row.audience_id,
  state: row.state as ImportState,
  total: row.total,
  done: row.done,
  failure: row.failure as ImportFailure | null,
  createdAt: row.created_at,
  endedAt: row.ended_at,
});
