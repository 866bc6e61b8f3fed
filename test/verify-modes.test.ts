import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { newId } from "../src/lib/ids.ts";
import { ENGINES } from "./support/engines.ts";
import { eventually } from "./support/eventually.ts";
import type { Answer, ErrorBody } from "./support/house.ts";
import { openMovedHouse, type MovedHouse } from "./support/moved-house.ts";

interface Otp {
  data: string | null;
  error: ErrorBody | null;
}

/** Nobody answers there; what is meant for it waits. */
const LINE = { host: "192.0.2.1", port: 2775, systemId: "heliograph", password: "secret" };

let lastNumber = 15_553_000_000;
const simulatedNumber = (): string => String((lastNumber += 10_000));
/** The house has a real line to these. */
const realNumber = (): string => `44${String((lastNumber += 10_000)).slice(1)}`;

describe.each(ENGINES)("who asks for one-time passwords on %s", (engine) => {
  let house: MovedHouse;
  let testKey: Record<string, string>;
  beforeAll(async () => {
    house = await openMovedHouse(engine);
    const { body } = await house.ask<{ key: string }>("POST", "/api/keys", {
      name: "for tests",
      mode: "test",
      scopes: ["verify"],
    });
    testKey = { apikey: body.key };
    await house.ask("POST", "/api/carriers", { name: "real", adapter: "smpp", smpp: LINE });
    const route = { name: "real texts", channel: "sms", carrier: "real", prefixes: ["44"], priority: 1 };
    await house.ask("POST", "/api/routes", route);
  });
  afterAll(() => house.close());

  const generate = (to: string, configId = "default", headers: Record<string, string> = {}): Promise<Answer<Otp>> =>
    house.ask("POST", "/v1/verify", { configId, to }, headers);
  const validate = (verifyId: string | null, otp: string, headers: Record<string, string> = {}): Promise<Answer<Otp>> =>
    house.ask("POST", "/v1/verify/validate", { verifyId, otp }, headers);
  const codeOf = async (number: string, verifyId: string | null): Promise<string> => {
    const found = await eventually(
      async () => (await house.onPhone(number)).find(({ messageId }) => messageId.startsWith(verifyId ?? "")),
      (message) => message !== undefined,
    );
    return /\d{6}/.exec(found?.text ?? "")?.[0] ?? "";
  };

  test("limits bind where any channel of the configuration is real, also when it is not the first", async () => {
    const text = "Your code is {{1}}";
    await house.ask("POST", "/api/templates", { channel: "rcs", name: "otp-rcs", kind: "text", text });
    const first = { channel: "rcs", from: "heliograph", template: "otp-rcs", waitSeconds: 20 };
    const channels = [first, { channel: "sms", from: "HELIOG" }];
    await house.ask("POST", "/api/verify-configs", { name: "rcs-first", channels });
    const statuses = async (to: string): Promise<number[]> => [
      (await generate(to, "rcs-first")).status,
      (await generate(to, "rcs-first")).status,
    ];
    expect(await statuses(simulatedNumber())).toEqual([200, 200]);
    expect(await statuses(realNumber())).toEqual([200, 429]);
  });

  test("what test keys are sent and try spends nothing of what a live key may", async () => {
    const to = realNumber();
    for (let sent = 0; sent < 6; sent += 1) {
      const { status, body } = await generate(to, "default", testKey);
      expect(status).toBe(200);
      for (let tries = 0; tries < 3; tries += 1)
        expect((await validate(body.data, "nonsense", testKey)).status).toBe(400);
    }
    const live = await generate(to);
    expect(live.status).toBe(200);
    expect((await validate(live.body.data, "nonsense")).body.error?.code).toBe("OTP_INCORRECT");
    const usage = await house.ask<{ usage: { countries: { country: string; owed: number }[] } }>(
      "GET",
      "/api/verify-blocks",
    );
    expect(usage.body.usage.countries.find(({ country }) => country === "GB")?.owed ?? 0).toBeLessThan(6);
  });

  test("a code of one mode ends none of the other's, and is unknown to its keys", async () => {
    const to = simulatedNumber();
    const live = (await generate(to)).body.data;
    const tested = (await generate(to, "default", testKey)).body.data;
    const [liveCode, testCode] = [await codeOf(to, live), await codeOf(to, tested)];
    const nobodys = await validate(newId(house.clock.now()), testCode);
    for (const [id, code, headers] of [
      [tested, testCode, {}],
      [live, liveCode, testKey],
    ] as const) {
      const { status, body } = await validate(id, code, headers);
      expect(status).toBe(404);
      expect({ ...body, data: null, error: { ...body.error, requestId: null } }).toEqual({
        ...nobodys.body,
        data: null,
        error: { ...nobodys.body.error, requestId: null },
      });
      expect((await house.ask("GET", `/v1/verify/${id}`, undefined, headers)).status).toBe(404);
    }
    for (const [id, code, headers] of [
      [live, liveCode, {}],
      [tested, testCode, testKey],
    ] as const) {
      const { body } = await house.ask<{ state: string }>("GET", `/v1/verify/${id}`, undefined, headers);
      expect(body.state).toBe("pending");
      expect((await validate(id, code, headers)).status).toBe(200);
    }
  });

  test("a fixed code cannot be guessed faster than any other, with new ones or without", async () => {
    const to = simulatedNumber();
    await house.ask("POST", "/api/verify-configs", { name: "fixed", testNumbers: [{ number: to, code: "424242" }] });
    const codes = [];
    for (let sent = 0; sent < 4; sent += 1) {
      const { body } = await generate(to, "fixed");
      for (let tries = 0; tries < 4; tries += 1) codes.push((await validate(body.data, "nonsense")).body.error?.code);
    }
    expect(codes.filter((code) => code === "OTP_INCORRECT")).toHaveLength(10);
    expect(codes.at(-1)).toBe("OTP_ATTEMPTS_EXHAUSTED");
  });

  test("a fixed code is asked for as often in ten minutes as any other where limits bind", async () => {
    const to = realNumber();
    await house.ask("POST", "/api/verify-configs", { name: "fixed-2", testNumbers: [{ number: to, code: "424242" }] });
    const statuses = [];
    for (let sent = 0; sent < 6; sent += 1) statuses.push((await generate(to, "fixed-2")).status);
    expect(statuses).toEqual([200, 200, 200, 200, 200, 429]);
    const { body } = await generate(to, "default");
    expect(body.error?.code).toBe("OTP_SEND_LIMIT");
  });
});
