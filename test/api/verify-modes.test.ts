import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { newId } from "../../src/lib/ids.ts";
import { ENGINES } from "../support/engines.ts";
import { eventually } from "../support/eventually.ts";
import type { Answer, ErrorBody } from "../support/test-server.ts";
import { startMovedClockServer, type MovedClockServer } from "../support/moved-clock-server.ts";

interface Otp {
  data: string | null;
  error: ErrorBody | null;
}

/** No server listens there, so its messages wait. */
const LINE = { host: "192.0.2.1", port: 2775, systemId: "heliograph", password: "secret" };

let lastNumber = 15_553_000_000;
const simulatedNumber = (): string => String((lastNumber += 10_000));
/** A route leads these to a real carrier. */
const realNumber = (): string => `44${String((lastNumber += 10_000)).slice(1)}`;

describe.each(ENGINES)("modes of one-time passwords on %s", (engine) => {
  let server: MovedClockServer;
  let testKey: Record<string, string>;
  beforeAll(async () => {
    server = await startMovedClockServer(engine);
    const { body } = await server.request<{ key: string }>("POST", "/api/keys", {
      name: "for tests",
      mode: "test",
      scopes: ["verify"],
    });
    testKey = { apikey: body.key };
    await server.request("POST", "/api/carriers", { name: "real", adapter: "smpp", smpp: LINE });
    const route = { name: "real texts", channel: "sms", carrier: "real", prefixes: ["44"], priority: 1 };
    await server.request("POST", "/api/routes", route);
    const { body: routes } = await server.request<{ data: { id: string; carrier: string }[] }>("GET", "/api/routes");
    const simulated = routes.data.find(({ carrier }) => carrier === "simulator");
    const { status } = await server.request("PATCH", `/api/routes/${simulated?.id}`, { simulateLive: true });
    if (status !== 200) throw new Error(`the route was not changed: ${status}`);
  });
  afterAll(() => server.close());

  const generate = (to: string, configId = "default", headers: Record<string, string> = {}): Promise<Answer<Otp>> =>
    server.request("POST", "/v1/verify", { configId, to }, headers);
  const validate = (verifyId: string | null, otp: string, headers: Record<string, string> = {}): Promise<Answer<Otp>> =>
    server.request("POST", "/v1/verify/validate", { verifyId, otp }, headers);
  const codeOf = async (number: string, verifyId: string | null): Promise<string> => {
    const found = await eventually(
      async () => (await server.onPhone(number)).find(({ messageId }) => messageId.startsWith(verifyId ?? "")),
      (message) => message !== undefined,
    );
    return /\d{6}/.exec(found?.text ?? "")?.[0] ?? "";
  };

  test("limits are enforced if any channel of the configuration is real, even if it is not the first", async () => {
    const text = "Your code is {{1}}";
    await server.request("POST", "/api/templates", { channel: "rcs", name: "otp-rcs", kind: "text", text });
    const first = { channel: "rcs", from: "heliograph", template: "otp-rcs", waitSeconds: 20 };
    const channels = [first, { channel: "sms", from: "HELIOG" }];
    await server.request("POST", "/api/verify-configs", { name: "rcs-first", channels });
    const statuses = async (to: string): Promise<number[]> => [
      (await generate(to, "rcs-first")).status,
      (await generate(to, "rcs-first")).status,
    ];
    expect(await statuses(simulatedNumber())).toEqual([200, 200]);
    expect(await statuses(realNumber())).toEqual([200, 429]);
  });

  test("sends and checks of test keys use up nothing of the live limits", async () => {
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
    const usage = await server.request<{ usage: { countries: { country: string; owed: number }[] } }>(
      "GET",
      "/api/verify-blocks",
    );
    expect(usage.body.usage.countries.find(({ country }) => country === "GB")?.owed ?? 0).toBeLessThan(6);
  });

  test("a code of one mode ends none of the other, and is unknown to its keys", async () => {
    const to = simulatedNumber();
    const live = (await generate(to)).body.data;
    const tested = (await generate(to, "default", testKey)).body.data;
    const [liveCode, testCode] = [await codeOf(to, live), await codeOf(to, tested)];
    const nobodys = await validate(newId(server.clock.now()), testCode);
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
      expect((await server.request("GET", `/v1/verify/${id}`, undefined, headers)).status).toBe(404);
    }
    for (const [id, code, headers] of [
      [live, liveCode, {}],
      [tested, testCode, testKey],
    ] as const) {
      const { body } = await server.request<{ state: string }>("GET", `/v1/verify/${id}`, undefined, headers);
      expect(body.state).toBe("pending");
      expect((await validate(id, code, headers)).status).toBe(200);
    }
  });

  test("a fixed code cannot be guessed faster than any other, with new ones or without", async () => {
    const to = simulatedNumber();
    await server.request("POST", "/api/verify-configs", {
      name: "fixed",
      testNumbers: [{ number: to, code: "424242" }],
    });
    const codes = [];
    for (let sent = 0; sent < 4; sent += 1) {
      const { body } = await generate(to, "fixed");
      for (let tries = 0; tries < 4; tries += 1) codes.push((await validate(body.data, "nonsense")).body.error?.code);
    }
    expect(codes.filter((code) => code === "OTP_INCORRECT")).toHaveLength(10);
    expect(codes.at(-1)).toBe("OTP_ATTEMPTS_EXHAUSTED");
  });

  test("a fixed code goes to the simulator by every channel and costs nothing, even if a real carrier has the number", async () => {
    const to = realNumber();
    const first = { channel: "sms", from: "HELIOG", waitSeconds: 20 };
    const channels = [first, { channel: "sms", from: "OTHER" }];
    await server.request("POST", "/api/senders", { name: "OTHER" });
    const testNumbers = [{ number: to, code: "434343" }];
    const config = { name: "fixed-3", channels, testNumbers };
    expect((await server.request("POST", "/api/verify-configs", config)).status).toBe(201);
    expect((await server.request("PATCH", "/api/account", { credits: "metered" })).status).toBe(200);
    // A carrier that is down makes the message wait in the store, which has to remember where it goes.
    await server.request("PUT", "/api/simulator/chaos", { down: true });
    const { status, body } = await generate(to, "fixed-3");
    expect(status).toBe(200);
    await server.travel(25_000);
    await server.request("PUT", "/api/simulator/chaos", { down: false });
    await server.travel(30_000);
    expect(await codeOf(to, body.data)).toBe("434343");
    const onPhone = await server.onPhone(to);
    expect(onPhone.map(({ sender }) => sender).toSorted()).toEqual(["HELIOG", "OTHER"]);
    expect((await server.request("GET", `/v1/verify/${body.data}`)).body).toMatchObject({ test: true });
    expect((await server.request("GET", "/api/credits")).body).toMatchObject({ balance: 0, held: 0 });
    expect((await server.asOwner("PATCH", "/api/account", { credits: "unlimited" })).status).toBe(200);
  });

  test("a fixed code has the same limit in ten minutes as any other where limits are enforced", async () => {
    const to = realNumber();
    await server.request("POST", "/api/verify-configs", {
      name: "fixed-2",
      testNumbers: [{ number: to, code: "424242" }],
    });
    const statuses = [];
    for (let sent = 0; sent < 6; sent += 1) statuses.push((await generate(to, "fixed-2")).status);
    expect(statuses).toEqual([200, 200, 200, 200, 200, 429]);
    const { body } = await generate(to, "default");
    expect(body.error?.code).toBe("OTP_SEND_LIMIT");
  });
});
