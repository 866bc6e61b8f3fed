import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Keyring } from "../../src/accounts/keyring.ts";
import { deriveKey, encryptEndpointSecrets } from "../../src/accounts/master-key.ts";
import { authenticateLogin, type AuthenticateDeps } from "../../src/http/auth/authenticate.ts";
import { systemClock } from "../../src/lib/clock.ts";
import { MinuteCounter } from "../../src/lib/minute-counter.ts";
import { CREDENTIAL_KINDS, twilioAccountSid, type CredentialKind } from "../../src/model/credential.ts";
import { Problem } from "../../src/model/problem.ts";
import { MASTER_KEY, openTenants, type Tenants } from "../fuzz/tenants.ts";
import { ENGINES } from "../support/engines.ts";
import type { Answer, ErrorBody } from "../support/test-server.ts";

interface CredentialBody {
  id: string;
  kind: CredentialKind;
  username: string;
  password: string;
  name: string;
  mode: "live" | "test";
  scopes: string[];
  allowedIps: string[];
  requestsPerSecond: number | null;
  expiresAt: number | null;
  revokedAt: number | null;
  lastUsedAt: number | null;
  error: ErrorBody;
}

const FORMS: Record<CredentialKind, { username: RegExp; password: RegExp }> = {
  twilio: { username: /^AC[0-9a-f]{32}$/, password: /^[0-9a-f]{32}$/ },
  kannel: { username: /^[0-9a-z]{1,20}$/, password: /^[0-9A-Za-z]{20}$/ },
  // Jasmin allows 16 characters for each.
  jasmin: { username: /^[0-9a-z]{1,16}$/, password: /^[0-9A-Za-z]{16}$/ },
  // A system id has 15 characters, a password 8.
  smpp: { username: /^[0-9a-z]{1,15}$/, password: /^[0-9A-Za-z]{8}$/ },
};

const RULE = { scope: "sms", testKeys: "sms" } as const;

describe.each(ENGINES)("credentials on %s", (engine) => {
  let tenants: Tenants;
  let admission: AuthenticateDeps;

  beforeAll(async () => {
    tenants = await openTenants(engine, systemClock);
    const keyring = new Keyring(
      { store: tenants.server.app.store, clock: systemClock },
      deriveKey(Buffer.from(MASTER_KEY), "api keys"),
    );
    admission = { keyring, clock: systemClock, badKeys: new MinuteCounter(), readAgain: async () => undefined };
  });
  afterAll(() => tenants.close());

  const post = (body: object, headers?: Record<string, string>): Promise<Answer<CredentialBody>> =>
    tenants.server.request<CredentialBody>(
      "POST",
      "/api/credentials",
      { kind: "kannel", name: "Shop", ...body },
      headers,
    );

  /** The problem code with which a login is refused, or "admitted". */
  async function logIn(
    { kind, username, password }: Pick<CredentialBody, "kind" | "username" | "password">,
    {
      address = "192.0.2.1",
      rule = RULE,
    }: { address?: string; rule?: typeof RULE | { scope: "rcs"; testKeys: "rcs" } } = {},
  ): Promise<string> {
    await admission.keyring.refresh();
    try {
      await authenticateLogin(
        admission,
        { kind, username, password, address, onIdentified: () => undefined },
        rule,
        () => undefined,
      );
      return "admitted";
    } catch (error) {
      return error instanceof Problem ? error.code : "?";
    }
  }

  test.each(CREDENTIAL_KINDS)("a %s credential has a username and password that its clients can send", async (kind) => {
    const { status, body } = await post({ kind });
    expect(status).toBe(201);
    expect(body.username).toMatch(FORMS[kind].username);
    expect(body.password).toMatch(FORMS[kind].password);
    expect(await logIn(body)).toBe("admitted");
  });

  test("a password is shown once, and neither it nor a reversible copy is stored in plain", async () => {
    const made = [await post({ kind: "twilio" }), await post({ kind: "jasmin" })].map(({ body }) => body);
    const listed = await tenants.server.request("GET", "/api/credentials");
    const read = await tenants.server.request("GET", `/api/credentials/${made[0]?.id}`);
    const rows = (await tenants.execute("select * from credentials")) as { id: string; sealed: string | null }[];
    for (const { id, password } of made) {
      expect(JSON.stringify(listed.body)).toContain(id);
      expect(JSON.stringify([listed.body, read.body, rows])).not.toContain(password);
    }
    const sealed = new Map(rows.map(({ id, sealed: stored }) => [id, stored]));
    expect(sealed.get(made[1]?.id ?? "")).toBeNull();
    const encryption = encryptEndpointSecrets(Buffer.from(MASTER_KEY));
    expect(encryption.decrypt(String(sealed.get(made[0]?.id ?? "")))).toBe(made[0]?.password);
  });

  test("the credentials of an account and mode share its AccountSid, and test has another than live", async () => {
    const [first, second, of] = [
      (await post({ kind: "twilio" })).body,
      (await post({ kind: "twilio" })).body,
      (await post({ kind: "twilio", mode: "test" })).body,
    ];
    expect(second.username).toBe(first.username);
    expect(second.password).not.toBe(first.password);
    expect(of.username).not.toBe(first.username);
    expect(first.username).toBe(twilioAccountSid(1, "live"));
    expect([await logIn(first), await logIn(second), await logIn(of)]).toEqual(["admitted", "admitted", "admitted"]);
    expect(await logIn({ ...of, password: first.password })).toBe("UNAUTHORIZED");
  });

  test("the form key gives an API key of Twilio, and no other kind has it", async () => {
    const { body } = await post({ kind: "twilio", form: "key" });
    expect(body.username).toMatch(/^SK[0-9a-f]{32}$/);
    expect(await logIn(body)).toBe("admitted");
    const refused = await post({ kind: "kannel", form: "key" });
    expect([refused.status, refused.body.error.parameter]).toEqual([400, "form"]);
  });

  test("a login of one kind opens no other, and a wrong username or password opens nothing", async () => {
    const { body } = await post({});
    for (const wrong of [
      { kind: "jasmin" as const },
      { username: `${body.username}x` },
      { username: "" },
      { password: "" },
      { password: body.password.toLowerCase() },
      { username: `${body.username}\n${body.password}`, password: "" },
    ])
      expect(await logIn({ ...body, ...wrong }, { address: `198.51.100.${Math.floor(Math.random() * 250)}` })).toBe(
        "UNAUTHORIZED",
      );
    const { status } = await tenants.server.send({}, { apikey: body.password, "x-forwarded-for": "198.51.100.251" });
    expect(status).toBe(401);
  });

  test("a credential is refused when it is revoked, expired, lacks the scope, or comes from another network", async () => {
    const { body } = await post({ scopes: ["sms"], allowedIps: ["10.0.0.0/8"] });
    const inside = { address: "10.1.2.3" };
    expect(await logIn(body)).toBe("IP_NOT_ALLOWED");
    expect(await logIn(body, inside)).toBe("admitted");
    expect(await logIn(body, { ...inside, rule: { scope: "rcs", testKeys: "rcs" } })).toBe("INSUFFICIENT_SCOPE");
    const path = `/api/credentials/${body.id}`;
    const revoked = await tenants.server.request<CredentialBody>("DELETE", path);
    expect(revoked.body.revokedAt).toBeGreaterThan(0);
    expect(await logIn(body, inside)).toBe("UNAUTHORIZED");
    const again = await tenants.server.request<CredentialBody>("DELETE", path);
    expect(again.body.revokedAt).toBe(revoked.body.revokedAt);
    const listed = await tenants.server.request<{ data: CredentialBody[] }>("GET", "/api/credentials");
    expect(listed.body.data.find(({ id }) => id === body.id)?.revokedAt).toBe(revoked.body.revokedAt);
    expect((await post({ expiresAt: 1 })).body.error.parameter).toBe("expiresAt");
  });

  test("a change takes effect at once, and an empty one changes nothing", async () => {
    const { body } = await post({});
    const path = `/api/credentials/${body.id}`;
    const changed = await tenants.server.request<CredentialBody>("PATCH", path, { name: "New", requestsPerSecond: 1 });
    expect(changed.body).toMatchObject({ name: "New", requestsPerSecond: 1, username: body.username });
    const same = await tenants.server.request<CredentialBody>("PATCH", path, {});
    expect(same.body).toEqual(changed.body);
    expect([await logIn(body), await logIn(body)]).toEqual(["admitted", "RATE_LIMITED"]);
    expect(body.lastUsedAt).toBeNull();
    await admission.keyring.saveUses();
    const [row] = await tenants.execute(`select last_used_at from credentials where id = '${body.id}'`);
    expect(Number((row as { last_used_at: unknown }).last_used_at)).toBeGreaterThan(0);
  });

  test.each([
    ["of an unknown kind", { kind: "plivo" }, "kind"],
    ["without a name", { name: "" }, "name"],
    ["with the scope manage", { scopes: ["manage"] }, "scopes[0]"],
    ["without scopes", { scopes: [] }, "scopes"],
    ["with a network that is none", { allowedIps: ["10.0.0.0/33"] }, "allowedIps[0]"],
  ])("a credential %s is not created, and the response names the field", async (_, choices, parameter) => {
    const { status, body } = await post(choices);
    expect([status, body.error.code, body.error.parameter]).toEqual([400, "INVALID_REQUEST", parameter]);
  });

  test("a key grants a credential only its own scopes, addresses and lifetime", async () => {
    const { server } = tenants;
    const ends = Date.now() + 3_600_000;
    const limits = { expiresAt: ends, allowedIps: ["127.0.0.0/8"] };
    const { body } = await server.request<{ key: string }>("POST", "/api/keys", {
      name: "Manager",
      scopes: ["manage", "sms"],
      ...limits,
    });
    const as = { apikey: body.key };
    const codes = [
      await post({ scopes: ["sms"] }, as),
      await post({ scopes: ["sms", "read"], ...limits }, as),
      await post(limits, as),
      await post({ scopes: ["sms"], ...limits }, as),
    ].map(({ status }) => status);
    expect(codes).toEqual([403, 403, 403, 201]);
  });

  test("the 21st bad login of a minute is 429 for its address, together with bad keys", async () => {
    const { body } = await post({});
    const address = "203.0.113.9";
    const bad: string[] = [];
    for (let i = 0; i < 21; i += 1) bad.push(await logIn({ ...body, password: "guess" }, { address }));
    expect(bad.slice(0, 20)).toEqual(Array.from({ length: 20 }, () => "UNAUTHORIZED"));
    expect(bad[20]).toBe("RATE_LIMITED");
    expect(await logIn(body, { address })).toBe("admitted");
  });

  test("making and revoking a credential is in the audit log, without the password", async () => {
    const { body } = await post({ name: "Audited" });
    await tenants.server.request("DELETE", `/api/credentials/${body.id}`);
    const { body: log } = await tenants.server.request<{ data: { action: string; recordId: string }[] }>(
      "GET",
      "/api/audit?limit=50",
    );
    const actions = log.data.filter(({ recordId }) => recordId === body.id).map(({ action }) => action);
    expect(actions.toSorted()).toEqual(["DELETE /api/credentials/{id}", "POST /api/credentials"]);
    expect(JSON.stringify(log)).not.toContain(body.password);
  });
});
