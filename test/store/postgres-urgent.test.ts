import { Client } from "pg";
import { expect, inject, test } from "vitest";
import { openPostgresStore } from "../../src/store/postgres/postgres-store.ts";
import { acceptance } from "../support/acceptances.ts";
import { migratedDatabase } from "../support/databases.ts";
import { eventually } from "../support/eventually.ts";

test("a one-time password is stored while all ordinary connections are in use", async () => {
  const database = await migratedDatabase(inject("postgresUrl"));
  const store = await openPostgresStore(database.url, { connections: 1 });
  const blocker = new Client({ connectionString: database.url });
  await blocker.connect();
  await blocker.query("begin");
  await blocker.query("lock table optouts in access exclusive mode");
  const asked = store.areOptedOut([{ accountId: 1, number: "33612345678" }]);
  const waiting = "select 1 from pg_locks where not granted and relation = 'optouts'::regclass";
  await eventually(
    async () => (await blocker.query(waiting)).rowCount,
    (count) => count === 1,
  );
  let promotionStored = false;
  const promotion = store.accept([acceptance({ routeClass: "PROMO" })]).then(() => (promotionStored = true));

  expect(await store.accept([acceptance({ routeClass: "OTP" })], true)).toMatchObject([{ kind: "stored" }]);
  expect(promotionStored).toBe(false);

  await blocker.query("commit");
  await blocker.end();
  expect(await asked).toEqual([false]);
  await promotion;
  await store.close();
  await database.drop();
});
