import { sql, type CompiledQuery, type Kysely } from "kysely";
import { DEFAULT_SETTINGS, type Account, type AccountSettings } from "../model/account.ts";
import { DEFAULT_AGENT_LIMITS, type AgentLimits } from "../model/agent.ts";
import type { ApiKey, KeyMode, Scope } from "../model/api-key.ts";
import type { CatalogRecord } from "../model/catalog.ts";
import { EmailTaken, newUser, type NewUser } from "../model/user.ts";
import { rowOf } from "./catalog.ts";
import type { Engine } from "./engine.ts";
import { columnsOfKey } from "./key-columns.ts";
import type { Tables } from "./tables.ts";
import { rowOf as rowOfUser } from "./users.ts";

export interface NewAccount {
  name: string;
  createdAt: number;
  owner: NewUser;
  keys: readonly Omit<ApiKey, "accountId">[];
  phones: readonly { number: string; name: string }[];
  catalog: readonly Omit<CatalogRecord, "accountId">[];
}

/** Accounts, API keys and service settings: few rows, cached in memory, rarely changed. */
export interface RecordStore {
  /** Grows with every change of accounts and keys, or of the catalog, on any node. */
  revision(topic: "records" | "catalog"): Promise<number>;
  listAccounts(): Promise<Account[]>;
  /** Stores nothing if the name is taken (null) or its owner's address is (throws `EmailTaken`). */
  createAccount(account: NewAccount): Promise<number | null>;
  saveSettings(accountId: number, change: Partial<AccountSettings>): Promise<void>;
  listKeys(): Promise<ApiKey[]>;
  insertKey(key: ApiKey): Promise<void>;
  /** Returns false when there is no such key. */
  updateKey(
    accountId: number,
    id: string,
    change: Partial<
      Pick<ApiKey, "name" | "scopes" | "allowedIps" | "requestsPerSecond" | "expiresAt" | "revokedAt" | "agent">
    >,
  ): Promise<boolean>;
  touchKeys(used: readonly Pick<ApiKey, "accountId" | "id" | "lastUsedAt">[]): Promise<void>;
  /** A service-wide value; null when it is not set. */
  settled(name: string): Promise<string | null>;
  /** Sets a service-wide value once; returns the stored value. */
  settle(name: string, value: string): Promise<string>;
  /** Compare and swap: replaces a service-wide value if it is still the expected one (null: not set), else returns false. */
  replaceSettled(name: string, expected: string | null, value: string): Promise<boolean>;
}

type KeyRow = Tables["api_keys"];

/** Tells all nodes that accounts and keys, or the catalog, have changed. */
export const bumpRevision = (db: Kysely<Tables>, topic: "records" | "catalog"): CompiledQuery =>
  db
    .updateTable("revisions")
    .set({ revision: sql`revision + 1` })
    .where("topic", "=", topic)
    .compile();

/** Account and key queries for both engines. Every change bumps the revision that other nodes watch. */
export function createRecords({ db, atomically, mergeJson }: Engine): RecordStore {
  const bump = (): CompiledQuery => bumpRevision(db, "records");

  return {
    async revision(topic) {
      const row = await db
        .selectFrom("revisions")
        .select("revision")
        .where("topic", "=", topic)
        .executeTakeFirstOrThrow();
      return row.revision;
    },

    async listAccounts() {
      const rows = await db.selectFrom("accounts").selectAll().orderBy("id").execute();
      return rows.map((row): Account => ({
        id: row.id,
        name: row.name,
        suspended: row.suspended === 1,
        settings: readSettings(row.settings),
      }));
    },

    async createAccount({ name, createdAt, owner, keys, phones, catalog }) {
      const find = db.selectFrom("accounts").select("id").where("name", "=", name);
      const findOwner = db.selectFrom("users").select("id").where("email", "=", owner.email);
      if (await find.executeTakeFirst()) return null;
      if (await findOwner.executeTakeFirst()) {
        // A concurrent request may have created the account since the first look.
        if (await find.executeTakeFirst()) return null;
        throw new EmailTaken(owner.email);
      }
      const accountId = sql<number>`(select id from accounts where name = ${name})`;
      try {
        await atomically([
          db.insertInto("accounts").values({ name, suspended: 0, settings: "{}", created_at: createdAt }).compile(),
          db
            .insertInto("users")
            .values({ ...rowOfUser(newUser({ ...owner, accountId: 0 })), account_id: accountId })
            .compile(),
          ...keys.map((key) =>
            db
              .insertInto("api_keys")
              .values({ ...rowOfKey(key), account_id: accountId })
              .compile(),
          ),
          ...phones.map((phone) =>
            db
              .insertInto("phones")
              .values({
                account_id: accountId,
                number: phone.number,
                name: phone.name,
                message_count: 0,
                last_message_at: null,
              })
              .compile(),
          ),
          ...catalog.map((record) =>
            db
              .insertInto("catalog")
              .values({ ...rowOf({ ...record, accountId: 0 }), account_id: accountId })
              .compile(),
          ),
          db.insertInto("balances").values({ account_id: accountId, balance: 0, held: 0 }).compile(),
          bump(),
          bumpRevision(db, "catalog"),
        ]);
      } catch (error) {
        // Another node created the same account, or a user with the address, a moment earlier.
        if (await find.executeTakeFirst()) return null;
        if (await findOwner.executeTakeFirst()) throw new EmailTaken(owner.email);
        throw error;
      }
      const created = await find.executeTakeFirstOrThrow();
      return created.id;
    },

    async saveSettings(accountId, change) {
      const update = db
        .updateTable("accounts")
        .set({ settings: mergeJson("settings", JSON.stringify(change)) })
        .where("id", "=", accountId);
      await atomically([update.compile(), bump()]);
    },

    async listKeys() {
      const rows = await db.selectFrom("api_keys").selectAll().orderBy("account_id").orderBy("id").execute();
      return rows.map(keyOf);
    },

    async insertKey(key) {
      await atomically([
        db
          .insertInto("api_keys")
          .values({ ...rowOfKey(key), account_id: key.accountId })
          .compile(),
        bump(),
      ]);
    },

    async updateKey(accountId, id, change) {
      const row = await db
        .selectFrom("api_keys")
        .select("id")
        .where("account_id", "=", accountId)
        .where("id", "=", id)
        .executeTakeFirst();
      if (!row) return false;
      const { agent } = change;
      const columns = { ...columnsOfKey(change), ...(agent === undefined ? {} : { agent: writeAgent(agent) }) };
      if (Object.keys(columns).length === 0) return true;
      const update = db.updateTable("api_keys").set(columns).where("account_id", "=", accountId).where("id", "=", id);
      await atomically([update.compile(), bump()]);
      return true;
    },

    async touchKeys(used) {
      await atomically(
        used.map(({ accountId, id, lastUsedAt }) =>
          db
            .updateTable("api_keys")
            .set({ last_used_at: lastUsedAt })
            .where("account_id", "=", accountId)
            .where("id", "=", id)
            .compile(),
        ),
      );
    },

    async settled(name) {
      const row = await db.selectFrom("service").select("value").where("name", "=", name).executeTakeFirst();
      return row?.value ?? null;
    },

    async settle(name, value) {
      await db
        .insertInto("service")
        .values({ name, value })
        .onConflict((conflict) => conflict.column("name").doNothing())
        .execute();
      const row = await db.selectFrom("service").select("value").where("name", "=", name).executeTakeFirstOrThrow();
      return row.value;
    },

    async replaceSettled(name, expected, value) {
      if (expected === null) {
        const insert = db.insertInto("service").values({ name, value });
        const { numInsertedOrUpdatedRows } = await insert
          .onConflict((conflict) => conflict.column("name").doNothing())
          .executeTakeFirst();
        return numInsertedOrUpdatedRows === 1n;
      }
      const { numUpdatedRows } = await db
        .updateTable("service")
        .set({ value })
        .where("name", "=", name)
        .where("value", "=", expected)
        .executeTakeFirst();
      return numUpdatedRows === 1n;
    },
  };
}

/** Settings that a later release adds have their default until they are changed. */
function readSettings(json: string): AccountSettings {
  const settings = { ...DEFAULT_SETTINGS, ...(JSON.parse(json) as Partial<AccountSettings>) };
  return { ...settings, chaos: { ...DEFAULT_SETTINGS.chaos, ...settings.chaos } };
}

function keyOf(row: KeyRow): ApiKey {
  return {
    accountId: row.account_id,
    id: row.id,
    name: row.name,
    mode: row.mode as KeyMode,
    digest: row.digest,
    hint: row.hint,
    scopes: JSON.parse(row.scopes) as Scope[],
    allowedIps: JSON.parse(row.allowed_ips) as string[],
    requestsPerSecond: row.requests_per_second,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    revokedAt: row.revoked_at,
    lastUsedAt: row.last_used_at,
    agent: row.agent === null ? null : { ...DEFAULT_AGENT_LIMITS, ...(JSON.parse(row.agent) as Partial<AgentLimits>) },
  };
}

const writeAgent = (agent: AgentLimits | null): string | null => (agent === null ? null : JSON.stringify(agent));

const rowOfKey = (key: Omit<ApiKey, "accountId">): Omit<KeyRow, "account_id"> => ({
  id: key.id,
  mode: key.mode,
  digest: key.digest,
  hint: key.hint,
  created_at: key.createdAt,
  last_used_at: key.lastUsedAt,
  agent: writeAgent(key.agent),
  ...columnsOfKey(key),
});
