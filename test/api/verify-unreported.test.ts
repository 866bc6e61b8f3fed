import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { DEFAULT_GUARD } from "../../src/model/pumping.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../src/model/verification.ts";
import { ENGINES } from "../support/engines.ts";
import { IDENTITY_CALLS, identityCall, type Hook } from "../support/identity-calls.ts";
import { startMovedClockServer, type MovedClockServer } from "../support/moved-clock-server.ts";

let lastPrefix = 1_556_000;
/** Numbers in a prefix of their own. */
const freshPrefix = (): ((n: number) => string) => {
  const prefix = (lastPrefix += 1);
  return (n) => `${prefix}${String(n).padStart(4, "0")}`;
};

describe.each(ENGINES)("codes that no product reports on, on %s", (engine) => {
  let server: MovedClockServer;
  let hook: Hook;
  beforeAll(async () => {
    server = await startMovedClockServer(engine);
    await server.request("PATCH", "/api/account", { limits: "everywhere" });
    hook = await createHook("default");
  });
  afterAll(() => server.close());

  const createHook = async (configId: string): Promise<Hook> =>
    (await server.request<Hook>("POST", "/api/identity-hooks", { product: "auth0", configId })).body;

  let lastCode = 100_000;
  async function deliver(number: string, to = hook): Promise<number> {
    const payload = IDENTITY_CALLS.auth0.payload(number, String((lastCode += 1)));
    const { headers, body } = identityCall("auth0", to, payload, server.clock.now());
    const response = await fetch(server.url + new URL(to.url).pathname, { method: "POST", headers, body });
    await response.text();
    return response.status;
  }

  async function ledgerOf(number: string): Promise<{ owed: number; verified: number }> {
    const [row] = await server.rows<{ owed: number; verified: number }>(
      `select owed, verified from verify_prefixes where prefix = '${number.slice(0, -4)}'`,
    );
    return row ?? { owed: 0, verified: 0 };
  }
  const knownSince = async (number: string): Promise<number> =>
    Number(
      (await server.rows<{ at: number }>(`select verified_at as at from verify_numbers where number = '${number}'`))[0]
        ?.at,
    );
  const countryOwed = async (): Promise<number> => {
    const { body } = await server.request<{ usage: { countries: { owed: number }[] } }>("GET", "/api/verify-blocks");
    return body.usage.countries[0]?.owed ?? 0;
  };

  /** A job that was due within a step of the clock runs in the next one. */
  const wait = async (ms: number): Promise<void> => {
    await server.travel(ms);
    await server.travel(5000);
  };
  const setDelivered = async (deliveredPercent: number): Promise<void> => {
    const { body } = await server.request<object>("GET", "/api/simulator/chaos");
    const { status } = await server.request("PUT", "/api/simulator/chaos", { ...body, deliveredPercent });
    expect(status).toBe(200);
  };

  test("a delivered code pays for itself alone, and exempts neither its number nor its prefix", async () => {
    const number = freshPrefix()(1);
    const before = await countryOwed();
    expect(await deliver(number)).toBe(200);
    expect(await ledgerOf(number)).toEqual({ owed: 1, verified: 0 });
    expect(await countryOwed()).toBe(before + 1);
    await server.travel(2 * MINUTE_MS);
    expect(await ledgerOf(number)).toEqual({ owed: 1, verified: 0 });
    await wait(2 * MINUTE_MS);
    expect(await ledgerOf(number)).toEqual({ owed: 0, verified: 0 });
    expect(await knownSince(number)).toBe(0);
    expect(await countryOwed()).toBe(before);
    await server.travel(10 * MINUTE_MS);
    expect(await ledgerOf(number)).toEqual({ owed: 0, verified: 0 });
  });

  test("a code that another one followed pays nothing", async () => {
    const number = freshPrefix()(1);
    await deliver(number);
    await server.travel(MINUTE_MS);
    expect(await deliver(number)).toBe(200);
    await server.travel(10 * MINUTE_MS);
    expect(await ledgerOf(number)).toEqual({ owed: 1, verified: 0 });
  });

  test("a code that did not arrive pays nothing", async () => {
    const at = freshPrefix();
    await setDelivered(0);
    const statuses = [await deliver(at(1)), await deliver(at(2))];
    await server.travel(10 * MINUTE_MS);
    await setDelivered(100);
    expect(statuses).toEqual([200, 200]);
    expect((await ledgerOf(at(1))).owed).toBe(2);
  });

  test("a report that comes after all pays for the other codes", async () => {
    const number = freshPrefix()(1);
    await deliver(number);
    const [row] = await server.rows<{ id: string }>(`select id from verifications where number = '${number}'`);
    await server.travel(4 * MINUTE_MS);
    expect((await server.request("POST", `/v1/verify/${row?.id}/outcome`, { outcome: "used" })).status).toBe(200);
    expect(await ledgerOf(number)).toEqual({ owed: -4, verified: 1 });
  });

  test("a code sent by the API in mode deliver is never counted as unreported: its product can report it", async () => {
    const number = freshPrefix()(1);
    await server.request("POST", "/v1/verify", { configId: "default", to: number, code: "739204", mode: "deliver" });
    await server.travel(10 * MINUTE_MS);
    expect((await ledgerOf(number)).owed).toBe(1);
  });

  test("a code with several channels is counted as unreported only after the last channel", async () => {
    const channels = [
      { channel: "sms", from: "HELIOG", waitSeconds: 20 },
      { channel: "sms", from: "HELIOG" },
    ];
    const name = `twice-${engine}`;
    expect((await server.request("POST", "/api/verify-configs", { name, channels, lifeSeconds: 600 })).status).toBe(
      201,
    );
    const twice = await createHook(name);
    const number = freshPrefix()(1);
    expect(await deliver(number, twice)).toBe(200);
    await server.travel(MINUTE_MS);
    expect((await ledgerOf(number)).owed).toBe(1);
    await wait(3 * MINUTE_MS);
    expect((await ledgerOf(number)).owed).toBe(0);
  });

  test("of 1,000 codes for numbers of one block, as many pass as it may owe, and as many again pay for themselves", async () => {
    const at = freshPrefix();
    const atOnce = freshPrefix();
    const user = freshPrefix;
    const passed = { atOnce: 0, inEightHours: 0, onTheNextDay: 0, users: 0 };
    const passing = async (numbers: readonly string[]): Promise<number> =>
      (await Promise.all(numbers.map((number) => deliver(number)))).filter((status) => status === 200).length;
    const burst = (of: (n: number) => string, from: number, count: number): string[] =>
      Array.from({ length: count }, (_, n) => of(from + n));
    for (let n = 0; n < 1000; n += 50) passed.atOnce += await passing(burst(atOnce, n, 50));
    // 20 codes every ten minutes, which is slow enough for every code to be judged in between.
    for (let n = 0; n < 1000; n += 20) {
      passed.inEightHours += await passing(burst(at, n, 20));
      passed.users += await passing([user()(1)]);
      await server.travel(10 * MINUTE_MS);
    }
    await server.leap(DAY_MS - 8 * HOUR_MS);
    for (let n = 1000; n < 1100; n += 20) {
      passed.onTheNextDay += await passing(burst(at, n, 20));
      await server.travel(10 * MINUTE_MS);
    }
    process.stdout.write(`unreported codes that passed on ${engine}: ${JSON.stringify(passed)}\n`);
    const { prefixUnused } = DEFAULT_GUARD;
    expect(passed.atOnce).toBe(prefixUnused);
    expect(passed.inEightHours).toBe(2 * prefixUnused);
    expect(passed.users).toBe(50);
    expect(passed.onTheNextDay).toBeLessThanOrEqual(prefixUnused + 3);
  });
});
