import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { idFloor, newId } from "../src/lib/ids.ts";
import type { CountedTarget } from "../src/store/link-store.ts";
import type { Store } from "../src/store/store.ts";
import { NOON } from "./support/acceptances.ts";
import { openStore, type EngineName, type OpenStore } from "./support/engines.ts";
import { click, plantLinks, TARGET, type PlantedLinks } from "./support/links.ts";

const HOUR_MS = 3_600_000;
const NOBODYS = "zzzzzzz";

/** What every engine behind the port promises about short links. */
export function linkStoreSuite(engine: EngineName): void {
  let opened: OpenStore;
  let store: Store;

  beforeEach(async () => {
    opened = await openStore(engine);
    store = opened.store;
  });
  afterEach(() => opened.discard());

  const plant = (wishes: Parameters<typeof plantLinks>[1] = {}): Promise<PlantedLinks> =>
    plantLinks(opened.execute, wishes);

  const countOf = async (table: string): Promise<number> => {
    const [row] = (await opened.execute(`select count(*) as amount from ${table}`)) as { amount: number | string }[];
    return Number(row?.amount);
  };

  describe("findLinks", () => {
    it("answers each code in its place, twice if asked twice, and null for one that nobody has", async () => {
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

    it("tells codes apart that differ only in the case of a letter", async () => {
      const { codes } = await plant();
      const code = codes[0]?.[0] ?? "";
      const swapped = code.replaceAll(/[a-z]/gi, (letter) =>
        letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase(),
      );
      const [hit, other] = await store.findLinks([code, swapped]);
      expect(hit?.code).toBe(code);
      expect(swapped === code ? null : other).toBeNull();
    });

    it("answers an empty batch, and one of a thousand", async () => {
      expect(await store.findLinks([])).toEqual([]);
      const { codes } = await plant({ recipients: 1000 });
      const found = await store.findLinks(codes.flat());
      expect(found.map((hit) => hit?.n)).toEqual(codes.map((_, index) => index + 1));
    });

    it("takes whatever stands where a code should", async () => {
      const odd = ["", "'; drop table links; --", '"', "\\", "\u{1f600}", "[0]", "$.a", "a".repeat(10_000)];
      expect(await store.findLinks(odd)).toEqual(odd.map(() => null));
    });
  });

  describe("recordClicks", () => {
    it("counts a click once, however often it is written", async () => {
      const { codes, requestId } = await plant();
      const one = click(codes[0]?.[0] ?? "");
      await store.recordClicks([one, one]);
      await store.recordClicks([one]);
      expect(await countOf("clicks")).toBe(1);
      expect(await store.listClicksOfMessage({ accountId: 1, requestId, n: 1 }, 10)).toEqual([{ ...one, k: 1 }]);
    });

    it("takes an empty batch, and one of a thousand", async () => {
      const { codes } = await plant();
      await store.recordClicks([]);
      await store.recordClicks(Array.from({ length: 1000 }, () => click(codes[0]?.[0] ?? "")));
      expect(await countOf("clicks")).toBe(1000);
    });
  });

  describe("counts", () => {
    it("tell how often a target was followed by whom, and by how many recipients", async () => {
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

    it("are of nobody while nobody has clicked", async () => {
      const { requestId } = await plant({ recipients: 2 });
      expect(await store.findLinkTarget(1, requestId, 1)).toMatchObject({
        recipients: 2,
        recipientsClicked: 0,
        clicks: { person: 0, preview: 0, bot: 0 },
        complete: true,
      });
    });

    it("stop at 100,000 clicks and say so", async () => {
      const { requestId, codes } = await plant();
      const code = codes[0]?.[0] ?? "";
      await opened.execute(manyClicks(engine, code, 100_003));
      const counted = await store.findLinkTarget(1, requestId, 1);
      expect(counted).toMatchObject({ complete: false, clicks: { person: 100_001 } });
      expect(await store.clicksOverTime(1, { code }, { from: 0, to: NOON * 2, bucketMs: HOUR_MS })).toMatchObject({
        complete: false,
      });
      await opened.execute(`delete from clicks where id <= '${idFloor(NOON).slice(0, -1)}2'`);
      expect(await store.findLink(1, code)).toMatchObject({ complete: true, clicks: { person: 100_000 } });
    });
  });

  describe("listLinkTargets", () => {
    it("gives every target once, newest first, page by page", async () => {
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

    it("ends a page early when there is much to count, and goes on from there", async () => {
      const older = await plant();
      const newer = await plant({ createdAt: NOON + HOUR_MS });
      await opened.execute(manyClicks(engine, newer.codes[0]?.[0] ?? "", 100_001));
      const first = await store.listLinkTargets(1, null, 10);
      expect(first.rows.map(({ requestId }) => requestId)).toEqual([newer.requestId]);
      const second = await store.listLinkTargets(1, first.next, 10);
      expect(second.rows.map(({ requestId }) => requestId)).toEqual([older.requestId]);
      expect(second.next).toBeNull();
    });
  });

  describe("of a message", () => {
    it("links come in the order of their targets, and clicks newest first, at most as many as asked for", async () => {
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
    it("counts each click in the bucket it falls into, from the first moment until before the last", async () => {
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

  it("shows nothing of one account to another", async () => {
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
    expect(await store.forgetLinks(1, idFloor(NOON * 2), 100)).toBe(0);
    expect(await store.findLink(2, code)).toMatchObject({ clicks: { person: 1 } });
  });

  describe("forgetLinks", () => {
    const forgetAll = async (before: string, limit: number): Promise<number[]> => {
      const gone: number[] = [];
      do gone.push(await store.forgetLinks(1, before, limit));
      while (gone.at(-1) !== 0);
      return gone;
    };

    it("removes what is older, whole, and leaves the rest and other accounts alone", async () => {
      const old = await plant({ targets: [TARGET, "https://b.example/"], recipients: 3 });
      const young = await plant({ createdAt: NOON + HOUR_MS });
      const others = await plant({ accountId: 2 });
      await store.recordClicks([
        ...old.codes.flat().map((code) => click(code)),
        click(old.codes[0]?.[0] ?? ""),
        click(young.codes[0]?.[0] ?? ""),
        click(others.codes[0]?.[0] ?? "", { accountId: 2 }),
      ]);
      await forgetAll(idFloor(NOON + HOUR_MS), 100);
      expect(await store.findLinks(old.codes.flat())).toEqual(old.codes.flat().map(() => null));
      expect(await store.findLinkTarget(1, old.requestId, 1)).toBeNull();
      expect(await store.findLinkTarget(1, young.requestId, 1)).toMatchObject({ clicks: { person: 1 } });
      expect(await store.findLinkTarget(2, others.requestId, 1)).toMatchObject({ clicks: { person: 1 } });
      expect([await countOf("clicks"), await countOf("links"), await countOf("link_targets")]).toEqual([2, 2, 2]);
    });

    it("removes no more of a kind at once than asked for, and comes to an end", async () => {
      for (let i = 0; i < 6; i += 1) {
        const { codes } = await plant({ recipients: 4, createdAt: NOON + i });
        await store.recordClicks(codes.flatMap(([code = ""]) => Array.from({ length: i }, () => click(code))));
      }
      const gone = await forgetAll(newId(NOON + HOUR_MS), 5);
      expect(Math.max(...gone)).toBeLessThanOrEqual(15);
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
