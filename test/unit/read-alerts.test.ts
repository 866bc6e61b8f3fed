import { describe, expect, test } from "vitest";
import { readAlerts, type Reading, type ServiceFacts } from "../../src/alerts/read-alerts.ts";
import { alertRulesOf } from "../../src/alerts/rules.ts";
import { DEFAULT_SETTINGS } from "../../src/model/account.ts";
import { ALERT_KINDS, type AlertKind, type AlertRule, type AlertRuleContent } from "../../src/model/alert.ts";
import { AccountCatalog } from "../../src/records/catalog.ts";
import type { StatsTotal } from "../../src/store/stats.ts";
import { catalogRecord } from "../support/catalog-record.ts";

const NOW = Date.UTC(2026, 0, 1, 12);
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

const SERVICE: ServiceFacts = { now: NOW, carriers: new Map(), oldestWaiting: {}, certificateExpiresAt: null };

interface Given {
  service?: Partial<ServiceFacts>;
  totals?: readonly StatsTotal[];
  balance?: number;
  failing?: ReadonlyMap<string, number>;
  catalog?: AccountCatalog;
}

async function read(alert: AlertKind, rule: Partial<AlertRule>, given: Given): Promise<Reading[]> {
  const catalog = given.catalog ?? new AccountCatalog();
  const usual = alertRulesOf(catalog, true).find((each) => each.alert === alert);
  if (!usual) throw new Error(`no rule of ${alert}`);
  const account = {
    id: 1,
    name: "shop",
    suspended: false,
    settings: { ...DEFAULT_SETTINGS, credits: "metered" as const },
  };
  const store = {
    sumStats: async () => given.totals ?? [],
    findBalance: async () => ({ balance: given.balance ?? 0, held: 0 }),
    listFailingEndpoints: async () => given.failing ?? new Map<string, number>(),
  };
  return readAlerts({ store, catalog, account, service: { ...SERVICE, ...given.service } }, { ...usual, ...rule });
}

const judgementOf = async (...given: Parameters<typeof read>): Promise<string> =>
  (await read(...given))[0]?.judgement ?? "none";

const content = (fields: Partial<AlertRuleContent>): AlertRuleContent => ({
  alert: "queue_age",
  threshold: null,
  windowMinutes: 60,
  minimum: 100,
  enabled: true,
  ...fields,
});

describe("the rules of an account", () => {
  test("every alert has a usual rule in the first account, and those of the service in no other", () => {
    const catalog = new AccountCatalog();
    expect(alertRulesOf(catalog, true).map(({ alert }) => alert)).toEqual(ALERT_KINDS);
    const others = new Set(alertRulesOf(catalog, false).map(({ alert }) => alert));
    expect(ALERT_KINDS.filter((alert) => !others.has(alert))).toEqual(["queue_age", "certificate_expiry"]);
  });

  test("a rule of the account replaces the usual rule of its alert, with the usual threshold where it has none", () => {
    const catalog = new AccountCatalog();
    catalog.put(catalogRecord("alertRule", "slow", content({ threshold: 30 })));
    catalog.put(catalogRecord("alertRule", "slower", content({})));
    const rules = alertRulesOf(catalog, true).filter(({ alert }) => alert === "queue_age");
    expect(rules.map(({ name, threshold, isUsual }) => [name, threshold, isUsual])).toEqual([
      ["slow", 30, false],
      ["slower", 120, false],
    ]);
  });
});

describe("a carrier", () => {
  const catalog = new AccountCatalog();
  const carrier = { adapter: "simulator", messagesPerSecond: null, chaos: null } as const;
  catalog.put(catalogRecord("carrier", "north", carrier));
  const seen = (lastUpAgo: number, upSinceAgo: number | null, seenAgo = 0): Given => ({
    catalog,
    service: {
      carriers: new Map([
        [
          "1/north",
          {
            lastUpAt: NOW - lastUpAgo,
            upSince: upSinceAgo === null ? null : NOW - upSinceAgo,
            seenAt: NOW - seenAgo,
          },
        ],
      ]),
    },
  });
  const after = (...given: Parameters<typeof seen>) => judgementOf("carrier_down", { threshold: 2 }, seen(...given));

  test("is bad once it is down for the minutes of its rule", async () => {
    expect(await after(2 * MINUTE_MS - 1, null)).toBe("between");
    expect(await after(2 * MINUTE_MS, null)).toBe("bad");
  });

  test("is good only after it has been up for a minute", async () => {
    expect(await after(1000, MINUTE_MS - 1)).toBe("between");
    expect(await after(1000, MINUTE_MS)).toBe("good");
  });

  test("is not judged while no node looks at it", async () => {
    expect(await after(10 * MINUTE_MS, null, MINUTE_MS)).toBe("between");
  });

  test("that no node knows has no reading", async () => {
    expect(await read("carrier_down", {}, { catalog })).toEqual([]);
  });
});

describe("a rate", () => {
  const totals = (delivered: number, failed: number): StatsTotal[] => [
    { what: "delivered", channel: "sms", code: "", count: delivered },
    { what: "undelivered", channel: "sms", code: "001", count: failed },
    { what: "cancelled", channel: "sms", code: "", count: 1000 },
  ];
  const rate = (delivered: number, failed: number) =>
    judgementOf("delivery_rate", { threshold: 70, minimum: 100 }, { totals: totals(delivered, failed) });

  test("is bad below its threshold and good two points above, without cancelled messages", async () => {
    expect(await rate(69, 31)).toBe("bad");
    expect(await rate(70, 30)).toBe("between");
    expect(await rate(71, 29)).toBe("between");
    expect(await rate(72, 28)).toBe("good");
  });

  test("is not judged with fewer messages than its minimum, and has no reading below the half", async () => {
    expect(await rate(0, 99)).toBe("between");
    expect(await rate(0, 49)).toBe("none");
  });

  test("of one-time passwords counts sent and used codes", async () => {
    const codes = (sent: number, used: number): StatsTotal[] => [
      { what: "otp sent", channel: "sms", code: "", count: sent },
      { what: "otp verified", channel: "", code: "", count: used },
    ];
    const [low] = await read("otp_conversion", { threshold: 30 }, { totals: codes(200, 58) });
    expect(low).toMatchObject({ value: 29, judgement: "bad" });
    expect(await judgementOf("otp_conversion", { threshold: 30 }, { totals: codes(200, 64) })).toBe("good");
  });
});

test("credits are bad below their threshold, and good a tenth above", async () => {
  const credits = (balance: number) => judgementOf("credits_low", { threshold: 1000 }, { balance });
  expect([await credits(999), await credits(1000), await credits(1100)]).toEqual(["bad", "between", "good"]);
});

test("a queue is bad from its age on, and good below the half; promotions may wait", async () => {
  const queue = (type: "OTP" | "PROMO", seconds: number) =>
    judgementOf("queue_age", { threshold: 60 }, { service: { oldestWaiting: { [type]: NOW - seconds * 1000 } } });
  expect([await queue("OTP", 60), await queue("OTP", 59), await queue("OTP", 29)]).toEqual(["bad", "between", "good"]);
  expect(await queue("PROMO", 6000)).toBe("none");
});

test("a certificate is bad when fewer days are left than its rule has", async () => {
  const expiry = (days: number) =>
    judgementOf("certificate_expiry", { threshold: 14 }, { service: { certificateExpiresAt: NOW + days * DAY_MS } });
  expect([await expiry(13), await expiry(14), await expiry(15)]).toEqual(["bad", "between", "good"]);
});

describe("an endpoint", () => {
  const webhook = {
    channel: "sms",
    method: "POST",
    url: "https://shop.example/texts",
    events: ["user_message"],
    secrets: [],
  } as const;

  test("is bad after it was disabled automatically, and not when a person switched it off", async () => {
    const catalog = new AccountCatalog();
    const add = (name: string, fields: { enabled: boolean; disabledReason: string | null }): void =>
      catalog.put(catalogRecord("webhook", name, { ...webhook, ...fields }));
    add("on", { enabled: true, disabledReason: null });
    add("off", { enabled: false, disabledReason: null });
    add("broken", { enabled: false, disabledReason: "410 Gone" });
    const found = await read("endpoint_disabled", {}, { catalog });
    expect(found.map(({ subjectName, judgement }) => [subjectName, judgement])).toEqual([["broken", "bad"]]);
  });

  test("is bad after it has failed for the minutes of its rule", async () => {
    const catalog = new AccountCatalog();
    const record = catalogRecord("webhook", "texts", { ...webhook, enabled: true, disabledReason: null });
    catalog.put(record);
    const failing = (ms: number) =>
      judgementOf("endpoint_failing", { threshold: 15 }, { catalog, failing: new Map([[record.id, NOW - ms]]) });
    expect([await failing(15 * MINUTE_MS), await failing(14 * MINUTE_MS)]).toEqual(["bad", "between"]);
    expect(await read("endpoint_failing", {}, { catalog })).toEqual([]);
  });
});
