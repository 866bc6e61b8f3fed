import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { countryAlerts, watchedTime, type CountryHour } from "../../src/model/country-alert.ts";
import { DEFAULT_SETTINGS, type Account } from "../../src/model/account.ts";
import { DEFAULT_GUARD } from "../../src/model/pumping.ts";
import { HOUR_MS, MINUTE_MS } from "../../src/model/verification.ts";
import type { Log } from "../../src/lib/log.ts";
import { createMetrics } from "../../src/metrics.ts";
import { watchCountries } from "../../src/otp/watch-countries.ts";
import { NOON } from "../support/acceptances.ts";
import { codeAcceptance, DIGEST } from "../support/codes.ts";
import { ENGINES } from "../support/engines.ts";
import { MovedClock } from "../support/moved-clock.ts";
import { startMovedClockServer, type MovedClockServer } from "../support/moved-clock-server.ts";

const HOUR = NOON / HOUR_MS;

/** An hour of so many codes, so many of them used, so many hours ago. */
const hourOf = (ago: number, sends: number, verified: number, country = "UZ"): CountryHour => ({
  country,
  hour: HOUR - ago,
  sends,
  verified,
});
/** A week of the same, a day ago. */
const weekOf = (sends: number, verified: number): CountryHour[] =>
  Array.from({ length: 7 * 24 }, (_, index) => hourOf(25 + index, sends, verified));
const alerts = (...hours: CountryHour[]) => countryAlerts(hours, DEFAULT_GUARD.conversionPercent, NOON);

describe("the conversion alert of a country", () => {
  test("a country with too few codes raises no alert", () => {
    expect(alerts(hourOf(1, 49, 0))).toEqual([]);
  });

  test("a country in which fewer than 20 % of codes are used raises an alert, even without a history", () => {
    expect(alerts(hourOf(2, 50, 9), hourOf(3, 500, 300, "LU"))).toEqual([
      { country: "UZ", sent: 50, verified: 9, conversion: 18, usual: null, since: NOON - 2 * HOUR_MS },
    ]);
    expect(alerts(hourOf(2, 50, 10))).toEqual([]);
  });

  test("a country well below its own last week raises an alert, with its first hour", () => {
    const calm = Array.from({ length: 18 }, (_, index) => hourOf(6 + index, 10, 6));
    const bad = Array.from({ length: 5 }, (_, index) => hourOf(1 + index, 60, 3));
    expect(alerts(...weekOf(10, 6), ...calm, ...bad)).toEqual([
      { country: "UZ", sent: 480, verified: 123, conversion: 26, usual: 60, since: NOON - 5 * HOUR_MS },
    ]);
  });

  test("a country with constantly low conversion raises no alert as long as enough codes are used", () => {
    expect(alerts(...weekOf(10, 3), hourOf(3, 100, 25))).toEqual([]);
  });

  test("codes that may yet be used do not count", () => {
    expect(NOON - watchedTime(NOON).until).toBe(5 * MINUTE_MS);
  });
});

describe("conversion alerts", () => {
  test("an alert is logged once an hour per country, and shown as long as it lasts", async () => {
    const clock = new MovedClock(NOON);
    const account: Account = { id: 7, name: "Shop", suspended: false, settings: DEFAULT_SETTINGS };
    let hours = [hourOf(1, 60, 3), hourOf(1, 90, 60, "LU")];
    const said: object[] = [];
    const metrics = createMetrics();
    const shown = async (): Promise<string[]> =>
      (await metrics.registry.metrics())
        .split("\n")
        .filter((line) => line.startsWith("heliograph_verify_country_alerts{"));
    const watch = watchCountries({
      store: { listAccounts: async () => [account], countCountryHours: async () => hours },
      clock,
      log: { warn: (fields: object) => said.push(fields) } as unknown as Log,
      metrics,
    });
    for (let look = 0; look < 12; look += 1) {
      await watch();
      clock.advance(5 * MINUTE_MS);
    }
    expect(said).toEqual([expect.objectContaining({ accountId: 7, country: "UZ", sent: 60, conversion: 5 })]);
    expect(await shown()).toEqual(['heliograph_verify_country_alerts{country="UZ"} 1']);
    await watch();
    expect(said).toHaveLength(2);
    hours = [];
    await watch();
    expect(await shown()).toEqual([]);
  });
});

describe.each(ENGINES)("an operator on %s", (engine) => {
  let server: MovedClockServer;
  beforeAll(async () => {
    server = await startMovedClockServer(engine);
  });
  afterAll(() => server.close());

  test("an operator sees countries in which few codes are used, and the counts of the limits", async () => {
    const sentAt = server.clock.now() - HOUR_MS;
    const requests = Array.from({ length: 60 }, (_, index) =>
      codeAcceptance(
        { to: [`9989${String(index * 10_007).padStart(8, "0")}`], createdAt: sentAt },
        { country: "UZ", guard: DEFAULT_GUARD },
      ),
    );
    await server.app.store.accept(requests);
    const used = requests.slice(0, 3).map(({ message: { requestId: id } }) => ({ accountId: 1, id }));
    await server.app.store.checkCodes(
      used.map((each) => ({ ...each, mode: "live" as const, digest: DIGEST, at: sentAt + 1000 })),
    );
    const look = async () =>
      (await server.request<{ alerts: object[]; usage: object }>("GET", "/api/verify-blocks")).body;
    expect(await look()).toMatchObject({
      alerts: [{ country: "UZ", sent: 60, verified: 3, conversion: 5, usual: null, since: sentAt }],
      usage: { today: 60, countries: [{ country: "UZ", owed: 45 }] },
    });
    await server.travel(6 * MINUTE_MS);
    const metrics = await (await fetch(`${server.url}/metrics`)).text();
    expect(metrics).toContain('heliograph_verify_country_alerts{country="UZ"} 1');
  });
});
