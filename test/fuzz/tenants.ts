import { sampleRecords } from "../../src/records/sample-data.ts";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Client } from "pg";
import { inject } from "vitest";
import { deriveKey } from "../../src/accounts/master-key.ts";
import type { Config } from "../../src/config.ts";
import { Keyring } from "../../src/accounts/keyring.ts";
import { generateKey, type KeyChoices, type NewKey } from "../../src/accounts/keys.ts";
import type { Clock } from "../../src/lib/clock.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { newId } from "../../src/lib/ids.ts";
import { SCOPES, type KeyMode } from "../../src/model/api-key.ts";
import { migratedDatabase } from "../support/databases.ts";
import type { EngineName } from "../support/engines.ts";
import { startTestServer, type TestServer } from "../support/test-server.ts";

export const MASTER_KEY = "a master key that the test knows";

/** A test server with several accounts, and direct access to its store for changes that the API does not offer. */
export interface Tenants {
  server: TestServer;
  dataDir: string;
  /** Null on SQLite. */
  databaseUrl: string | null;
  execute(sql: string): Promise<unknown[]>;
  /** Adds an account with a key that has all scopes. */
  addAccount(name: string): Promise<{ accountId: number; minted: NewKey }>;
  addKey(accountId: number, choices?: Partial<KeyChoices>, mode?: KeyMode): Promise<NewKey>;
  /** Makes the server reload accounts and keys now; otherwise it does so within two seconds. */
  reload(): Promise<void>;
  close(): Promise<void>;
}

/** The server trusts `X-Forwarded-For`, so that a test can choose its client address. */
export async function openTenants(
  engine: EngineName,
  clock: Clock = systemClock,
  {
    connectionThread = false,
    env = {},
    beyond,
  }: { connectionThread?: boolean; env?: Record<string, string>; beyond?: Partial<Config> } = {},
): Promise<Tenants> {
  const dataDir = await mkdtemp(join(tmpdir(), "heliograph-tenants-"));
  const database = engine === "postgres" ? await migratedDatabase(inject("postgresUrl")) : null;
  const server = await startTestServer(engine, {
    clock,
    connectionThread,
    ...(beyond && { beyond }),
    env: {
      HELIOGRAPH_DATA_DIR: dataDir,
      HELIOGRAPH_MASTER_KEY: MASTER_KEY,
      HELIOGRAPH_TRUST_PROXY: "true",
      ...env,
      ...(database ? { HELIOGRAPH_DATABASE_URL: database.url } : {}),
      ...env,
    },
  });
  const raw = database ? await openRawPostgres(database.url) : openRawSqlite(join(dataDir, "heliograph.db"));
  const { store } = server.app;
  const keyring = new Keyring({ store, clock }, deriveKey(Buffer.from(MASTER_KEY), "api keys"));
  const createKey = (accountId: number, choices: Partial<KeyChoices>, mode: KeyMode): NewKey =>
    generateKey({ keyring, clock }, accountId, mode, {
      name: "Key",
      scopes: SCOPES,
      allowedIps: [],
      requestsPerSecond: null,
      expiresAt: null,
      ...choices,
    });

  const tenants: Tenants = {
    server,
    dataDir,
    databaseUrl: database?.url ?? null,
    execute: raw.execute,
    async addAccount(name) {
      const minted = createKey(0, {}, "live");
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
      if (accountId === null) throw new Error(`account ${name} exists`);
      await tenants.reload();
      return { accountId, minted };
    },
    async addKey(accountId, choices = {}, mode = "live") {
      const minted = createKey(accountId, choices, mode);
      await store.insertKey(minted.key);
      await tenants.reload();
      return minted;
    },
    async reload() {
      const { status } = await server.request("PATCH", "/api/account", {});
      if (status !== 200) throw new Error(`reloading accounts failed: ${status}`);
    },
    async close() {
      await raw.close();
      await server.close();
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
