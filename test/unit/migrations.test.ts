import { describe, expect, test } from "vitest";
import { buildInfo } from "../../src/build-info.ts";
import { MIGRATIONS, pendingMigrations, RELEASE } from "../../src/store/migrations/all.ts";
import { contracts, readsLargeTables } from "../../src/store/migrations/migration.ts";

test("the release of the migrations is the version of the package", () => {
  expect(RELEASE).toBe(buildInfo.version);
});

describe("a migration", () => {
  test("works with an older release only if it expands the schema", () => {
    const wrong = MIGRATIONS.filter(({ worksWith }) => worksWith !== undefined).flatMap((migration) =>
      contracts(migration).map((statement) => `${migration.name}: ${statement}`),
    );
    expect(wrong).toEqual([]);
  });

  test("cannot both stop older nodes and work with them", () => {
    const wrong = MIGRATIONS.filter(({ stopsNodes, worksWith }) => stopsNodes && worksWith !== undefined);
    expect(wrong.map(({ name }) => name)).toEqual([]);
  });

  test.each([
    "drop table links",
    "alter table links drop column clicked",
    "alter table links rename to short_links",
    "alter table links alter column k type bigint",
    "alter table links add column kind text not null",
    "create unique index links_once on links (request_id)",
    "drop index links_of_message",
    "update links set clicked = 1",
  ])("contracts the schema by: %s", (statement) => {
    expect(contracts({ statements: () => [statement] })).toContain(statement);
  });

  test.each([
    "create table more (id integer not null primary key)",
    "alter table links add column kind text",
    "alter table links add column kind text not null default 'web'",
    "create index links_by_kind on links (kind)",
    "insert into revisions (topic, revision) values ('more', 1)",
  ])("expands the schema by: %s", (statement) => {
    expect(contracts({ statements: () => [statement] })).toEqual([]);
  });
});

/** The last migration of the first release. No large database has yet to run those before it. */
const LAST_OF_FIRST_RELEASE = "0036-smpp-server";

describe("a migration after the first release", () => {
  test("never reads or rewrites a table with a row per message", () => {
    const last = MIGRATIONS.findIndex(({ name }) => name === LAST_OF_FIRST_RELEASE);
    expect(last).toBeGreaterThan(0);
    const slow = MIGRATIONS.slice(last + 1).flatMap((migration) =>
      readsLargeTables(migration).map((statement) => `${migration.name}: ${statement}`),
    );
    expect(slow).toEqual([]);
  });

  test.each([
    "alter table messages add column kind text",
    "alter table callbacks drop column kind",
    "create index messages_by_kind on messages (kind)",
    "create unique index links_once on links (request_id)",
    "update messages set kind = 'x' where kind is null",
    "insert into totals (account_id, count) select account_id, count(*) from submissions group by account_id",
    "delete from clicks where at < 0",
  ])("takes minutes on a large database by: %s", (statement) => {
    expect(readsLargeTables({ statements: () => [statement] })).toContain(statement);
  });

  test.each([
    "create table message_kinds (account_id integer not null, request_id text not null, n integer not null)",
    "alter table messages rename column kind to sort",
    "alter table messages set (fillfactor = 60)",
    "alter table users add column language text",
    "create index message_kinds_by_kind on message_kinds (kind)",
  ])("takes no time by: %s", (statement) => {
    expect(readsLargeTables({ statements: () => [statement] })).toEqual([]);
  });
});

test.each(["0.1.0", "0.0.9"])("an unknown migration that works with %s lets 0.1.0 start", (worksWith) => {
  expect(pendingMigrations([{ name: "9999-future", worksWith }], [])).toEqual([]);
});

test.each(["0.1.1", "0.10.0", "1.0.0", null])("an unknown migration that works with %s stops 0.1.0", (worksWith) => {
  expect(() => pendingMigrations([{ name: "9999-future", worksWith }], [])).toThrow("newer release (9999-future)");
});
