import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { CatalogRecord } from "../../src/model/catalog.ts";
import { catalogRecord } from "../support/catalog-record.ts";
import { ENGINES, openStore, type OpenStore } from "../support/engines.ts";

const NUMBERS = 3500;
const SWAPS = 12;

describe.each(ENGINES)("more records than one page, on %s", (engine) => {
  let open: OpenStore;
  const change = async (put: CatalogRecord[], remove: Pick<CatalogRecord, "kind" | "name">[]): Promise<void> => {
    const { store } = open;
    const from = { records: await store.revision("records"), catalog: await store.revision("catalog") };
    expect(await store.changeSetUp({ accountId: 1, from, put, remove, settings: {} })).toBe(true);
  };

  beforeEach(async () => {
    open = await openStore(engine);
    const content = { title: null, phoneNumberId: null };
    await change(
      Array.from({ length: NUMBERS }, (_, index) => catalogRecord("number", `+1555${index}`, content)),
      [],
    );
  });
  afterEach(() => open.discard());

  test("records of several pages are all read, each once", async () => {
    const names = (await open.store.listCatalog()).map(({ name }) => name);
    expect(names).toHaveLength(NUMBERS);
    expect(new Set(names).size).toBe(NUMBERS);
  });

  test("records of several pages are of one moment, whatever changes while they are read", async () => {
    // The first and the last of all kinds here: one change moves the mark from one end of the reading to the other.
    const bot = catalogRecord("bot", "mark", { title: null, agentId: null });
    const sender = catalogRecord("sender", "mark", { dltEntityId: null });
    await change([bot], []);
    let isSwapping = true;
    const swapping = (async () => {
      for (let swap = 0; swap < SWAPS; swap += 1)
        await (swap % 2 === 0 ? change([sender], [bot]) : change([bot], [sender]));
      isSwapping = false;
    })();
    const seen: number[] = [];
    do seen.push((await open.store.listCatalog()).filter(({ name }) => name === "mark").length);
    while (isSwapping);
    await swapping;
    expect(new Set(seen)).toEqual(new Set([1]));
  });
});
