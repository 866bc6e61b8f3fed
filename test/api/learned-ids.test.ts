import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, test } from "vitest";
import { Catalog } from "../../src/records/catalog.ts";
import { isUuid, newId } from "../../src/lib/ids.ts";
import type { CampaignContent } from "../../src/model/catalog.ts";
import { catalogRecord } from "../support/catalog-record.ts";
import { migratedDatabase } from "../support/databases.ts";
import { ENGINES, hasPostgres, openStore, type OpenStore } from "../support/engines.ts";
import { eventually } from "../support/eventually.ts";
import { startTestServer, type Answer, type TestServer } from "../support/test-server.ts";
import { MovedClock } from "../support/moved-clock.ts";

const RUNNING: CampaignContent = { status: "running", pausedAt: null, pausedMs: 0 };

describe.each(ENGINES)("learned records on %s", (engine) => {
  let opened: OpenStore;
  beforeEach(async () => {
    opened = await openStore(engine);
  });
  afterEach(() => opened.discard());

  /** The configuration records as one node has them. */
  const node = (): Catalog => new Catalog({ store: opened.store, clock: new MovedClock() });

  test("learned records have one id on every node from the first moment, and in the store", async () => {
    const [one, two] = [node(), node()];
    const learn = (catalog: Catalog): void => {
      catalog.learn(1, "campaign", "spring", RUNNING);
      catalog.learn(2, "campaign", "spring", RUNNING);
      catalog.learn(1, "sender", "spring", { dltEntityId: null });
    };
    const ids = (catalog: Catalog): (string | undefined)[] => [
      catalog.of(1).named("campaign").get("spring")?.id,
      catalog.of(2).named("campaign").get("spring")?.id,
      catalog.of(1).named("sender").get("spring")?.id,
    ];
    learn(one);
    learn(two);
    const first = ids(one);
    expect(first.every((id) => id !== undefined && isUuid(id))).toBe(true);
    expect(new Set(first).size, "accounts and kinds have ids of their own").toBe(3);
    expect(ids(two)).toEqual(first);
    for (const catalog of [two, one, two]) {
      await catalog.saveLearned();
      await catalog.refresh();
    }
    expect(ids(one)).toEqual(first);
    expect(ids(two)).toEqual(first);
  });

  test("records that another node has just learned do not fail a change: it is decided again", async () => {
    const [one, two] = [node(), node()];
    const { store } = opened;
    two.learn(1, "sender", "NODES", { dltEntityId: null });
    const from = await store.revision("catalog");
    await two.saveLearned();
    const record = catalogRecord("sender", "NODES", { dltEntityId: "1101" });
    expect(await store.insertCatalogRecord(record, from)).toBe("outdated");
    expect(await store.changeCatalogRecord({ ...record, id: newId(1) }, from)).toBe("outdated");
    expect(await store.removeCatalogRecord({ ...record, id: newId(1) }, from)).toBe("outdated");
    const now = await store.revision("catalog");
    expect(await store.insertCatalogRecord(record, now)).toBe("name taken");
    expect(await store.changeCatalogRecord({ ...record, name: "OTHER" }, now)).toBe("missing");
    expect(await store.removeCatalogRecord(record, now)).toBe("missing");
    await one.refresh();
    expect(one.of(1).named("sender").get("NODES")?.origin).toBe("learned");
  });

  test("learned records keep the id that an earlier release gave them", async () => {
    const earlier = "0198f3a2-7c40-7d1e-9a51-3f0c8e2b6d47";
    await opened.execute(
      `insert into catalog (account_id, kind, id, name, origin, content, created_at, updated_at)
       values (1, 'campaign', '${earlier}', 'old', 'learned', '${JSON.stringify(RUNNING)}', 1, 1)
       returning id`,
    );
    const catalog = node();
    await catalog.refresh();
    catalog.learn(1, "campaign", "old", { ...RUNNING, pausedMs: 1 });
    await catalog.saveLearned();
    await catalog.refresh();
    expect(catalog.of(1).named("campaign").get("old")?.id).toBe(earlier);
  });

  test("a learned record does not take the id of a renamed one", async () => {
    const [one, two] = [node(), node()];
    one.learn(1, "sender", "before", { dltEntityId: null });
    const known = one.of(1).named("sender").get("before");
    if (!known) throw new Error("nothing was learned");
    await one.change((revision) =>
      opened.store.changeCatalogRecord({ ...known, name: "after", origin: "authored" }, revision),
    );
    // The first node knows of the new name, the second one does not yet.
    for (const catalog of [one, two]) catalog.learn(1, "sender", "before", { dltEntityId: null });
    await two.refresh();
    for (const catalog of [one, two]) {
      await catalog.saveLearned();
      await catalog.refresh();
    }
    const idOf = (catalog: Catalog, name: string): string | undefined => catalog.of(1).named("sender").get(name)?.id;
    expect(idOf(one, "after")).toBe(known.id);
    expect(idOf(one, "before")).toBeDefined();
    expect(idOf(one, "before")).not.toBe(known.id);
    expect(idOf(two, "before")).toBe(idOf(one, "before"));
  });
});

describe("campaigns of an account", () => {
  test("campaigns beyond the 10,000th are known, so that each can be paused and cancelled", () => {
    const catalog = new Catalog({ store: {} as never, clock: new MovedClock() });
    for (let i = 0; i <= 10_000; i += 1) catalog.learn(1, "campaign", `C${i}`, RUNNING);
    expect(catalog.of(1).named("campaign").has("C10000")).toBe(true);
  });

  test("an account has at most 100,000 campaigns: a send under one more name is refused by field", () => {
    const catalog = new Catalog({ store: {} as never, clock: new MovedClock() });
    for (let i = 0; i < 100_000; i += 1) catalog.learn(1, "campaign", `C${i}`, RUNNING);
    expect(() => catalog.learn(1, "campaign", "one more", RUNNING)).toThrow(
      expect.objectContaining({
        code: "INVALID_REQUEST",
        faults: [{ parameter: "campaignName", message: expect.stringContaining("100000 campaigns") }],
      }),
    );
    expect(() => catalog.learn(1, "campaign", "C7", RUNNING)).not.toThrow();
    expect(() => catalog.learn(2, "campaign", "one more", RUNNING)).not.toThrow();
  });
});

interface Campaign {
  id: string;
  name: string;
  status: string;
}

describe.runIf(hasPostgres)("a campaign that two nodes learn", () => {
  let one: TestServer;
  let two: TestServer;
  beforeAll(async () => {
    const { url } = await migratedDatabase(inject("postgresUrl"));
    one = await startTestServer("postgres", { env: { HELIOGRAPH_DATABASE_URL: url } });
    two = await startTestServer("postgres", { env: { ...one.env, HELIOGRAPH_PORT: "0" } });
  });
  afterAll(async () => {
    await Promise.all([one, two].map((server) => server.close()));
  });

  const send = async (server: TestServer, campaignName: string): Promise<void> => {
    expect((await server.send({ campaignName }, { apikey: one.key })).status).toBe(200);
  };
  const ask = (server: TestServer, method: string, path: string): Promise<Answer<Campaign>> =>
    server.request<Campaign>(method, path, undefined, { apikey: one.key });
  const listed = async (server: TestServer, name: string): Promise<Campaign | undefined> => {
    const { status, body } = await server.request<{ data: Campaign[] }>("GET", "/api/campaigns?limit=200", undefined, {
      apikey: one.key,
    });
    expect(status).toBe(200);
    return body.data.find((campaign) => campaign.name === name);
  };

  test("a campaign learned on two nodes has one id, under which either node pauses, resumes and cancels it", async () => {
    for (let round = 0; round < 2; round += 1) {
      const campaignName = `both ${round}`;
      await Promise.all([one, two].map((server) => send(server, campaignName)));
      const { id } = (await listed(one, campaignName)) ?? {};
      expect((await listed(two, campaignName))?.id).toBe(id);
      const [first, second] = round % 2 === 0 ? [one, two] : [two, one];
      for (const [server, verb, is] of [
        [first, "pause", "paused"],
        [second, "resume", "running"],
        [second, "pause", "paused"],
        [first, "cancel", "cancelled"],
      ] as const) {
        const { status, body } = await ask(server, "POST", `/api/campaigns/${id}/${verb}`);
        expect([status, body.status]).toEqual([200, is]);
      }
      for (const server of [one, two])
        expect((await ask(server, "GET", `/api/campaigns/${id}`)).body).toMatchObject({ status: "cancelled" });
    }
  });

  test("a campaign that one node has just learned is found by the other", async () => {
    await send(one, "just now");
    const found = await eventually(
      () => listed(two, "just now"),
      (campaign) => campaign !== undefined,
    );
    expect((await listed(one, "just now"))?.id).toBe(found?.id);
    expect((await ask(two, "POST", `/api/campaigns/${found?.id}/pause`)).status).toBe(200);
  });
});
