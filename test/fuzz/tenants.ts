import { sampleRecords } from "../../src/catalog/samples.ts";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Client } from "pg";
import { inject } from "vitest";
import { deriveKey } from "../../src/accounts/master-key.ts";
import { Keyring } from "../../src/accounts/keyring.ts";
import { mintKey, type KeyChoices, type MintedKey } from "../../src/accounts/keys.ts";
import type { Clock } from "../../src/lib/clock.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { newId } from "../../src/lib/ids.ts";
import { SCOPES, type KeyMode } from "../../src/model/api-key.ts";
import { migratedDatabase } from "../support/databases.ts";
import type { EngineName } from "../support/engines.ts";
import { openHouse, type House } from "../support/house.ts";

const MASTER_KEY = "a master key that the test knows";

/** A house with room for several accounts, and a way behind its back to what no door does. */
export interface Tenants {
  house: House;
  dataDir: string;
  /** Null on SQLite. */
  databaseUrl: string | null;
  execute(sql: string): Promise<unknown[]>;
  /** A further account with a key for everything. */
  addAccount(name: string): Promise<{ accountId: number; minted: MintedKey }>;
  addKey(accountId: number, choices?: Partial<KeyChoices>, mode?: KeyMode): Promise<MintedKey>;
  /** Makes the server look at accounts and keys now and not in two seconds. */
  learn(): Promise<void>;
  close(): Promise<void>;
}

/** Addresses come from `X-Forwarded-For` here, so that a test can call from anywhere. */
export async function openTenants(
  engine: EngineName,
  clock: Clock = systemClock,
  { porter = false } = {},
): Promise<Tenants> {
  const dataDir = await mkdtemp(join(tmpdir(), "heliograph-tenants-"));
  const database = engine === "postgres" ? await migratedDatabase(inject("postgresUrl")) : null;
  const house = await openHouse(engine, {
    clock,
    porter,
    env: {
      HELIOGRAPH_DATA_DIR: dataDir,
      HELIOGRAPH_MASTER_KEY: MASTER_KEY,
      HELIOGRAPH_TRUST_PROXY: "true",
      ...(database ? { HELIOGRAPH_DATABASE_URL: database.url } : {}),
    },
  });
  const raw = database ? await openRawPostgres(database.url) : openRawSqlite(join(dataDir, "heliograph.db"));
  const { store } = house.app;
  const keyring = new Keyring({ store, clock }, deriveKey(Buffer.from(MASTER_KEY), "api keys"));
  const mint = (accountId: number, choices: Partial<KeyChoices>, mode: KeyMode): MintedKey =>
    mintKey({ keyring, clock }, accountId, mode, {
      name: "Key",
      scopes: SCOPES,
      allowedIps: [],
      requestsPerSecond: null,
      expiresAt: null,
      ...choices,
    });

  const tenants: Tenants = {
    house,
    dataDir,
    databaseUrl: database?.url ?? null,
    execute: raw.execute,
    async addAccount(name) {
      const minted = mint(0, {}, "live");
      const now = clock.now();
      const owner = {
        id: newId(now),
        email: `${name}@example.com`,
        passwordHash: "none",
        role: "owner",
        createdAt: now,
      } as const;
      const accountId = await store.createAccount({
        name,
        createdAt: now,
        owner,
        keys: [minted.key],
        phones: [],
        catalog: sampleRecords(now),
      });
      if (accountId === null) throw new Error(`there is an account ${name} already`);
      await tenants.learn();
      return { accountId, minted };
    },
    async addKey(accountId, choices = {}, mode = "live") {
      const minted = mint(accountId, choices, mode);
      await store.insertKey(minted.key);
      await tenants.learn();
      return minted;
    },
    async learn() {
      const { status } = await house.ask("PATCH", "/api/account", {});
      if (status !== 200) throw new Error(`the account could not be touched: ${status}`);
    },
    async close() {
      await raw.close();
      await house.close();
      await database?.drop();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
  return tenants;
}

interface Raw {
  execute(sql: string): Promise<unknown[]>;
  close(): Promise<void>;
}

function openRawSqlite(path: string): Raw {
  const db = new DatabaseSync(path, { timeout: 10_000 });
  return { execute: async (sql) => db.prepare(sql).all(), close: async () => db.close() };
}

async function openRawPostgres(url: string): Promise<Raw> {
  const client = new Client({ connectionString: url });
  await client.connect();
  return { execute: async (sql) => (await client.query(sql)).rows as unknown[], close: () => client.end() };
}
