import { randomBytes } from "node:crypto";
import { Client } from "pg";
import { migrate } from "../../src/store/postgres/migrate.ts";

export interface FreshDatabase {
  url: string;
  drop(): Promise<void>;
}

const SCHEMA = "schema_of_heliograph";

/** Creates an empty database on the cluster, so that tests cannot see each other's rows. */
export const freshDatabase = (baseUrl: string): Promise<FreshDatabase> => createDatabase(baseUrl, "template1");

/** As `freshDatabase`, but the schema is there: a copy takes a tenth of what the migrations take. */
export const migratedDatabase = (baseUrl: string): Promise<FreshDatabase> => createDatabase(baseUrl, SCHEMA);

/** Makes what `migratedDatabase` copies, once for a cluster. */
export async function prepareSchema(baseUrl: string): Promise<void> {
  await execute(baseUrl, `create database ${SCHEMA}`);
  await migrate(urlOf(baseUrl, SCHEMA));
}

async function createDatabase(baseUrl: string, template: string): Promise<FreshDatabase> {
  const name = `test_${randomBytes(8).toString("hex")}`;
  // Copied as files: to go through the log takes PostgreSQL twice as long.
  await execute(baseUrl, `create database ${name} template ${template} strategy file_copy`);
  return {
    url: urlOf(baseUrl, name),
    // A server that a test has killed may still have its connections open on the other side.
    drop: () => execute(baseUrl, `drop database if exists ${name} with (force)`),
  };
}

function urlOf(baseUrl: string, database: string): string {
  const url = new URL(baseUrl);
  url.pathname = `/${database}`;
  return url.href;
}

async function execute(url: string, statement: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
