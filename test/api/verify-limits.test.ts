import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startApp } from "../../src/app/start.ts";
import { readConfig } from "../../src/config.ts";
import { DEFAULT_GUARD } from "../../src/model/pumping.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../src/model/verification.ts";
import type { CheckResult } from "../../src/store/verifications.ts";
import { NOON } from "../support/acceptances.ts";
import { ANY_NUMBER, codeAcceptance } from "../support/codes.ts";
import { ENGINES, openStore, type OpenStore } from "../support/engines.ts";
import type { Answer, ErrorBody } from "../support/test-server.ts";
import { startMovedClockServer, type MovedClockServer } from "../support/moved-clock-server.ts";
import { repetitions } from "../support/repetitions.ts";

interface Otp {
  data: string | null;
  message: string;
  error: (ErrorBody & { attemptsRemaining?: number }) | null;
}

let lastNumber = 15_550_500_000;
const freshNumber = (): string => String((lastNumber += 10_000));

describe.each(ENGINES)("limits on one-time passwords on %s", (engine) => {
  let server: MovedClockServer;
  beforeAll(async () => {
    server = await startMovedClockServer(engine);
    await server.request("PATCH", "/api/account", { limits: "everywhere" });
  });
  afterAll(() => server.close());

  const generate = (to: string, headers: Record<string, string> = {}): Promise<Answer<Otp>> =>
    server.request("POST", "/v1/verify", { configId: "default", to }, headers);
  const validate = (verifyId: string | null, otp: string): Promise<Answer<Otp>> =>
    server.request("POST", "/v1/verify/validate", { verifyId, otp });
  const pass = (ms: number): void => server.clock.advance(ms);

  test("a number gets a second code only after the cooldown, and the response says when", async () => {
    const to = freshNumber();
    expect((await generate(to)).status).toBe(200);
    pass(10_000);
    const { status, body, headers } = await generate(to);
    expect([status, body.data, body.error?.code, body.error?.parameter]).toEqual([429, null, "OTP_SEND_LIMIT", "to"]);
    expect(headers.get("retry-after")).toBe("20");
    pass(20_000);
    expect((await generate(to)).status).toBe(200);
  });

  test("a refused code leaves the one before it valid", async () => {
    const to = freshNumber();
    const first = await generate(to);
    expect((await generate(to)).status).toBe(429);
    const { body } = await server.request<{ state: string }>("GET", `/v1/verify/${first.body.data}`);
    expect(body.state).toBe("pending");
  });

  test("a number gets five codes in ten minutes and ten in a day", async () => {
    const to = freshNumber();
    const send = async (): Promise<number> => {
      const { status } = await generate(to);
      pass(31_000);
      return status;
    };
    for (let sent = 0; sent < 5; sent += 1) expect(await send()).toBe(200);
    expect(await send()).toBe(429);
    pass(10 * MINUTE_MS);
    for (let sent = 0; sent < 5; sent += 1) expect(await send()).toBe(200);
    pass(10 * MINUTE_MS);
    const refused = await generate(to);
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(20 * 3600);
    pass(DAY_MS);
    expect(await send()).toBe(200);
  });

  test("a refused request is not counted, and its idempotency key is free", async () => {
    const to = freshNumber();
    await generate(to);
    const headers = { "idempotency-key": `refused-${to}` };
    expect((await generate(to, headers)).status).toBe(429);
    pass(31_000);
    const sent = await generate(to, headers);
    expect([sent.status, sent.headers.get("idempotent-replayed")]).toEqual([200, null]);
    expect((await generate(to, headers)).headers.get("idempotent-replayed")).toBe("true");
  });

  test("where limits are not enforced, the response names those exceeded", async () => {
    await server.request("PATCH", "/api/account", { limits: "real carriers" });
    const to = freshNumber();
    const first = await generate(to);
    const second = await generate(to);
    await server.request("PATCH", "/api/account", { limits: "everywhere" });
    expect(first.headers.get("heliograph-would-refuse")).toBeNull();
    expect([second.status, second.headers.get("heliograph-would-refuse")]).toEqual([200, "otp cooldown"]);
  });

  test("ten wrong codes in an hour block a number, whatever new codes are sent", async () => {
    const to = freshNumber();
    const ids: (string | null)[] = [];
    for (let code = 0; code < 3; code += 1) {
      ids.push((await generate(to)).body.data);
      pass(31_000);
    }
    let compared = 0;
    const last = ids.at(-1) ?? null;
    for (let tries = 0; tries < 5; tries += 1) compared += (await validate(last, "nonsense")).status === 400 ? 1 : 0;
    const next = (await generate(to)).body.data;
    for (let tries = 0; tries < 5; tries += 1) compared += (await validate(next, "nonsense")).status === 400 ? 1 : 0;
    expect(compared).toBe(10);
    pass(31_000);
    const fresh = (await generate(to)).body.data;
    const { status, body, headers } = await validate(fresh, "nonsense");
    expect([status, body.error?.code, body.data]).toEqual([429, "OTP_ATTEMPTS_EXHAUSTED", fresh]);
    expect(Number(headers.get("retry-after"))).toBeGreaterThan(3000);
    // Not counted, so it is as good as before.
    expect((await server.request<{ attempts: number }>("GET", `/v1/verify/${fresh}`)).body.attempts).toBe(0);
    const { body: blocked } = await validate(fresh, "nonsense");
    expect(blocked.error?.code).toBe("OTP_ATTEMPTS_EXHAUSTED");
  });

  test("a prefix without used codes is blocked and listed, and can be released", async () => {
    const prefix = "9989000";
    let sent = 0;
    for (let index = 0; index < 25; index += 1)
      sent += (await generate(`${prefix}${String(index).padStart(4, "0")}`)).status === 200 ? 1 : 0;
    expect(sent).toBe(DEFAULT_GUARD.prefixUnused);
    pass(20 * MINUTE_MS);
    const { status, headers, body } = await generate(`${prefix}9999`);
    expect([status, body.error?.code]).toEqual([429, "OTP_SEND_LIMIT"]);
    expect(Number(headers.get("retry-after"))).toBe(12 * 3600);
    const blocks = await server.request<{ data: object[] }>("GET", "/api/verify-blocks");
    expect(blocks.body.data).toEqual([
      expect.objectContaining({
        prefix,
        strikes: 1,
        sends: sent,
        verified: 0,
        until: server.clock.now() + 12 * HOUR_MS,
      }),
    ]);
    expect((await server.request("DELETE", `/api/verify-blocks/${prefix}`)).status).toBe(200);
    expect((await server.request("DELETE", `/api/verify-blocks/${prefix}`)).status).toBe(404);
    expect((await generate(`${prefix}9999`)).status).toBe(200);
  });

  test("the guard can be changed and switched off by the account", async () => {
    const number = (index: number): string => `35988877${String(index).padStart(4, "0")}`;
    await server.request("PATCH", "/api/account", { otpGuard: { ...DEFAULT_GUARD, prefixUnused: 2 } });
    const statuses = [];
    for (let index = 0; index < 3; index += 1) statuses.push((await generate(number(index))).status);
    await server.request("PATCH", "/api/account", { otpGuard: null });
    for (let index = 3; index < 30; index += 1) statuses.push((await generate(number(index))).status);
    await server.request("PATCH", "/api/account", { otpGuard: DEFAULT_GUARD });
    expect(statuses).toEqual([200, 200, 429, ...Array.from({ length: 27 }, () => 200)]);
  });
});

describe.each(ENGINES)("attacks on one-time passwords on %s", (engine) => {
  let opened: OpenStore;
  beforeAll(async () => {
    opened = await openStore(engine);
  });
  afterAll(() => opened.discard());

  test("guessing for two days, with a new code whenever one is used up, checks 30 codes a day", async () => {
    const number = "15550600000";
    const { store } = opened;
    let compared = 0;
    const STEP_MS = repetitions(20, 10) * MINUTE_MS;
    for (let at = NOON; at < NOON + 2 * DAY_MS; at += STEP_MS) {
      const code = codeAcceptance({ to: [number], createdAt: at }, { bound: true, caps: ANY_NUMBER });
      await store.accept([code]);
      const checks = Array.from({ length: 10 }, (_, index) => ({
        accountId: 1,
        mode: "live" as const,
        id: code.message.requestId,
        digest: `guess ${at} ${index}`,
        at,
      }));
      const results = (await store.checkCodes(checks)) as CheckResult[];
      const now = results.filter(({ kind }) => kind === "incorrect").length;
      expect(now).toBeLessThanOrEqual(5);
      compared += now;
    }
    expect(compared).toBe(60);
  });
});

describe.each(ENGINES)("a restart on %s", (engine) => {
  test("a restart keeps codes and their failed checks", async () => {
    const server = await startMovedClockServer(engine);
    await server.request("PATCH", "/api/account", { limits: "everywhere" });
    const to = freshNumber();
    const ask = async (url: string, path: string, body: object): Promise<Otp> => {
      const headers = { apikey: server.key, "content-type": "application/json" };
      const response = await fetch(url + path, { method: "POST", headers, body: JSON.stringify(body) });
      return (await response.json()) as Otp;
    };
    const first = (await server.request<Otp>("POST", "/v1/verify", { configId: "default", to })).body.data;
    for (let tries = 0; tries < 5; tries += 1)
      await server.request("POST", "/v1/verify/validate", { verifyId: first, otp: "nonsense" });
    server.clock.advance(31_000);
    const second = (await server.request<Otp>("POST", "/v1/verify", { configId: "default", to })).body.data;
    for (let tries = 0; tries < 4; tries += 1)
      await server.request("POST", "/v1/verify/validate", { verifyId: second, otp: "nonsense" });
    await server.app.stop();

    const again = await startApp(readConfig(server.env), { clock: server.clock });
    const tried = await ask(again.url, "/v1/verify/validate", { verifyId: second, otp: "nonsense" });
    expect([tried.error?.code, tried.error?.attemptsRemaining]).toEqual(["OTP_INCORRECT", 0]);
    server.clock.advance(31_000);
    const third = (await ask(again.url, "/v1/verify", { configId: "default", to })).data;
    const blocked = await ask(again.url, "/v1/verify/validate", { verifyId: third, otp: "nonsense" });
    expect(blocked.error?.code).toBe("OTP_ATTEMPTS_EXHAUSTED");
    await again.stop();
  });
});
