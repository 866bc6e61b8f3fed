import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { idFloor } from "../../src/lib/ids.ts";
import type { CountedTarget } from "../../src/store/links.ts";
import type { Store } from "../../src/store/store.ts";
import { NOON } from "../support/acceptances.ts";
import { openStore, type EngineName, type OpenStore } from "../support/engines.ts";
import { click, insertLinks, TARGET, type InsertedLinks } from "../support/links.ts";
import { deleteExpired } from "../support/sweeps.ts";

const HOUR_MS = 3_600_000;
const NOBODYS = "zzzzzzz";

/** Short link tests that every engine passes. */
export function linkStoreSuite(engine: EngineName): void {
  let opened: OpenStore;
  let store: Store;

  beforeEach(async () => {
    opened = await openStore(engine);
    store = opened.store;
  });
  afterEach(() => opened.discard());

  const plant = (wishes: Parameters<typeof insertLinks>[1] = {}): Promise<InsertedLinks> =>
    insertLinks(opened.execute, wishes);

  const countOf = async (table: string): Promise<number> => {
    const [row] = (await opened.execute(`select count(*) as amount from ${table}`)) as { amount: number | string }[];
    return Number(row?.amount);
  };

  describe("findLinks", () => {
    it("findLinks returns codes in order, repeated ones twice and unknown ones as null", async () => {
      const { requestId, codes } = await plant({ targets: [TARGET, "http://b.example/"], recipients: 2 });
      const [[a1 = "", a2 = ""] = [], [b1 = ""] = []] = codes;
      const common = { accountId: 1, requestId, expiresAt: NOON + 90 * 24 * HOUR_MS };
      expect(await store.findLinks([a2, NOBODYS, b1, a2, a1])).toEqual([
        { ...common, code: a2, n: 1, k: 2, url: "http://b.example/" },
        null,
        { ...common, code: b1, n: 2, k: 1, url: TARGET },
        { ...common, code: a2, n: 1, k: 2, url: "http://b.example/" },
        { ...common, code: a1, n: 1, k: 1, url: TARGET },
      ]);
    });

    it("findLinks distinguishes codes by case", async () => {
      const { codes } = await plant();
      const code = codes[0]?.[0] ?? "";
      const swapped = code.replaceAll(/[a-z]/gi, (letter) =>
        letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase(),
      );
      const [hit, other] = await store.findLinks([code, swapped]);
      expect(hit?.code).toBe(code);
      expect(swapped === code ? null : other).toBeNull();
    });

    it("findLinks accepts an empty batch, and one of a thousand", async () => {
      expect(await store.findLinks([])).toEqual([]);
      const { codes } = await plant({ recipients: 1000 });
      const found = await store.findLinks(codes.flat());
      expect(found.map((hit) => hit?.n)).toEqual(codes.map((_, index) => index + 1));
    });

    it("findLinks accepts any text as a code", async () => {
      const odd = ["", "'; drop table links; --", '"', "\\", "\u{1f600}", "[0]", "$.a", "a".repeat(10_000)];
      expect(await store.findLinks(odd)).toEqual(odd.map(() => null));
    });
  });

  describe("recordClicks", () => {
    it.runIf(engine === "postgres")("recordClicks locks links in the order of their codes", async () => {
      const { codes } = await plant({ recipients: 30 });
      const [{ code: first }] = (await opened.execute("select min(code) as code from links")) as [{ code: string }];
      await opened.execute("begin");
      await opened.execute(`select 1 from links where code = '${first}' for no key update`);
      const recorded = store.recordClicks(codes.flat().map((code) => click(code)));
      await opened.untilBlocked();
      // Fails if the store holds one of them while it waits for the first: two nodes could then wait for each other.
      const free = `select code from links where code <> '${first}' for no key update nowait`;
      expect(await opened.execute(free)).toHaveLength(29);
      await opened.execute("commit");
      await recorded;
      expect(await countOf("links where clicked = 1")).toBe(30);
    });

    it("recordClicks counts a repeated click once", async () => {
      const { codes, requestId } = await plant();
      const one = click(codes[0]?.[0] ?? "");
      await store.recordClicks([one, one]);
      await store.recordClicks([one]);
      expect(await countOf("clicks")).toBe(1);
      expect(await store.listClicksOfMessage({ accountId: 1, requestId, n: 1 }, 10)).toEqual([{ ...one, k: 1 }]);
    });

    it("recordClicks accepts an empty batch, and one of a thousand", async () => {
      const { codes } = await plant();
      await store.recordClicks([]);
      await store.recordClicks(Array.from({ length: 1000 }, () => click(codes[0]?.[0] ?? "")));
      expect(await countOf("clicks")).toBe(1000);
    });
  });

  describe("counts", () => {
    it("link counts show clicks per target and agent, and the number of recipients", async () => {
      const { requestId, codes } = await plant({ targets: [TARGET, "https://b.example/"], recipients: 3 });
      const [[a1 = "", a2 = ""] = [], [b1 = ""] = [], [c1 = ""] = []] = codes;
      await store.recordClicks([
        click(a1),
        click(a1),
        click(a1, { agent: "preview" }),
        click(b1, { agent: "bot" }),
        click(c1),
        click(a2),
      ]);
      const target = { accountId: 1, requestId, createdAt: NOON, expiresAt: NOON + 90 * 24 * HOUR_MS };
      const first: CountedTarget = {
        ...target,
        k: 1,
        url: TARGET,
        recipients: 3,
        recipientsClicked: 2,
        clicks: { person: 3, preview: 1, bot: 1 },
        complete: true,
      };
      const second: CountedTarget = {
        ...target,
        k: 2,
        url: "https://b.example/",
        recipients: 3,
        recipientsClicked: 1,
        clicks: { person: 1, preview: 0, bot: 0 },
        complete: true,
      };
      expect(await store.findLinkTarget(1, requestId, 1)).toEqual(first);
      expect(await store.listLinkTargets(1, null, 10)).toEqual({ rows: [second, first], next: null });
      expect(await store.findLink(1, a1)).toEqual({
        ...first,
        code: a1,
        n: 1,
        recipients: 1,
        recipientsClicked: 1,
        clicks: { person: 2, preview: 1, bot: 0 },
      });
    });

    it("link counts are zero before the first click", async () => {
      const { requestId } = await plant({ recipients: 2 });
      expect(await store.findLinkTarget(1, requestId, 1)).toMatchObject({
        recipients: 2,
        recipientsClicked: 0,
        clicks: { person: 0, preview: 0, bot: 0 },
        complete: true,
      });
    });

    it("link counts of a target are kept: no link and no click is read", async () => {
      const { requestId, codes } = await plant({ recipients: 3 });
      const one = click(codes[0]?.[0] ?? "");
      const clicks = [one, click(codes[1]?.[0] ?? ""), click(codes[1]?.[0] ?? ""), click(NOBODYS)];
      await Promise.all([store.recordClicks(clicks), store.recordClicks([one])]);
      await store.recordClicks([one, click(codes[2]?.[0] ?? "", { agent: "bot" })]);
      await opened.execute("delete from clicks");
      await opened.execute("delete from links");
      const { rows } = await store.listLinkTargets(1, null, 10);
      expect(rows).toMatchObject([
        { requestId, recipients: 3, recipientsClicked: 2, clicks: { person: 3, preview: 0, bot: 1 } },
      ]);
    });

    it("link counts of targets miss no click of batches that are recorded at once", async () => {
      const { codes } = await plant({ recipients: 20 });
      const more = await plant({ recipients: 20, createdAt: NOON + 1 });
      const all = [...codes.flat(), ...more.codes.flat()];
      const batches = Array.from({ length: 12 }, (_, index) => (index % 2 ? all : all.toReversed()));
      await Promise.all(batches.map((batch) => store.recordClicks(batch.map((code) => click(code)))));
      const { rows } = await store.listLinkTargets(1, null, 10);
      const counted = { recipients: 20, recipientsClicked: 20, clicks: { person: 240, preview: 0, bot: 0 } };
      expect(rows).toMatchObject([counted, counted]);
    });

    it("link counts of one link stop at 100,000 clicks and say so", async () => {
      const { codes } = await plant();
      const code = codes[0]?.[0] ?? "";
      await opened.execute(manyClicks(engine, code, 100_003));
      expect(await store.findLink(1, code)).toMatchObject({ complete: false, clicks: { person: 100_001 } });
      expect(await store.clicksOverTime(1, { code }, { from: 0, to: NOON * 2, bucketMs: HOUR_MS })).toMatchObject({
        complete: false,
      });
      await opened.execute(`delete from clicks where id <= '${idFloor(NOON).slice(0, -1)}2'`);
      expect(await store.findLink(1, code)).toMatchObject({ complete: true, clicks: { person: 100_000 } });
    });
  });

  describe("listLinkTargets", () => {
    it("listLinkTargets returns every target once, newest first, in pages", async () => {
      for (let hour = 0; hour < 5; hour += 1)
        await plant({ targets: [TARGET, "https://b.example/"], createdAt: NOON + hour * HOUR_MS });
      const seen: CountedTarget[] = [];
      let after: { requestId: string; k: number } | null = null;
      do {
        const page: Awaited<ReturnType<Store["listLinkTargets"]>> = await store.listLinkTargets(1, after, 3);
        seen.push(...page.rows);
        after = page.next;
      } while (after);
      expect(seen.map(({ createdAt, k }) => [(createdAt - NOON) / HOUR_MS, k])).toEqual(
        [4, 3, 2, 1, 0].flatMap((hour) => [
          [hour, 2],
          [hour, 1],
        ]),
      );
    });
  });

  describe("of a message", () => {
    it("links of a message are in the order of their targets, clicks newest first up to the limit", async () => {
      const { requestId, codes } = await plant({ targets: [TARGET, "https://b.example/"], recipients: 2 });
      const [[a1 = "", a2 = ""] = [], [b1 = ""] = []] = codes;
      const ref = { accountId: 1, requestId, n: 1 };
      expect((await store.listLinksOfMessage(ref)).map(({ code, k, url }) => [code, k, url])).toEqual([
        [a1, 1, TARGET],
        [a2, 2, "https://b.example/"],
      ]);
      const clicks = [click(a1, { at: NOON + 1 }), click(a2, { at: NOON + 3 }), click(a1, { at: NOON + 2 })];
      await store.recordClicks([...clicks, click(b1, { at: NOON + 4 })]);
      expect((await store.listClicksOfMessage(ref, 10)).map(({ at, k }) => [at - NOON, k])).toEqual([
        [3, 2],
        [2, 1],
        [1, 1],
      ]);
      expect((await store.listClicksOfMessage(ref, 2)).map(({ at }) => at - NOON)).toEqual([3, 2]);
      expect(await store.listLinksOfMessage({ ...ref, n: 3 })).toEqual([]);
      expect(await store.listClicksOfMessage({ ...ref, n: 3 }, 10)).toEqual([]);
    });
  });

  describe("clicksOverTime", () => {
    it("clicksOverTime counts each click in its bucket, including the start and excluding the end", async () => {
      const { requestId, codes } = await plant({ recipients: 2 });
      const [[a = ""] = [], [b = ""] = []] = codes;
      await store.recordClicks([
        click(a, { at: NOON - 1 }),
        click(a, { at: NOON }),
        click(b, { at: NOON + HOUR_MS - 1 }),
        click(b, { at: NOON + HOUR_MS, agent: "bot" }),
        click(a, { at: NOON + 5 * HOUR_MS - 1, agent: "preview" }),
        click(a, { at: NOON + 5 * HOUR_MS }),
      ]);
      const span = { from: NOON, to: NOON + 5 * HOUR_MS, bucketMs: HOUR_MS };
      expect(await store.clicksOverTime(1, { requestId, k: 1 }, span)).toEqual({
        buckets: [
          { at: NOON, clicks: { person: 2, preview: 0, bot: 0 } },
          { at: NOON + HOUR_MS, clicks: { person: 0, preview: 0, bot: 1 } },
          { at: NOON + 4 * HOUR_MS, clicks: { person: 0, preview: 1, bot: 0 } },
        ],
        complete: true,
      });
      expect((await store.clicksOverTime(1, { code: b }, span)).buckets.map(({ at }) => at)).toEqual([
        NOON,
        NOON + HOUR_MS,
      ]);
      expect(await store.clicksOverTime(1, { requestId, k: 2 }, span)).toEqual({ buckets: [], complete: true });
    });
  });

  it("links of one account are not visible to another", async () => {
    const { requestId, codes } = await plant({ accountId: 2 });
    const code = codes[0]?.[0] ?? "";
    await store.recordClicks([click(code, { accountId: 2 })]);
    const span = { from: 0, to: NOON * 2, bucketMs: HOUR_MS };
    expect(await store.listLinkTargets(1, null, 10)).toEqual({ rows: [], next: null });
    expect(await store.findLinkTarget(1, requestId, 1)).toBeNull();
    expect(await store.findLink(1, code)).toBeNull();
    expect(await store.listLinksOfMessage({ accountId: 1, requestId, n: 1 })).toEqual([]);
    expect(await store.listClicksOfMessage({ accountId: 1, requestId, n: 1 }, 10)).toEqual([]);
    expect((await store.clicksOverTime(1, { code }, span)).buckets).toEqual([]);
    expect((await store.clicksOverTime(1, { requestId, k: 1 }, span)).buckets).toEqual([]);
    for (const kind of ["links", "linkTargets"] as const)
      expect(await deleteExpired(store, kind, { accountId: 1, before: NOON * 2 })).toEqual([0]);
    expect(await store.findLink(2, code)).toMatchObject({ clicks: { person: 1 } });
  });

  describe("retention", () => {
    const deleteAll = async (before: number, limit: number): Promise<number[]> => [
      ...(await deleteExpired(store, "links", { accountId: 1, before }, limit)),
      ...(await deleteExpired(store, "linkTargets", { accountId: 1, before }, limit)),
    ];

    it("forgetLinks deletes old links completely, and leaves others and other accounts alone", async () => {
      const old = await plant({ targets: [TARGET, "https://b.example/"], recipients: 3 });
      const young = await plant({ createdAt: NOON + HOUR_MS });
      const others = await plant({ accountId: 2 });
      await store.recordClicks([
        ...old.codes.flat().map((code) => click(code)),
        click(old.codes[0]?.[0] ?? ""),
        click(young.codes[0]?.[0] ?? ""),
        click(others.codes[0]?.[0] ?? "", { accountId: 2 }),
      ]);
      await deleteAll(NOON + HOUR_MS, 100);
      expect(await store.findLinks(old.codes.flat())).toEqual(old.codes.flat().map(() => null));
      expect(await store.findLinkTarget(1, old.requestId, 1)).toBeNull();
      expect(await store.findLinkTarget(1, young.requestId, 1)).toMatchObject({ clicks: { person: 1 } });
      expect(await store.findLinkTarget(2, others.requestId, 1)).toMatchObject({ clicks: { person: 1 } });
      expect([await countOf("clicks"), await countOf("links"), await countOf("link_targets")]).toEqual([2, 2, 2]);
    });

    it("forgetLinks deletes up to the limit of each kind, and finishes", async () => {
      for (let i = 0; i < 6; i += 1) {
        const { codes } = await plant({ recipients: 4, createdAt: NOON + i });
        await store.recordClicks(codes.flatMap(([code = ""]) => Array.from({ length: i }, () => click(code))));
      }
      const gone = await deleteAll(NOON + HOUR_MS, 5);
      expect(Math.max(...gone)).toBeLessThanOrEqual(10);
      expect([await countOf("clicks"), await countOf("links"), await countOf("link_targets")]).toEqual([0, 0, 0]);
      expect(gone.reduce((sum, rows) => sum + rows)).toBe(60 + 24 + 6);
    });
  });
}

/** Many clicks of one person in one statement; the first has the smallest id of its moment. */
const manyClicks = (engine: EngineName, code: string, amount: number): string => {
  const [hex, series] =
    engine === "sqlite"
      ? [
          "printf('%012x', i - 1)",
          `(with recursive counted(i) as (select 1 union all select i + 1 from counted where i < ${amount}) select i from counted)`,
        ]
      : ["lpad(to_hex(i - 1), 12, '0')", `generate_series(1, ${amount}) as i`];
  const id = `'${idFloor(NOON).slice(0, -12)}' || ${hex}`;
  return `insert into clicks (account_id, code, id, agent, at)
    select 1, '${code}', ${engine === "sqlite" ? id : `(${id})::uuid`}, 'person', ${NOON} from ${series}`;
};
