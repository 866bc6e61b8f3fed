import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { SCOPES } from "../../src/model/api-key.ts";
import { IDENTITY_PRODUCTS, type IdentityProduct } from "../../src/model/identity-hook.ts";
import { DEFAULT_GUARD } from "../../src/model/pumping.ts";
import { openTenants, type Tenants } from "../fuzz/tenants.ts";
import { MovedClock } from "../support/moved-clock.ts";
import { ENGINES } from "../support/engines.ts";
import { eventually } from "../support/eventually.ts";
import { IDENTITY_CALLS, identityCall, type Hook } from "../support/identity-calls.ts";
import type { ErrorBody } from "../support/test-server.ts";

interface Reply {
  status: number;
  type: string;
  text: string;
  headers: Headers;
}

interface Listed {
  verifyId: string;
  source: string | null;
  deliverOnly: boolean;
  to: string;
}

/** A clock that goes on, from a time that a test can move. */
class AheadClock extends MovedClock {
  aheadMs = 0;
  override now(): number {
    return Date.now() + this.aheadMs;
  }
  override monotonic(): number {
    return performance.now() + this.aheadMs;
  }
  override after(delayMs: number, run: () => void): () => void {
    const timer = setTimeout(run, delayMs);
    return () => clearTimeout(timer);
  }
}

let lastNumber = 15_550_300_000;
const freshNumber = (): string => String((lastNumber += 10_000));
let lastAddress = 0;
/** Failed logins are counted by address. */
const freshAddress = (): string => `10.7.${(lastAddress += 1) % 250}.${Math.floor(lastAddress / 250) + 1}`;

describe.each(ENGINES)("hooks of identity products on %s", (engine) => {
  const clock = new AheadClock();
  let tenants: Tenants;
  const hooks = new Map<IdentityProduct, Hook>();
  const hookOf = (product: IdentityProduct): Hook => {
    const hook = hooks.get(product);
    if (!hook) throw new Error(`no hook of ${product}`);
    return hook;
  };

  const create = async (body: object, apikey = tenants.server.key): Promise<Hook> => {
    const answer = await tenants.server.request<Hook>("POST", "/api/identity-hooks", body, { apikey });
    expect(answer.status).toBe(201);
    return answer.body;
  };

  beforeAll(async () => {
    // After a step of the clock the node would be dead until its next heartbeat, and its messages would wait.
    tenants = await openTenants(engine, clock, { beyond: { nodeSilentSeconds: 86_400 } });
    for (const product of IDENTITY_PRODUCTS) hooks.set(product, await create({ product, configId: "default" }));
  });
  afterAll(() => tenants.close());

  async function post(
    url: string,
    { headers, body }: { headers: Record<string, string>; body: string },
  ): Promise<Reply> {
    const path = new URL(url).pathname;
    const response = await fetch(tenants.server.url + path, {
      method: "POST",
      headers: { "x-forwarded-for": freshAddress(), ...headers },
      body,
    });
    const type = response.headers.get("content-type") ?? "";
    return { status: response.status, type, text: await response.text(), headers: response.headers };
  }
  const call = (product: IdentityProduct, payload: object, { hook = hookOf(product), at = clock.now() } = {}) =>
    post(hook.url, identityCall(product, hook, payload, at));
  const payloadOf = (product: IdentityProduct, number: string, code: string): object =>
    IDENTITY_CALLS[product].payload(number, code);
  const onPhone = async (number: string, count: number): Promise<string[]> =>
    eventually(
      async () => (await tenants.server.onPhone(number)).map(({ text }) => text),
      (texts) => texts.length >= count,
    );
  const verificationsOf = async (number: string): Promise<Listed[]> =>
    (await tenants.server.request<{ data: Listed[] }>("GET", `/api/verifications?to=${number}`)).body.data;

  describe.each(IDENTITY_PRODUCTS)("of %s", (product) => {
    test("delivers the code of the product's documented payload, and records the product", async () => {
      const number = freshNumber();
      const { status, text } = await call(product, payloadOf(product, number, "739204"));
      expect({ status, text }).toEqual({ status: 200, text: expect.not.stringContaining("error") });
      expect(await onPhone(number, 1)).toEqual(["739204 is your verification code. It is valid for 5 minutes."]);
      expect(await verificationsOf(number)).toMatchObject([{ source: product, deliverOnly: true }]);
    });

    test("refuses a wrong secret or signature and an unknown hook alike, and sends nothing", async () => {
      const number = freshNumber();
      const payload = payloadOf(product, number, "739204");
      const hook = hookOf(product);
      const other = { ...hook, secret: `whsec_${Buffer.alloc(24, 7).toString("base64")}` };
      const nowhere = { ...hook, url: hook.url.replace(/[^/]+$/, "0198f3a2-7c40-7d1e-9a51-3f0c8e2b6d47") };
      const wrong = hookOf(product === "okta" ? "auth0" : "okta");
      const elsewhere = { ...wrong, url: hook.url.replace(/[^/]+$/, wrong.id) };
      const answers = [];
      for (const each of [other, nowhere, { ...elsewhere, secret: hook.secret }])
        answers.push(await call(product, payload, { hook: each }));
      answers.push(
        await post(hook.url, { headers: { "content-type": "application/json" }, body: JSON.stringify(payload) }),
      );
      expect(answers.map(({ status }) => status)).toEqual([401, 401, 401, 401]);
      expect(new Set(answers.map(({ text, type }) => type + text)).size).toBe(1);
      expect(answers[0]?.text).toContain("secret or signature is wrong");
      expect(await verificationsOf(number)).toEqual([]);
    });

    test("sends one message for calls at once and for retries, and answers all of them alike", async () => {
      const number = freshNumber();
      const payload = payloadOf(product, number, "551166");
      const answers = await Promise.all(Array.from({ length: 6 }, () => call(product, payload)));
      answers.push(await call(product, payload));
      expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
      expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
      await onPhone(number, 1);
      expect(await verificationsOf(number)).toHaveLength(1);
      expect(await tenants.server.onPhone(number)).toHaveLength(1);
    });

    test("sends a new code of the same number, and the same code after the time of a retry", async () => {
      const number = freshNumber();
      for (const code of ["551166", "551167"])
        expect((await call(product, payloadOf(product, number, code))).status).toBe(200);
      await onPhone(number, 2);
      // A recorded call of a product that signs must send nothing while its signature is valid (replay attack).
      clock.aheadMs += product === "supabase" || product === "zitadel" ? 601_000 : 61_000;
      expect((await call(product, payloadOf(product, number, "551167"))).status).toBe(200);
      expect(await onPhone(number, 3)).toHaveLength(3);
    });

    test("a payload without a number or a code is refused in the product's form, and sends nothing", async () => {
      const before = await tenants.execute("select count(*) as n from verifications");
      for (const payload of [{}, payloadOf(product, "", "739204"), payloadOf(product, "12", "739204"), { to: 5 }]) {
        const { status, text } = await call(product, payload);
        // Supabase reads a message only from a response with status 200.
        const shown = product === "supabase" && text.includes('"http_code":400');
        expect({ payload, status }).toEqual({ payload, status: shown && status === 200 ? 200 : 400 });
        expect(text.length).toBeGreaterThan(10);
      }
      expect(await tenants.execute("select count(*) as n from verifications")).toEqual(before);
    });

    test("a body that is no JSON object is refused in the product's form", async () => {
      for (const body of ["", "[]", "null", "{", '"x"', "\u00ff"]) {
        const headers = IDENTITY_CALLS[product].sign(hookOf(product).secret, body, clock.now());
        const { status } = await post(hookOf(product).url, { headers, body });
        expect(status).toBe(400);
      }
    });
  });

  test("calls outside the time of their signature are refused", async () => {
    for (const product of ["supabase", "zitadel"] as const)
      for (const offMs of [-301_000, 302_000]) {
        const payload = payloadOf(product, freshNumber(), "739204");
        expect((await call(product, payload, { at: clock.now() + offMs })).status).toBe(401);
      }
  });

  test("a changed body is refused; one valid signature among several is accepted", async () => {
    const hook = hookOf("supabase");
    const { headers, body } = identityCall(
      "supabase",
      hook,
      payloadOf("supabase", freshNumber(), "739204"),
      clock.now(),
    );
    expect((await post(hook.url, { headers, body: body.replace("739204", "739205") })).status).toBe(401);
    const right = headers["webhook-signature"] ?? "";
    for (const separator of [" ", ", "]) {
      const several = { ...headers, "webhook-signature": `v1,AAAA${separator}${right}` };
      expect((await post(hook.url, { headers: several, body })).status).toBe(200);
    }
  });

  test("a limit answers in each product's form, with a message for the user", async () => {
    const { server } = tenants;
    await server.request("PATCH", "/api/account", { limits: "everywhere" });
    const replies: Record<string, unknown> = {};
    for (const product of IDENTITY_PRODUCTS) {
      const number = freshNumber();
      await call(product, payloadOf(product, number, "739204"));
      const { status, text, type } = await call(product, payloadOf(product, number, "739205"));
      replies[product] = { status, type: type.split(";")[0], text: text.replaceAll(/\d+ seconds?/g, "… seconds") };
    }
    await server.request("PATCH", "/api/account", { limits: "real carriers" });
    const message = "A code was sent to this number a moment ago. Try again in … seconds.";
    const json = (value: object) => ({ status: 429, type: "application/json", text: JSON.stringify(value) });
    expect(replies).toEqual({
      supabase: { ...json({ error: { http_code: 429, message } }), status: 200 },
      zitadel: json({ code: "OTP_SEND_LIMIT", message }),
      authentik: { status: 429, type: "text/plain", text: message },
      logto: json({ code: "OTP_SEND_LIMIT", message }),
      kratos: json({ error: { code: 429, id: "OTP_SEND_LIMIT", message } }),
      auth0: json({ code: "OTP_SEND_LIMIT", message }),
      okta: json({ error: { errorSummary: message } }),
      fusionauth: json({ code: "OTP_SEND_LIMIT", message }),
    });
  });

  test("Okta gets the command that reports success", async () => {
    const { text } = await call("okta", payloadOf("okta", freshNumber(), "739204"));
    expect(JSON.parse(text)).toEqual({
      commands: [
        {
          type: "com.okta.telephony.action",
          value: [
            { status: "SUCCESSFUL", provider: "Heliograph", transactionId: expect.stringMatching(/^[0-9a-f-]{36}$/) },
          ],
        },
      ],
    });
  });

  test("voice calls are refused", async () => {
    const okta = payloadOf("okta", freshNumber(), "739204") as { data: { messageProfile: object } };
    Object.assign(okta.data.messageProfile, { deliveryChannel: "VOICE CALL" });
    const auth0 = { ...payloadOf("auth0", freshNumber(), "739204"), delivery_method: "voice" };
    for (const answer of [await call("okta", okta), await call("auth0", auth0)]) {
      expect(answer.status).toBe(400);
      expect(answer.text).toContain("no voice calls");
    }
  });

  test.each([
    ["Code 739204.", "739204"],
    ["Your code: 7392; valid until 5.", "7392"],
    ["739204 - again: 739204", "739204"],
  ])("of the text %j the only number of 4 to 10 digits is the code: %s", async (textMessage, code) => {
    const number = freshNumber();
    const { status } = await call("fusionauth", { type: "SMS", phoneNumber: `+${number}`, textMessage });
    expect(status).toBe(200);
    expect((await onPhone(number, 1))[0]).toContain(`${code} is your`);
  });

  test.each(["No code here", "739204 or 5511", "A739204", "७३९२०४", "12345678901"])(
    "the text %j is refused: a code in it would be a guess",
    async (textMessage) => {
      const answer = await call("fusionauth", { type: "SMS", phoneNumber: `+${freshNumber()}`, textMessage });
      expect(answer.status).toBe(400);
      expect(answer.text).toContain("exactly one number");
    },
  );

  test("codeDigits picks the code among other numbers of a text", async () => {
    const hook = await create({ product: "authentik", configId: "default", codeDigits: 6 });
    const number = freshNumber();
    const payload = { To: number, Body: "739204 is your code at 1234 Main Street" };
    expect((await call("authentik", payload, { hook })).status).toBe(200);
    expect((await call("authentik", { ...payload, Body: "7392 is your code" }, { hook })).status).toBe(400);
    expect((await onPhone(number, 1))[0]).toContain("739204 is your");
  });

  test("each way to present a secret is accepted", async () => {
    const { url, secret } = hookOf("kratos");
    const basic = `Basic ${Buffer.from(`any:${secret}`).toString("base64")}`;
    for (const headers of [
      { authorization: secret },
      { authorization: `Bearer ${secret}` },
      { authorization: `bearer ${secret}` },
      { authorization: basic },
      { "x-api-key": secret },
    ]) {
      const body = JSON.stringify(payloadOf("kratos", freshNumber(), "739204"));
      expect((await post(url, { headers, body })).status).toBe(200);
    }
    const body = JSON.stringify(payloadOf("kratos", freshNumber(), "739204"));
    for (const authorization of ["", "Bearer", "Basic", "Basic Og==", "Bearer undefined", `Bearer ${secret}x`])
      expect((await post(url, { headers: { authorization }, body })).status).toBe(401);
  });

  test("a test hook uses the simulator only, and its verification is a test", async () => {
    const hook = await create({ product: "auth0", configId: "default", mode: "test" });
    const number = freshNumber();
    expect((await call("auth0", payloadOf("auth0", number, "739204"), { hook })).status).toBe(200);
    expect(await tenants.execute(`select test, mode from verifications where number = '${number}'`)).toEqual([
      { test: 1, mode: "test" },
    ]);
  });

  test("a hook of another account delivers by that account, and is not to be seen", async () => {
    const { minted, accountId } = await tenants.addAccount("other");
    // The records of a new account are read in a moment.
    const foreign = (
      await eventually(
        () =>
          tenants.server.request<Hook>(
            "POST",
            "/api/identity-hooks",
            { product: "auth0", configId: "default" },
            { apikey: minted.secret },
          ),
        ({ status }) => status === 201,
      )
    ).body;
    const number = freshNumber();
    expect((await call("auth0", payloadOf("auth0", number, "739204"), { hook: foreign })).status).toBe(200);
    const rows = await tenants.execute(`select account_id from verifications where number = '${number}'`);
    expect(rows).toEqual([{ account_id: accountId }]);
    const { server } = tenants;
    for (const method of ["GET", "PATCH", "DELETE"]) {
      const body = method === "PATCH" ? { name: "Mine" } : undefined;
      expect((await server.request(method, `/api/identity-hooks/${foreign.id}`, body)).status).toBe(404);
      expect((await server.request(method, `/api/credentials/${foreign.id}`, body)).status).toBe(404);
    }
    const mine = await server.request<{ data: { id: string }[] }>("GET", "/api/identity-hooks");
    expect(mine.body.data.map(({ id }) => id)).not.toContain(foreign.id);
  });

  test("a secret is shown once, encrypted at rest, and no credential of another kind", async () => {
    const { server } = tenants;
    const { id, secret } = hookOf("zitadel");
    expect(secret).toMatch(/^whsec_/);
    for (const path of ["/api/identity-hooks", `/api/identity-hooks/${id}`, "/api/credentials"])
      expect(JSON.stringify((await server.request("GET", path)).body)).not.toContain(secret);
    expect(JSON.stringify((await server.request("GET", "/api/credentials")).body)).not.toContain(id);
    expect(JSON.stringify(await tenants.execute("select * from credentials"))).not.toContain(secret.slice(6));
    const refused = await server.request<{ error: ErrorBody }>("POST", "/api/credentials", {
      kind: "identity",
      name: "x",
    });
    expect(refused.status).toBe(400);
  });

  test("a secret that the product issued replaces the hook's own at once", async () => {
    const hook = await create({ product: "zitadel", configId: "default" });
    const secret = "kqvNmXaMtAnl7JKJaVYaRyIR1sTPl1Ao";
    const { status, body } = await tenants.server.request("PATCH", `/api/identity-hooks/${hook.id}`, { secret });
    expect({ status, shown: JSON.stringify(body).includes(secret) }).toEqual({ status: 200, shown: false });
    const payload = payloadOf("zitadel", freshNumber(), "739204");
    expect((await call("zitadel", payload, { hook })).status).toBe(401);
    expect((await call("zitadel", payload, { hook: { ...hook, secret } })).status).toBe(200);
  });

  test("a secret of Supabase is accepted as Supabase shows it, and in no other form", async () => {
    const hook = await create({ product: "supabase", configId: "default" });
    const path = `/api/identity-hooks/${hook.id}`;
    const secret = `whsec_${Buffer.alloc(32, 9).toString("base64")}`;
    expect((await tenants.server.request("PATCH", path, { secret: "not a secret of Supabase" })).status).toBe(400);
    expect((await tenants.server.request("PATCH", path, { secret: `v1,${secret}` })).status).toBe(200);
    const payload = payloadOf("supabase", freshNumber(), "739204");
    expect((await call("supabase", payload, { hook: { ...hook, secret } })).status).toBe(200);
  });

  test("a revoked or expired hook answers like an unknown one", async () => {
    const revoked = await create({ product: "okta", configId: "default" });
    await tenants.server.request("DELETE", `/api/identity-hooks/${revoked.id}`);
    const expired = await create({ product: "okta", configId: "default", expiresAt: clock.now() + 60_000 });
    clock.aheadMs += 61_000;
    for (const hook of [revoked, expired])
      expect((await call("okta", payloadOf("okta", freshNumber(), "739204"), { hook })).status).toBe(401);
  });

  test("a hook keeps to its addresses and its rate", async () => {
    const walled = await create({ product: "logto", configId: "default", allowedIps: ["203.0.113.7"] });
    const payload = payloadOf("logto", freshNumber(), "739204");
    expect((await call("logto", payload, { hook: walled })).status).toBe(403);
    const slow = await create({ product: "logto", configId: "default", requestsPerSecond: 1 });
    const statuses = await Promise.all(
      Array.from(
        { length: 4 },
        async () => (await call("logto", payloadOf("logto", freshNumber(), "7392"), { hook: slow })).status,
      ),
    );
    expect(statuses).toContain(429);
  });

  test("an unknown configuration and product are refused, and name the field", async () => {
    const ask = (body: object) => tenants.server.request<{ error: ErrorBody }>("POST", "/api/identity-hooks", body);
    const config = await ask({ product: "okta", configId: "nowhere" });
    expect([config.status, config.body.error.parameter]).toEqual([404, "configId"]);
    const product = await ask({ product: "keycloak", configId: "default" });
    expect([product.status, product.body.error.parameter]).toEqual([400, "product"]);
  });

  test("a key with an expiry or addresses cannot set the secret of a hook without them", async () => {
    const { id } = hookOf("zitadel");
    for (const limit of [{ allowedIps: ["127.0.0.1/32"] }, { expiresAt: clock.now() + 3_600_000 }]) {
      const { secret: apikey } = await tenants.addKey(1, { scopes: SCOPES, ...limit });
      const path = `/api/identity-hooks/${id}`;
      const { status } = await tenants.server.request(
        "PATCH",
        path,
        { secret: "a-secret-of-another-1234" },
        { apikey },
      );
      expect(status).toBe(403);
    }
  });

  test("a key without the scopes of a hook cannot create one", async () => {
    const { secret } = await tenants.addKey(1, { scopes: SCOPES.filter((scope) => scope !== "verify:custom") });
    const { status } = await tenants.server.request(
      "POST",
      "/api/identity-hooks",
      { product: "okta", configId: "default" },
      { apikey: secret },
    );
    expect(status).toBe(403);
  });

  test("the pumping guard holds back codes of a hook like any other", async () => {
    const { server } = tenants;
    const otpGuard = { ...DEFAULT_GUARD, prefixUnused: 3 };
    await server.request("PATCH", "/api/account", { limits: "everywhere", otpGuard });
    const prefix = freshNumber().slice(0, -4);
    const statuses = [];
    for (let n = 0; n < 5; n += 1)
      statuses.push((await call("auth0", payloadOf("auth0", `${prefix}${2000 + n}`, "739204"))).status);
    await server.request("PATCH", "/api/account", { limits: "real carriers", otpGuard: DEFAULT_GUARD });
    expect(statuses).toEqual([200, 200, 200, 429, 429]);
  });
});
