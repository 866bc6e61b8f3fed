import { sql, type SelectQueryBuilder } from "kysely";
import {
  consentKey,
  type Consent,
  type Contact,
  type ContactBook,
  type ContactFilter,
  type ContactKey,
} from "../model/contact.ts";
import { listWindows, LOOK_AT_MOST } from "./bounded-window.ts";
import type { ReportingBudget } from "./collect-page.ts";
import type { Engine } from "./engine.ts";
import { nameOrNumber } from "./name-or-number.ts";
import { pageOf } from "./page-of.ts";
import type { Page } from "./store.ts";
import type { ContactRow, Tables } from "./tables.ts";

export interface ContactStore {
  findContact(key: ContactKey): Promise<Contact | null>;
  /** Contacts of some numbers, by number. */
  findContacts(book: ContactBook, numbers: readonly string[]): Promise<ReadonlyMap<string, Contact>>;
  /** Names of the contacts of some numbers, by number; without those that have none. */
  findContactNames(book: ContactBook, numbers: readonly string[]): Promise<ReadonlyMap<string, string>>;
  /** Ordered by number, starting after `after`. */
  listContacts(
    book: ContactBook,
    filter: ContactFilter,
    after: string | null,
    limit: number,
  ): Promise<Page<Contact, string>>;
  /**
   * Stores contacts by optimistic locking: a new one if its number has none, another one if its revision follows the stored one.
   * Returns how many were stored.
   */
  saveContacts(contacts: readonly Contact[]): Promise<number>;
  /** The same for a job, which sends go ahead of. */
  importContacts(contacts: readonly Contact[]): Promise<{ saved: number; ms: number }>;
  removeContact(key: ContactKey): Promise<boolean>;
  /** Sorted names of all attributes. */
  listContactAttributes(book: ContactBook): Promise<string[]>;
  addContactAttributes(book: ContactBook, names: readonly string[]): Promise<void>;
}

const TYPES = {
  account_id: "integer",
  test: "integer",
  number: "text",
  name: "text",
  attributes: "text",
  tags: "text",
  consents: "text",
  granted: "text",
  created_at: "bigint",
  updated_at: "bigint",
  revision: "integer",
} as const;
const COLUMNS = Object.keys(TYPES) as (keyof typeof TYPES)[];

export function createContacts(engine: Engine, budget: ReportingBudget | null): ContactStore {
  const { db, rowsOf, isAmong, holds, inBackground } = engine;
  const inBook = ({ accountId, test }: ContactBook) =>
    db
      .selectFrom("contacts")
      .where("account_id", "=", accountId)
      .where("test", "=", test ? 1 : 0);

  const upsert = (contacts: readonly Contact[]) =>
    db
      .insertInto("contacts")
      .columns(COLUMNS)
      .expression(
        db
          .selectFrom(rowsOf<ContactRow>(TYPES, contacts.map(rowOf)).as("batch"))
          .select(COLUMNS)
          // In the order of the key, so that two nodes do not wait for each other.
          .where(sql<boolean>`true`)
          .orderBy("number"),
      )
      .onConflict((conflict) =>
        conflict
          .columns(["account_id", "test", "number"])
          .doUpdateSet((row) => ({
            name: row.ref("excluded.name"),
            attributes: row.ref("excluded.attributes"),
            tags: row.ref("excluded.tags"),
            consents: row.ref("excluded.consents"),
            granted: row.ref("excluded.granted"),
            updated_at: row.ref("excluded.updated_at"),
            revision: row.ref("excluded.revision"),
          }))
          .where(sql<boolean>`contacts.revision = excluded.revision - 1`),
      );

  type Seen = SelectQueryBuilder<Tables, "contacts", object>;

  function matching(found: Seen, { tags = [], attributes = {}, consents = [], text, isMasked }: ContactFilter): Seen {
    let some = found;
    for (const tag of tags) some = some.where(holds("tags", JSON.stringify(tag)));
    for (const [name, value] of Object.entries(attributes))
      some = some.where(holds("attributes", `${JSON.stringify(name)}:${JSON.stringify(value)}`));
    for (const consent of consents) some = some.where(holds("granted", JSON.stringify(consentKey(consent))));
    if (text === undefined) return some;
    return some.where(nameOrNumber(engine, sql.ref("name"), { text, isMasked: isMasked === true }));
  }

  return {
    async findContact(key) {
      const row = await inBook(key).selectAll().where("number", "=", key.number).executeTakeFirst();
      return row ? contactOf(row) : null;
    },

    async findContacts(book, numbers) {
      if (numbers.length === 0) return new Map();
      const rows = await inBook(book).selectAll().where(isAmong("number", numbers)).execute();
      return new Map(rows.map((row) => [row.number, contactOf(row)]));
    },

    async findContactNames({ accountId, test }, numbers) {
      if (numbers.length === 0) return new Map();
      const asked = rowsOf<{ number: string }>(
        { number: "text" },
        numbers.map((number) => ({ number })),
      );
      const rows = await db
        .selectFrom(asked.as("asked"))
        .select([
          "asked.number",
          // A scalar is read by its key. PostgreSQL reads all contacts of the account for a condition on a list.
          sql<string | null>`(select name from contacts where contacts.account_id = ${accountId}
            and contacts.test = ${test ? 1 : 0} and contacts.number = asked.number)`.as("name"),
        ])
        .execute();
      return new Map(rows.flatMap(({ number, name }) => (name === null ? [] : [[number, name] as const])));
    },

    async listContacts(book, filter, after, limit) {
      const rest = (position: string | null) => {
        const ordered = inBook(book).orderBy("number");
        return position === null ? ordered : ordered.where("number", ">", position);
      };
      const isFiltered =
        filter.text !== undefined ||
        [...(filter.tags ?? []), ...Object.keys(filter.attributes ?? {}), ...(filter.consents ?? [])].length > 0;
      if (!isFiltered) {
        const rows = await rest(after)
          .selectAll()
          .limit(limit + 1)
          .execute();
        return pageOf(rows, limit, contactOf, ({ number }) => number);
      }
      const { rows, next } = await listWindows(
        {
          windowBelow: (position: string | null) => rest(position).selectAll().limit(LOOK_AT_MOST),
          // Not by a second look at the table: PostgreSQL might run this query again for each of its rows.
          matchesIn: (window, most) =>
            matching(db.selectFrom(window.as("seen")) as unknown as Seen, filter)
              .selectAll()
              .orderBy("number")
              .limit(most)
              .execute(),
          key: ["number"],
          positionOf: ({ number }: { number: string }) => number,
        },
        { after, limit, budget },
      );
      return { rows: rows.map(contactOf), next };
    },

    async saveContacts(contacts) {
      const { numInsertedOrUpdatedRows } = await upsert(contacts).executeTakeFirst();
      return Number(numInsertedOrUpdatedRows ?? 0n);
    },

    async importContacts(contacts) {
      const { changes, ms } = await inBackground([upsert(contacts).compile()]);
      return { saved: changes[0] ?? 0, ms };
    },

    async removeContact({ accountId, test, number }) {
      const { numDeletedRows } = await db
        .deleteFrom("contacts")
        .where("account_id", "=", accountId)
        .where("test", "=", test ? 1 : 0)
        .where("number", "=", number)
        .executeTakeFirst();
      return numDeletedRows > 0n;
    },

    async listContactAttributes({ accountId, test }) {
      const rows = await db
        .selectFrom("contact_attributes")
        .select("name")
        .where("account_id", "=", accountId)
        .where("test", "=", test ? 1 : 0)
        .execute();
      return rows.map(({ name }) => name).toSorted();
    },

    async addContactAttributes({ accountId, test }, names) {
      if (names.length === 0) return;
      await db
        .insertInto("contact_attributes")
        .values(names.map((name) => ({ account_id: accountId, test: test ? 1 : 0, name })))
        .onConflict((conflict) => conflict.doNothing())
        .execute();
    },
  };
}

const rowOf = (contact: Contact): ContactRow => ({
  account_id: contact.accountId,
  test: contact.test ? 1 : 0,
  number: contact.number,
  name: contact.name,
  attributes: JSON.stringify(contact.attributes),
  tags: JSON.stringify(contact.tags),
  consents: JSON.stringify(contact.consents),
  granted: JSON.stringify(contact.consents.filter(({ granted }) => granted).map(consentKey)),
  created_at: contact.createdAt,
  updated_at: contact.updatedAt,
  revision: contact.revision,
});

const contactOf = (row: ContactRow): Contact => ({
  accountId: row.account_id,
  test: row.test === 1,
  number: row.number,
  name: row.name,
  attributes: JSON.parse(row.attributes) as Record<string, string>,
  tags: JSON.parse(row.tags) as string[],
  consents: JSON.parse(row.consents) as Consent[],
  createdAt: row.created_at,
  updatedAt: row.updated_at,
  revision: row.revision,
});
