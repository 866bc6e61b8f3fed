import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { countryAlerts, watchedTime, type CountryHour } from "../src/model/country-alert.ts";
import { DEFAULT_SETTINGS, type Account } from "../src/model/account.ts";
import { DEFAULT_GUARD } from "../src/model/pumping.ts";
import { HOUR_MS, MINUTE_MS } from "../src/model/verification.ts";
import type { Log } from "../src/lib/log.ts";
import { createMeters } from "../src/work/meters.ts";
import { watchCountries } from "../src/verify/watch-countries.ts";
import { NOON } from "./support/acceptances.ts";
import { codeAcceptance, DIGEST } from "./support/codes.ts";
import { ENGINES } from "./support/engines.ts";
import { MovedClock } from "./support/moved-clock.ts";
import { openMovedHouse, type MovedHouse } from "./support/moved-house.ts";

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

describe("a country", () => {
  test("with too few codes to tell is not worth a word", () => {
    expect(alerts(hourOf(1, 49, 0))).toEqual([]);
  });

  test("in which fewer than 20 % of codes are used is, also when nothing is known of it", () => {
    expect(alerts(hourOf(2, 50, 9), hourOf(3, 500, 300, "LU"))).toEqual([
      { country: "UZ", sent: 50, verified: 9, conversion: 18, usual: null, since: NOON - 2 * HOUR_MS },
    ]);
    expect(alerts(hourOf(2, 50, 10))).toEqual([]);
  });

  test("that falls well below its own last week is, with the hour in which it began", () => {
    const calm = Array.from({ length: 18 }, (_, index) => hourOf(6 + index, 10, 6));
    const bad = Array.from({ length: 5 }, (_, index) => hourOf(1 + index, 60, 3));
    expect(alerts(...weekOf(10, 6), ...calm, ...bad)).toEqual([
      { country: "UZ", sent: 480, verified: 123, conversion: 26, usual: 60, since: NOON - 5 * HOUR_MS },
    ]);
  });

  test("that is always like that is not, as long as enough are used", () => {
    expect(alerts(...weekOf(10, 3), hourOf(3, 100, 25))).toEqual([]);
  });

  test("is not judged by codes that may yet be used", () => {
    expect(NOON - watchedTime(NOON).until).toBe(5 * MINUTE_MS);
  });
});

describe("watching countries", () => {
  test("says of each once an hour what is wrong, and shows it for as long as it is", async () => {
    const clock = new MovedClock(NOON);
    const account: Account = { id: 7, name: "Shop", suspended: false, settings: DEFAULT_SETTINGS };
    let hours = [hourOf(1, 60, 3), hourOf(1, 90, 60, "LU")];
    const said: object[] = [];
    const meters = createMeters();
    const shown = async (): Promise<string[]> =>
      (await meters.registry.metrics())
        .split("\n")
        .filter((line) => line.startsWith("heliograph_verify_country_alerts{"));
    const watch = watchCountries({
      store: { listAccounts: async () => [account], countCountryHours: async () => hours },
      clock,
      log: { warn: (fields: object) => said.push(fields) } as unknown as Log,
      meters,
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
  let house: MovedHouse;
  beforeAll(async () => {
    house = await openMovedHouse(engine);
  });
  afterAll(() => house.close());

  test("sees countries in which few codes are used, and what the limits count", async () => {
    const sentAt = house.clock.now() - HOUR_MS;
    const requests = Array.from({ length: 60 }, (_, index) =>
      codeAcceptance(
        { to: [`9989${String(index * 10_007).padStart(8, "0")}`], createdAt: sentAt },
        { country: "UZ", guard: DEFAULT_GUARD },
      ),
    );
    await house.app.store.accept(requests);
    const used = requests.slice(0, 3).map(({ message: { requestId: id } }) => ({ accountId: 1, id }));
    await house.app.store.checkCodes(
      used.map((each) => ({ ...each, mode: "live" as const, digest: DIGEST, at: sentAt + 1000 })),
    );
    const look = async () => (await house.ask<{ alerts: object[]; usage: object }>("GET", "/api/verify-blocks")).body;
    expect(await look()).toMatchObject({
      alerts: [{ country: "UZ", sent: 60, verified: 3, conversion: 5, usual: null, since: sentAt }],
      usage: { today: 60, countries: [{ country: "UZ", owed: 45 }] },
    });
    await house.travel(6 * MINUTE_MS);
    const metrics = await (await fetch(`${house.url}/metrics`)).text();
    expect(metrics).toContain('heliograph_verify_country_alerts{country="UZ"} 1');
  });
});
