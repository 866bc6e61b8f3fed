import { DatabaseSync } from "node:sqlite";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createLog } from "../src/lib/log.ts";
import { newId } from "../src/lib/ids.ts";
import { GRAINS, latencyClass, LATENCY_BOUNDS_MS, percentile, type Figure } from "../src/model/figure.ts";
import type { FigureWriting } from "../src/store/figure-store.ts";
import { migrate } from "../src/store/sqlite/migrate.ts";
import { StorageUnavailable } from "../src/store/store.ts";
import { Figures } from "../src/work/figures.ts";
import { acceptance, NOON } from "./support/acceptances.ts";
import { ENGINES, openStore } from "./support/engines.ts";
import { eventually } from "./support/eventually.ts";
import { openHouse, type ErrorBody, type House } from "./support/house.ts";
import { MovedClock } from "./support/moved-clock.ts";
import { openSink, type Sink } from "./support/sink.ts";

interface Compared {
  count: number;
  before: number;
  change: number | null;
}

interface Latency {
  p50: number | null;
  p95: number | null;
  p99: number | null;
  buckets: { upToMs: number | null; count: number }[];
}

interface Stats {
  from: number;
  to: number;
  step: string;
  comparable: boolean;
  totals: Record<"accepted" | "sent" | "delivered" | "failed" | "read", Compared>;
  series: { at: number; channel: string; accepted: number; delivered: number }[];
  funnel: { channel: string | null; accepted: number; sent: number; delivered: number; read: number }[];
  failures: { code: string | null; description: string | null; count: number }[];
  latency: { sent: Latency; delivered: Latency };
  otp: { sent: number; verified: number; refused: number; conversion: number | null };
  callbacks: { delivered: number; failedAttempts: number; success: number | null };
}

describe("times by class", () => {
  test("a time lies in the first class whose bound it does not pass", () => {
    expect([0, 5, 6, 10].map(latencyClass)).toEqual([0, 0, 1, 1]);
    expect(latencyClass(Number.MAX_SAFE_INTEGER)).toBe(LATENCY_BOUNDS_MS.length);
  });

  test("a percentile lies within the class that holds it", () => {
    const counts = LATENCY_BOUNDS_MS.map(() => 0);
    counts[latencyClass(40)] = 90;
    counts[latencyClass(900)] = 10;
    expect(percentile(counts, 0.5)).toBeGreaterThan(35);
    expect(percentile(counts, 0.5)).toBeLessThanOrEqual(50);
    expect(percentile(counts, 0.95)).toBe(875);
    expect(percentile([], 0.5)).toBeNull();
    expect(percentile([...LATENCY_BOUNDS_MS.map(() => 0), 4], 0.99)).toBe(LATENCY_BOUNDS_MS.at(-1));
  });
});

describe("counting on a node", () => {
  let clock: MovedClock;
  let written: (readonly Figure[])[];
  let writings: FigureWriting[];
  let away: boolean;
  let figures: Figures;
  beforeEach(() => {
    clock = new MovedClock(NOON);
    written = [];
    writings = [];
    away = false;
    const addFigures = async (batch: readonly Figure[], writing: FigureWriting): Promise<void> => {
      writings.push(writing);
      if (away) throw new StorageUnavailable("away");
      written.push(batch);
    };
    figures = new Figures({ store: { addFigures }, clock, log: createLog("silent") });
  });

  const counts = () => written.flat().map(({ what, code, count }) => [what, code, count]);
  const sms = { channel: "sms", routeClass: "TRANS", recipient: "33612345678" } as const;

  test("a request counts its recipients, and those that fail at the door by their reason", async () => {
    const item = acceptance({ to: ["33612345678", "33612345679"] });
    const [one, two] = item.recipients;
    figures.onAccepted({ ...item, recipients: one && two ? [one, { ...two, failure: "NO_ROUTE" }] : [] });
    await figures.flush();
    await figures.flush();
    expect(written).toHaveLength(1);
    expect(counts()).toEqual([
      ["accepted", "", 2],
      ["rejected", "NO_ROUTE", 1],
    ]);
  });

  test("a message that a carrier takes and delivers counts with the time from its acceptance", async () => {
    const ref = { accountId: 1, requestId: newId(NOON - 60), n: 1, owner: 0, at: NOON };
    figures.onMoved({ ...ref, to: "submitting" }, { ...sms, taken: false });
    figures.onMoved({ ...ref, to: "submitted" }, { ...sms, taken: true });
    figures.onMoved({ ...ref, to: "delivered", errorCode: "000" }, { ...sms, taken: false });
    await figures.flush();
    const after60 = String(latencyClass(60));
    expect(counts()).toEqual([
      ["submitted", "", 1],
      ["until submitted", after60, 1],
      ["delivered", "", 1],
      ["until delivered", after60, 1],
    ]);
  });

  test("a code that a carrier made up is cut down to what can be kept and read", async () => {
    const ref = { accountId: 1, requestId: newId(NOON), n: 1, owner: 0, at: NOON };
    figures.onMoved({ ...ref, to: "undelivered", errorCode: `a\u0000b${"c".repeat(99)}` }, { ...sms, taken: false });
    await figures.flush();
    expect(written[0]?.[0]?.code).toBe(`a?b${"c".repeat(61)}`);
  });

  test("what was not answered is written again as it was, under its number, before what is counted next", async () => {
    figures.onTold(1, "delivered");
    away = true;
    await figures.flush();
    figures.onTold(1, "delivered");
    figures.onTold(1, "delivered");
    await figures.flush();
    expect(written).toEqual([]);
    away = false;
    await figures.flush();
    expect(written.map((batch) => batch.map(({ what, count }) => [what, count]))).toEqual([
      [["callback delivered", 1]],
      [["callback delivered", 2]],
    ]);
    expect(writings.map(({ sequence }) => sequence)).toEqual([1, 1, 1, 2]);
    expect(new Set(writings.map(({ writer }) => writer)).size).toBe(1);
  });

  test("a carrier that makes up a code for every message fills no store: of each day a hundred are told apart", async () => {
    const fail = (errorCode: string, accountId = 1): void =>
      figures.onMoved(
        { accountId, requestId: newId(NOON), n: 1, owner: 0, at: NOON, to: "undelivered", errorCode },
        { ...sms, taken: false },
      );
    for (let place = 0; place < 150; place += 1) fail(`E${place}`);
    fail("E7");
    fail("E149", 2);
    await figures.flush();
    const codes = new Map(counts().map(([, code, count]) => [code, count]));
    expect(codes.size).toBe(102);
    expect([codes.get("E7"), codes.get("other"), codes.get("E149")]).toEqual([2, 50, 1]);
    clock.advance(GRAINS.day);
    written = [];
    fail("E149");
    await figures.flush();
    expect(counts()).toEqual([["undelivered", "E149", 1]]);
  });
});

describe.each(ENGINES)("statistics on %s", (engine) => {
  let house: House;
  let sink: Sink;
  beforeAll(async () => {
    sink = await openSink();
    house = await openHouse(engine);
    await house.ask("POST", "/api/dlr-configs", { name: "reports", url: sink.url });
    const { body } = await house.send({ to: ["15550100100", "15550100101", "not a number"] });
    await house.settled(body.data[0]?.messageId ?? "");
    await house.settled(body.data[1]?.messageId ?? "");
    const code = await house.ask<{ data: string }>("POST", "/v1/verify", { configId: "signup", to: "15550100102" });
    await house.settled(`${code.body.data}:1`);
    const latest = await house.ask<{ otp: string }>("GET", "/api/simulator/otp/latest?to=15550100102");
    await house.ask("POST", "/v1/verify/validate", { verifyId: code.body.data, otp: "wrong" });
    await house.ask("POST", "/v1/verify/validate", { verifyId: code.body.data, otp: latest.body.otp });
  });
  afterAll(async () => {
    await house?.close();
    await sink?.close();
  });

  const stats = async (query = ""): Promise<Stats> => (await house.ask<Stats>("GET", `/api/stats${query}`)).body;

  test("what moved is there a second later, with times, reasons, codes and callbacks", async () => {
    const now = await eventually(
      () => stats(),
      ({ totals, callbacks, otp, series }) =>
        totals.delivered.count === 3 &&
        callbacks.delivered === 4 &&
        otp.verified === 1 &&
        series.reduce((sum, { delivered }) => sum + delivered, 0) === 3,
    );
    expect(now.totals.accepted).toEqual({ count: 4, before: 0, change: null });
    expect(now.totals.sent.count).toBe(3);
    expect(now.totals.failed.count).toBe(1);
    expect([now.step, now.comparable]).toEqual(["10m", true]);
    expect(now.series.reduce((sum, { delivered }) => sum + delivered, 0)).toBe(3);
    expect(now.funnel).toContainEqual({ channel: null, accepted: 4, sent: 3, delivered: 3, read: 0 });
    expect(now.failures).toMatchObject([{ code: "INVALID_RECIPIENT", count: 1 }]);
    expect(now.failures[0]?.description).toContain("phone number");
    for (const { buckets, p50, p99 } of [now.latency.sent, now.latency.delivered]) {
      expect(buckets.reduce((sum, { count }) => sum + count, 0)).toBe(3);
      expect(p99 ?? 0).toBeGreaterThanOrEqual(p50 ?? Infinity);
    }
    expect(now.otp).toMatchObject({ sent: 1, verified: 1, refused: 1, conversion: 1 });
    expect(now.callbacks.success).toBe(1);
  });

  test("a span is compared with the one before it", async () => {
    const hourAgo = Date.now() - 3_600_000;
    const later = await stats(`?from=${Date.now() + 600_000}&to=${Date.now() + 3_600_000}&step=hour`);
    expect(later.totals.accepted.count + later.totals.accepted.before).toBeGreaterThan(0);
    expect((await stats(`?to=${hourAgo - 3_600_000}`)).totals.accepted.count).toBe(0);
    const year = await stats(`?from=${Date.now() - 300 * GRAINS.day}`);
    expect(year).toMatchObject({ step: "day", comparable: false, totals: { accepted: { count: 4, change: null } } });
  });

  test("what is no span is refused with the field and what it should be", async () => {
    for (const [query, parameter] of [
      ["?from=5&to=5", "from"],
      ["?step=week", "step"],
      ["?from=0&step=10m", "from"],
      ["?to=tomorrow", "to"],
    ]) {
      const { status, body } = await house.ask<{ error: ErrorBody }>("GET", `/api/stats${query}`);
      expect([query, status, body.error.parameter]).toEqual([query, 400, parameter]);
    }
  });
});

describe.each(ENGINES)("ninety days of figures on %s", (engine) => {
  let opened: Awaited<ReturnType<typeof openStore>>;
  beforeAll(async () => {
    opened = await openStore(engine);
    await fillDays(90);
  }, 120_000);
  afterAll(() => opened?.discard());

  /** Ten million messages, as the figures of ninety days that they leave behind. */
  async function fillDays(days: number): Promise<void> {
    const stretches = (days * GRAINS.day) / GRAINS["10m"];
    const each = Math.ceil(10_000_000 / stretches / 3);
    for (let day = 0; day < days; day += 1) {
      const batch = Array.from({ length: 144 }, (_, place) =>
        (["sms", "rcs", "chatapp"] as const).flatMap((channel): Figure[] =>
          (["accepted", "submitted", "delivered"] as const).map((what) => ({
            accountId: 1,
            at: NOON - day * GRAINS.day - place * GRAINS["10m"],
            channel,
            routeClass: "TRANS",
            what,
            code: "",
            count: each,
          })),
        ),
      );
      await opened.store.addFigures(batch.flat(), { writer: "tests", sequence: day + 1, at: NOON });
    }
  }

  test("are answered from as many rows as there are stretches, not messages", async () => {
    const from = NOON - 89 * GRAINS.day;
    const day = { grain: "day", from: from - (from % GRAINS.day), to: NOON + GRAINS.day } as const;
    const sums = await opened.store.sumFigures(1, day);
    expect(sums.find(({ what, channel }) => what === "accepted" && channel === "sms")?.count).toBeGreaterThan(
      3_000_000,
    );
    const [read] = (await opened.execute(
      `select count(*) as n from figures where account_id = 1 and grain = ${GRAINS.day} and at >= ${day.from}`,
    )) as { n: number }[];
    expect(Number(read?.n)).toBeLessThanOrEqual(91 * 9);
    const points = await opened.store.listFigures(1, day, ["accepted", "submitted", "delivered"]);
    expect(points).toHaveLength(Number(read?.n));
  });
});

describe("figures on sqlite", () => {
  let sqlite: DatabaseSync;
  beforeEach(() => {
    sqlite = new DatabaseSync(":memory:");
    migrate(sqlite);
  });
  afterEach(() => sqlite.close());

  test("an answer walks the stretch of the key that its span is, and nothing else", () => {
    const where = "where account_id = 1 and grain = 2 and at >= 3 and at < 4";
    for (const sql of [
      `select what, channel, code, sum(count) from figures ${where} group by what, channel, code`,
      `select at, what, channel, sum(count) from figures ${where} and what in (select value from json_each('["read"]')) group by at, what, channel`,
    ]) {
      const plan = sqlite.prepare(`explain query plan ${sql}`).all();
      expect(String(plan[0]?.detail)).toBe(
        "SEARCH figures USING PRIMARY KEY (account_id=? AND grain=? AND at>? AND at<?)",
      );
    }
  });
});
