import { Client } from "pg";
import { expect, inject, test } from "vitest";
import { migrate } from "../../src/store/postgres/migrate.ts";
import { freshDatabase } from "../support/databases.ts";
import { hasPostgres } from "../support/engines.ts";

test.runIf(hasPostgres)("a migration may scan whole tables, which the statements of the store may not", async () => {
  const database = await freshDatabase(inject("postgresUrl"));
  const probe = {
    name: "probe",
    statements: () => ["create table probe as select current_setting('enable_seqscan') as scans"],
  };
  await migrate(database.url, { known: [probe] });
  const client = new Client({ connectionString: database.url });
  await client.connect();
  const { rows } = await client.query("select scans from probe");
  await client.end();
  await database.drop();
  expect(rows).toEqual([{ scans: "on" }]);
});
