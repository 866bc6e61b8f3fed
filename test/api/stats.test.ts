import { DatabaseSync } from "node:sqlite";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { readSpan } from "../../src/http/admin/stats.ts";
import { createLog } from "../../src/lib/log.ts";
import { newId } from "../../src/lib/ids.ts";
import {
  GRAINS,
  latencyClass,
  LATENCY_BOUNDS_MS,
  percentile,
  type CodeText,
  type Dimension,
  type StatsRow,
} from "../../src/model/stats.ts";
import type { StatsBatchId } from "../../src/store/stats.ts";
import { migrate } from "../../src/store/sqlite/migrate.ts";
import { StorageUnavailable } from "../../src/store/store.ts";
import { Stats } from "../../src/stats/stats.ts";
import { acceptance, NOON } from "../support/acceptances.ts";
import { ENGINES, openStore } from "../support/engines.ts";
import { eventually } from "../support/eventually.ts";
import { startTestServer, type ErrorBody, type TestServer } from "../support/test-server.ts";
import { MovedClock } from "../support/moved-clock.ts";
import { openSink, type Sink } from "../support/sink.ts";
import { transitionTo } from "../support/transitions.ts";

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

interface StatsBody {
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

interface Breakdown {
  groups: {
    name: string | null;
    accepted: number | null;
    sent: number;
    delivered: number;
    failed: number;
    deliveryRate: number | null;
    failures: { code: string | null; description: string | null; count: number }[];
  }[];
  series: { at: number; name: string | null; sent: number }[];
}

describe("latency classes", () => {
  test("a latency belongs to the first class whose bound it does not exceed", () => {
    expect([0, 5, 6, 10].map(latencyClass)).toEqual([0, 0, 1, 1]);
    expect(latencyClass(Number.MAX_SAFE_INTEGER)).toBe(LATENCY_BOUNDS_MS.length);
  });

  test("a percentile lies within its class", () => {
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

describe("the step of a range", () => {
  test("a range that begins just within the last day has steps of a minute, though its first step begins before", () => {
    const now = NOON + 30_000;
    const from = now - GRAINS.day + 10_000;
    expect(readSpan(now, { from: String(from), to: String(from + GRAINS.hour) })).toEqual({
      grain: "minute",
      from: NOON - GRAINS.day,
      to: NOON - GRAINS.day + GRAINS.hour + GRAINS.minute,
    });
  });
});

describe("counters of a node", () => {
  let clock: MovedClock;
  let written: (readonly StatsRow[])[];
  let writings: StatsBatchId[];
  let away: boolean;
  let codeTexts: CodeText[];
  let figures: Stats;
  beforeEach(() => {
    clock = new MovedClock(NOON);
    written = [];
    codeTexts = [];
    writings = [];
    away = false;
    const addStats = async (
      batch: readonly StatsRow[],
      writing: StatsBatchId,
      texts: readonly CodeText[] = [],
    ): Promise<void> => {
      writings.push(writing);
      if (away) throw new StorageUnavailable("away");
      written.push(batch);
      codeTexts.push(...texts);
    };
    figures = new Stats({ store: { addStats }, clock, log: createLog("silent") });
  });

  /** The counts of all messages. */
  const counts = () =>
    written.flatMap((rows) =>
      rows.filter(({ group }) => !group).map(({ what, code, count }) => [what, code, count] as const),
    );
  const groupCounts = (dimension: Dimension) =>
    written.flatMap((rows) =>
      rows.flatMap(({ group, what, code, count }) =>
        group?.dimension === dimension ? [[group.name, what, code, count]] : [],
      ),
    );
  const sms = { channel: "sms", routeClass: "TRANS", recipient: "33612345678" } as const;

  test("a request counts its recipients, and refused ones by reason", async () => {
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

  test("a submitted and delivered message counts with its time since accept", async () => {
    const ref = { accountId: 1, requestId: newId(NOON - 60), n: 1, owner: 0, at: NOON };
    figures.onMoved(transitionTo({ ...ref, to: "submitting" }), { ...sms, taken: false });
    figures.onMoved(transitionTo({ ...ref, to: "submitted" }), { ...sms, taken: true });
    figures.onMoved(transitionTo({ ...ref, to: "delivered", errorCode: "000" }), { ...sms, taken: false });
    await figures.flush();
    const after60 = String(latencyClass(60));
    expect(counts()).toEqual([
      ["submitted", "", 1],
      ["until submitted", after60, 1],
      ["delivered", "", 1],
      ["until delivered", after60, 1],
    ]);
  });

  test("an error code from a carrier is cut to a storable and readable form", async () => {
    const ref = { accountId: 1, requestId: newId(NOON), n: 1, owner: 0, at: NOON };
    const errorCode = `a\u0000b${"c".repeat(99)}`;
    figures.onMoved(transitionTo({ ...ref, to: "undelivered", errorCode }), { ...sms, taken: false });
    await figures.flush();
    expect(written[0]?.[0]?.code).toBe(`a?b${"c".repeat(61)}`);
  });

  test("messages count in the country of their number, and unusable numbers as unknown", async () => {
    const item = acceptance({ to: ["33612345678", "919812345678", "33612345679", "nonsense"] });
    const [first, ...rest] = item.recipients;
    if (!first) throw new Error("no recipient");
    figures.onAccepted({ ...item, recipients: [{ ...first, failure: "NO_ROUTE" }, ...rest] });
    await figures.flush();
    expect(groupCounts("country")).toEqual([
      ["FR", "accepted", "", 2],
      ["IN", "accepted", "", 1],
      ["unknown", "accepted", "", 1],
      ["FR", "rejected", "NO_ROUTE", 1],
    ]);
    // No carrier had it.
    expect(groupCounts("carrier")).toEqual([["", "rejected", "NO_ROUTE", 1]]);
  });

  test("after a failover each carrier counts its submit, the country counts one, and the last carrier the end", async () => {
    const ref = { accountId: 1, requestId: newId(NOON), n: 1, owner: 0, at: NOON };
    figures.onMoved(transitionTo({ ...ref, to: "submitted", carrier: "1/north" }), { ...sms, taken: true });
    figures.onMoved(transitionTo({ ...ref, to: "submitted", carrier: "1/south" }), { ...sms, taken: false });
    figures.onMoved(transitionTo({ ...ref, to: "delivered", carrier: "1/south" }), { ...sms, taken: false });
    await figures.flush();
    expect(groupCounts("carrier")).toEqual([
      ["north", "submitted", "", 1],
      ["south", "submitted", "", 1],
      ["south", "delivered", "", 1],
    ]);
    expect(groupCounts("country")).toEqual([
      ["FR", "submitted", "", 1],
      ["FR", "delivered", "", 1],
    ]);
  });

  test("a submit ack that a report overtook counts once for its carrier", async () => {
    const ref = { accountId: 1, requestId: newId(NOON), n: 1, owner: 0, at: NOON, carrier: "1/north" };
    figures.onMoved(transitionTo({ ...ref, to: "enroute" }), { ...sms, taken: true });
    figures.onMoved(transitionTo({ ...ref, to: "submitted" }), { ...sms, taken: false });
    await figures.flush();
    expect(groupCounts("carrier")).toEqual([["north", "submitted", "", 1]]);
  });

  test("a carrier's text for a code is kept once a day, without digits that may be a number", async () => {
    const fail = (fields: { errorCode: string; description: string; carriedBy?: string }): void =>
      figures.onMoved(
        transitionTo({ accountId: 1, requestId: newId(NOON), n: 1, owner: 0, at: NOON, to: "undelivered", ...fields }),
        { ...sms, taken: false },
      );
    const carriedBy = "1/north";
    fail({ errorCode: "001", description: "33612345678 is absent\u0000", carriedBy });
    fail({ errorCode: "001", description: "another text", carriedBy });
    fail({ errorCode: "001", description: "of south", carriedBy: "1/south" });
    // A code of this service has a meaning of its own, and a text without a carrier is not a carrier's.
    fail({ errorCode: "NO_ROUTE", description: "no route", carriedBy });
    fail({ errorCode: "9", description: "of no carrier" });
    await figures.flush();
    expect(codeTexts.map(({ carrier, code, text }) => [carrier, code, text])).toEqual([
      ["north", "001", "… is absent?"],
      ["south", "001", "of south"],
    ]);
    clock.advance(GRAINS.day);
    fail({ errorCode: "001", description: "a new text", carriedBy });
    await figures.flush();
    expect(codeTexts.at(-1)?.text).toBe("a new text");
  });

  test("an unacknowledged write is repeated unchanged under its number before later counts", async () => {
    figures.onCallbackSettled(1, "delivered");
    away = true;
    await figures.flush();
    figures.onCallbackSettled(1, "delivered");
    figures.onCallbackSettled(1, "delivered");
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

  test("a hundred error codes of a carrier per day are counted separately, so that they do not fill the store", async () => {
    const fail = (errorCode: string, accountId = 1): void =>
      figures.onMoved(
        transitionTo({ accountId, requestId: newId(NOON), n: 1, owner: 0, at: NOON, to: "undelivered", errorCode }),
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
  let server: TestServer;
  let sink: Sink;
  beforeAll(async () => {
    sink = await openSink();
    server = await startTestServer(engine);
    await server.request("POST", "/api/dlr-configs", { name: "reports", url: sink.url });
    const { body } = await server.send({ to: ["15550100100", "15550100101", "not a number"] });
    await server.settled(body.data[0]?.messageId ?? "");
    await server.settled(body.data[1]?.messageId ?? "");
    const code = await server.request<{ data: string }>("POST", "/v1/verify", {
      configId: "signup",
      to: "15550100102",
    });
    await server.settled(`${code.body.data}:1`);
    const latest = await server.request<{ otp: string }>("GET", "/api/simulator/otp/latest?to=15550100102");
    const validate = async (otp: string): Promise<number> =>
      (await server.request("POST", "/v1/verify/validate", { verifyId: code.body.data, otp })).status;
    const statuses = [await validate("wrong"), await validate(latest.body.otp)];
    if (statuses.join() !== "400,200") throw new Error(`the codes were answered ${statuses.join()}`);
  });
  afterAll(async () => {
    await server?.close();
    await sink?.close();
  });

  const stats = async (query = ""): Promise<StatsBody> =>
    (await server.request<StatsBody>("GET", `/api/stats${query}`)).body;

  test("statistics show transitions a second later, with times, reasons, codes and callbacks", async () => {
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

  test("an account's messages are counted by carrier and by country, like the statistics of all", async () => {
    const read = async (by: Dimension): Promise<Breakdown> =>
      (await server.request<Breakdown>("GET", `/api/stats/breakdown?by=${by}`)).body;
    const of = (groups: Breakdown["groups"], name: string | null) => groups.find((group) => group.name === name);
    const carriers = await eventually(
      () => read("carrier"),
      ({ groups }) => of(groups, "simulator")?.delivered === 3,
    );
    expect(of(carriers.groups, "simulator")).toMatchObject({ accepted: null, sent: 3, failed: 0, deliveryRate: 1 });
    expect(of(carriers.groups, null)).toMatchObject({
      sent: 0,
      failed: 1,
      deliveryRate: null,
      failures: [{ code: "INVALID_RECIPIENT", count: 1 }],
    });
    expect(carriers.series.filter(({ name }) => name === "simulator")).not.toEqual([]);
    const countries = await read("country");
    expect(of(countries.groups, "US")).toMatchObject({ accepted: 3, sent: 3, delivered: 3, failed: 0 });
    expect(of(countries.groups, "unknown")).toMatchObject({ accepted: 1, sent: 0, failed: 1 });
    const all = await stats();
    for (const { groups } of [carriers, countries])
      for (const measure of ["sent", "delivered", "failed"] as const)
        expect(groups.reduce((sum, group) => sum + group[measure], 0)).toBe(all.totals[measure].count);
  });

  test("a channel without messages has no groups", async () => {
    const { body } = await server.request<Breakdown>("GET", "/api/stats/breakdown?by=country&channel=rcs");
    expect(body).toMatchObject({ groups: [], series: [] });
  });

  test("the last hour is counted by minutes, which go back one day", async () => {
    const hour = await stats(`?from=${Date.now() - GRAINS.hour}`);
    expect(hour).toMatchObject({ step: "minute", comparable: true, totals: { accepted: { count: 4 } } });
    expect(
      await stats(`?from=${Date.now() - 3 * GRAINS.day}&to=${Date.now() - 3 * GRAINS.day + GRAINS.hour}`),
    ).toMatchObject({ step: "10m" });
  });

  test("the text of a carrier's code is shown with it, for its carrier and in all", async () => {
    const to = "15550109003";
    const { body } = await server.send({ to });
    await server.settled(body.data[0]?.messageId ?? "");
    const { failures } = await eventually(
      () => stats(),
      (now) => now.failures.length === 2,
    );
    const carrierCode = failures.find(({ code }) => code !== "INVALID_RECIPIENT");
    expect(carrierCode?.description).toMatch(/[a-z]/i);
    const { body: carriers } = await server.request<Breakdown>("GET", "/api/stats/breakdown?by=carrier");
    expect(carriers.groups.find(({ name }) => name === "simulator")?.failures).toEqual([carrierCode]);
  });

  test("an invalid breakdown is refused with the field and the fix", async () => {
    for (const [query, parameter] of [
      ["", "by"],
      ["?by=operator", "by"],
      ["?by=carrier&channel=fax", "channel"],
      [
        `?by=carrier&step=minute&from=${Date.now() - 2 * GRAINS.day}&to=${Date.now() - 2 * GRAINS.day + 600_000}`,
        "step",
      ],
    ]) {
      const { status, body } = await server.request<{ error: ErrorBody }>("GET", `/api/stats/breakdown${query}`);
      expect([query, status, body.error.parameter]).toEqual([query, 400, parameter]);
    }
  });

  test("an invalid span is refused with the field and the fix", async () => {
    for (const [query, parameter] of [
      ["?from=5&to=5", "from"],
      ["?step=week", "step"],
      ["?from=0&step=10m", "from"],
      ["?to=tomorrow", "to"],
    ]) {
      const { status, body } = await server.request<{ error: ErrorBody }>("GET", `/api/stats${query}`);
      expect([query, status, body.error.parameter]).toEqual([query, 400, parameter]);
    }
  });
});

describe.each(ENGINES)("ninety days of statistics on %s", (engine) => {
  let opened: Awaited<ReturnType<typeof openStore>>;
  beforeAll(async () => {
    opened = await openStore(engine);
    await fillDays(90);
  });
  afterAll(() => opened?.discard());

  /** Ten million messages, as the figures of ninety days that they leave behind. */
  async function fillDays(days: number): Promise<void> {
    const stretches = (days * GRAINS.day) / GRAINS["10m"];
    const each = Math.ceil(10_000_000 / stretches / 3);
    for (let day = 0; day < days; day += 1) {
      const batch = Array.from({ length: 144 }, (_, place) =>
        (["sms", "rcs", "chatapp"] as const).flatMap((channel): StatsRow[] =>
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
      await opened.store.addStats(batch.flat(), { writer: "tests", sequence: day + 1, at: NOON });
    }
  }

  test("statistics are read from as many rows as spans, not messages", async () => {
    const from = NOON - 89 * GRAINS.day;
    const day = { grain: "day", from: from - (from % GRAINS.day), to: NOON + GRAINS.day } as const;
    const sums = await opened.store.sumStats(1, day);
    expect(sums.find(({ what, channel }) => what === "accepted" && channel === "sms")?.count).toBeGreaterThan(
      3_000_000,
    );
    const [read] = (await opened.execute(
      `select count(*) as n from figures where account_id = 1 and grain = ${GRAINS.day} and at >= ${day.from}`,
    )) as { n: number }[];
    expect(Number(read?.n)).toBeLessThanOrEqual(91 * 9);
    const points = await opened.store.listStats(1, day, ["accepted", "submitted", "delivered"]);
    expect(points).toHaveLength(Number(read?.n));
  });
});

describe("statistics on sqlite", () => {
  let sqlite: DatabaseSync;
  beforeEach(() => {
    sqlite = new DatabaseSync(":memory:");
    migrate(sqlite);
  });
  afterEach(() => sqlite.close());

  test("a query reads the key range of its span, and nothing else", () => {
    const where = "where account_id = 1 and grain = 2 and at >= 3 and at < 4";
    const ofGroups = "from figure_groups where account_id = 1 and dimension = 'x' and grain = 2 and at >= 3 and at < 4";
    for (const sql of [
      `select name, what, code, sum(count) ${ofGroups} group by name, what, code`,
      `select at, name, what, sum(count) ${ofGroups} and name in (select value from json_each('["a"]')) group by at, name, what`,
    ])
      expect(String(sqlite.prepare(`explain query plan ${sql}`).all()[0]?.detail)).toBe(
        "SEARCH figure_groups USING PRIMARY KEY (account_id=? AND dimension=? AND grain=? AND at>? AND at<?)",
      );
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
