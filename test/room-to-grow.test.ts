import { afterEach, beforeEach, expect, test } from "vitest";
import { acceptance, NOON } from "./support/acceptances.ts";
import { openStore, type OpenStore } from "./support/engines.ts";

let opened: OpenStore;
beforeEach(async () => {
  opened = await openStore("postgres");
});
afterEach(() => opened.discard());

const settingsOf = async (table: string): Promise<string> => {
  const [row] = (await opened.execute(`select reloptions from pg_class where oid = '${table}'::regclass`)) as {
    reloptions: string[] | null;
  }[];
  return (row?.reloptions ?? []).join(", ");
};

/** As it is when the rows of a store have grown to their end: each page is full but for what no such row fits into. */
async function growToTheEnd(): Promise<void> {
  const settings = await settingsOf("messages");
  await opened.execute("alter table messages reset (fillfactor)");
  await opened.execute("update messages set state = 'delivered', trail = repeat('x', 400 + 37 * n % 900)");
  await opened.execute("vacuum full messages");
  if (settings !== "") await opened.execute(`alter table messages set (${settings})`);
  await opened.execute("vacuum messages");
}

test("on PostgreSQL new messages lie together, not one on each old page that has room for it", async () => {
  const { store } = opened;
  await store.accept([acceptance({ to: Array.from({ length: 600 }, (_, index) => `33600000${index}`) })]);
  await growToTheEnd();
  for (let sent = 0; sent < 20; sent += 1) await store.accept([acceptance({ createdAt: NOON + sent })]);
  const pages = await opened.execute(
    "select distinct (ctid::text::point)[0] as page from messages where state = 'accepted'",
  );
  expect(pages.length).toBeGreaterThan(0);
  expect(pages.length).toBeLessThanOrEqual(3);
});

test("on PostgreSQL callbacks have the same room", async () => {
  expect(await settingsOf("callbacks")).toMatch(/^fillfactor=\d+$/);
});
