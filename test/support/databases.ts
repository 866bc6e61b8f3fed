import { randomBytes } from "node:crypto";
import { Client } from "pg";

export interface FreshDatabase {
  url: string;
  drop(): Promise<void>;
}

/** Creates an empty database on the cluster, so that tests cannot see each other's rows. */
export async function freshDatabase(baseUrl: string): Promise<FreshDatabase> {
  const name = `test_${randomBytes(8).toString("hex")}`;
  await execute(baseUrl, `create database ${name}`);
  const url = new URL(baseUrl);
  url.pathname = `/${name}`;
  return {
    url: url.href,
    // A server that a test has killed may still have its connections open on the other side.
    drop: () => execute(baseUrl, `drop database if exists ${name} with (force)`),
  };
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
