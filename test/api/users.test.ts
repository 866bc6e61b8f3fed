import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { totpCode } from "../../src/accounts/totp.ts";
import { SCOPES } from "../../src/model/api-key.ts";
import { DEFAULT_GUARD } from "../../src/model/pumping.ts";
import { ENGINES } from "../support/engines.ts";
import { openTenants, type Tenants } from "../fuzz/tenants.ts";
import type { Answer, ErrorBody } from "../support/test-server.ts";
import { MovedClock } from "../support/moved-clock.ts";
import { requestAnonymously, logIn, type SessionUser, type SessionBody } from "../support/session-user.ts";

const PASSWORD = "correct horse battery";
const MINUTE_MS = 60_000;
const STEP_MS = 30_000;

interface UserBody {
  id: string;
  email: string;
  name: string;
  role: string;
  disabled: boolean;
  totp: boolean;
  passwordDue: boolean;
  lastLoginAt: number | null;
  password: string | null;
}

interface EntryBody {
  id: string;
  at: number;
  actor: { kind: string; id: string | null; name: string | null };
  action: string;
  summary: string;
  kind: string;
  recordId: string | null;
  recordName: string | null;
  fields: string[];
  changes: { field: string; before: string | null; after: string | null }[];
  address: string;
}

type Failure = { message: string; error: ErrorBody };

describe.each(ENGINES)("users on %s", (engine) => {
  let tenants: Tenants;
  let clock: MovedClock;
  let owner: SessionUser;
  let address = 0;

  /** Everybody calls from somewhere else, unless a test says otherwise. */
  const elsewhere = (): { "x-forwarded-for": string } => {
    address += 1;
    return { "x-forwarded-for": `10.4.${Math.floor(address / 250)}.${(address % 250) + 1}` };
  };
  const ask = <T>(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
    requestAnonymously<T>(tenants.server.url, method, path, body, { ...elsewhere(), ...headers });
  const asKey = <T>(method: string, path: string, body?: unknown) =>
    ask<T>(method, path, body, { apikey: tenants.server.key });
  const outcome = ({ status, body }: Answer<unknown>): string =>
    `${status} ${(body as Partial<Failure>).error?.code ?? "ok"}`;

  let made = 0;
  async function newPerson(role = "member"): Promise<{ email: string; password: string; id: string }> {
    made += 1;
    const credentials = { email: `person-${made}@example.com`, password: PASSWORD };
    const { body } = await asKey<UserBody>("POST", "/api/users", { ...credentials, role });
    return { ...credentials, id: body.id };
  }
  const enter = (credentials: { email: string; password: string; totp?: string }): Promise<SessionUser> => {
    const { email, password, totp } = credentials;
    return logIn(tenants.server.url, { email, password, ...(totp === undefined ? {} : { totp }) }, elsewhere());
  };

  beforeAll(async () => {
    clock = new MovedClock();
    tenants = await openTenants(engine, clock);
    owner = await enter(await newPerson("owner"));
  });
  afterAll(() => tenants.close());

  describe("an invitation", () => {
    interface Invited {
      id: string;
      password: string | null;
      invitation: { url: string; expiresAt: number };
    }
    const invite = async (email: string, inviteHours = 24) =>
      (await asKey<Invited>("POST", "/api/users", { email, role: "member", inviteHours })).body;
    const tokenIn = (url: string): string => new URL(url).hash.slice(1);
    const accept = (token: string, password = PASSWORD) =>
      ask<Failure>("POST", "/api/invitations/accept", { token, password });

    test("a link lets the user choose a password once, and then works no more", async () => {
      const { invitation, password } = await invite("invited-1@example.com");
      expect([password, invitation.expiresAt]).toEqual([null, clock.now() + 86_400_000]);
      expect(new URL(invitation.url).pathname).toBe("/invitation");
      const token = tokenIn(invitation.url);
      expect(outcome(await accept(token, "short"))).toBe("400 INVALID_REQUEST");
      expect((await accept(token)).body).toEqual({ email: "invited-1@example.com" });
      const invited = await enter({ email: "invited-1@example.com", password: PASSWORD });
      expect(invited.session.user.passwordDue).toBe(false);
      expect(outcome(await accept(token))).toBe("410 INVITATION_INVALID");
      expect(outcome(await accept("not a token"))).toBe("410 INVITATION_INVALID");
    });

    test("a link ends at its time, with a newer one, and with its user", async () => {
      const { id, invitation } = await invite("invited-2@example.com", 1);
      const again = await asKey<Invited["invitation"]>("POST", `/api/users/${id}/invite`, { hours: 2 });
      expect(outcome(await accept(tokenIn(invitation.url)))).toBe("410 INVITATION_INVALID");
      await asKey("PATCH", `/api/users/${id}`, { disabled: true });
      expect(outcome(await accept(tokenIn(again.body.url)))).toBe("410 INVITATION_INVALID");
      await asKey("PATCH", `/api/users/${id}`, { disabled: false });
      clock.advance(2 * 60 * MINUTE_MS);
      expect(outcome(await accept(tokenIn(again.body.url)))).toBe("410 INVITATION_INVALID");
    });

    test("a link is refused beside a password, for oneself, and from another site", async () => {
      const both = { email: "invited-3@example.com", role: "member", password: PASSWORD, inviteHours: 1 };
      expect((await asKey<Failure>("POST", "/api/users", both)).body.error.parameter).toBe("inviteHours");
      const boss = await newPerson("owner");
      const self = await enter(boss);
      expect(outcome(await self.request("POST", `/api/users/${boss.id}/invite`, {}))).toBe("400 INVALID_REQUEST");
      const { invitation } = await invite("invited-4@example.com");
      const foreign = await ask<Failure>(
        "POST",
        "/api/invitations/accept",
        { token: tokenIn(invitation.url), password: PASSWORD },
        { origin: "https://evil.example" },
      );
      expect(outcome(foreign)).toBe("403 CSRF_REFUSED");
    });
  });

  describe("the list of sessions", () => {
    interface Sessions {
      data: { id: string; address: string; agent: string; current: boolean }[];
    }

    test("shows one's own sessions with where they were opened, and ends one of them at once", async () => {
      const ann = await newPerson("viewer");
      const one = await logIn(tenants.server.url, ann, { "x-forwarded-for": "203.0.113.7", "user-agent": "Firefox" });
      const two = await logIn(tenants.server.url, ann, { "x-forwarded-for": "203.0.113.8", "user-agent": "Safari" });
      const { body } = await two.request<Sessions>("GET", "/api/sessions");
      const seen = body.data.map(({ address: at, agent, current }) => [at, agent, current]);
      expect(seen.toSorted(([a], [b]) => String(a).localeCompare(String(b)))).toEqual([
        ["203.0.113.7", "Firefox", false],
        ["203.0.113.8", "Safari", true],
      ]);
      const other = body.data.find(({ current }) => !current)?.id ?? "";
      // Another user has no access to it.
      expect(outcome(await owner.request("DELETE", `/api/sessions/${other}`))).toBe("404 RECORD_NOT_FOUND");
      expect(outcome(await two.request("DELETE", `/api/sessions/${other}`))).toBe("200 ok");
      expect(outcome(await one.request("GET", "/api/session"))).toBe("401 LOGIN_REQUIRED");
      expect((await two.request<Sessions>("GET", "/api/sessions")).body.data).toHaveLength(1);
    });
  });

  describe("a wrong password", () => {
    const tryIt = (email: string, from: { "x-forwarded-for": string }, password = "wrong password") =>
      ask<Failure>("POST", "/api/session", { email, password }, from);

    test("five wrong passwords lock the login for a minute, then twice as long, and the right one unlocks it", async () => {
      const { email } = await newPerson();
      const from = elsewhere();
      for (let n = 1; n <= 5; n += 1) expect(outcome(await tryIt(email, from))).toBe("401 LOGIN_FAILED");
      const locked = await tryIt(email, from, PASSWORD);
      expect([outcome(locked), locked.headers.get("retry-after")]).toEqual(["429 LOGIN_LOCKED", "60"]);
      clock.advance(MINUTE_MS);
      expect(outcome(await tryIt(email, from))).toBe("401 LOGIN_FAILED");
      expect((await tryIt(email, from)).headers.get("retry-after")).toBe("120");
      clock.advance(2 * MINUTE_MS);
      expect(outcome(await tryIt(email.toUpperCase(), from, PASSWORD))).toBe("200 ok");
      for (let n = 1; n <= 4; n += 1) expect(outcome(await tryIt(email, from))).toBe("401 LOGIN_FAILED");
      expect(outcome(await tryIt(email, from, PASSWORD))).toBe("200 ok");
    });

    test("wrong passwords from one address do not lock out others, nor the same user elsewhere", async () => {
      const [ann, bob] = [await newPerson(), await newPerson()];
      const from = elsewhere();
      for (let n = 1; n <= 6; n += 1) await tryIt(ann.email, from);
      expect(outcome(await tryIt(ann.email, from, PASSWORD))).toBe("429 LOGIN_LOCKED");
      expect(outcome(await tryIt(bob.email, from, PASSWORD))).toBe("200 ok");
      expect(outcome(await tryIt(ann.email, elsewhere(), PASSWORD))).toBe("200 ok");
    });

    test("wrong passwords count for an IPv6 network as a whole", async () => {
      const { email } = await newPerson();
      for (let n = 1; n <= 5; n += 1) await tryIt(email, { "x-forwarded-for": `2001:db8:1:2::${n}` });
      expect(outcome(await tryIt(email, { "x-forwarded-for": "2001:db8:1:2:ffff::1" }))).toBe("429 LOGIN_LOCKED");
      expect(outcome(await tryIt(email, { "x-forwarded-for": "2001:db8:1:3::1" }))).toBe("401 LOGIN_FAILED");
    });

    test("wrong passwords count for one address however the proxy writes it: with ports, brackets, zones, other notations", async () => {
      const { email } = await newPerson();
      const v4 = [
        "198.51.100.7:1",
        "198.51.100.7:65000",
        "::ffff:198.51.100.7",
        "[::ffff:c633:6407]:9",
        "junk, 198.51.100.7,",
      ];
      for (const written of v4)
        expect(outcome(await tryIt(email, { "x-forwarded-for": written }))).toBe("401 LOGIN_FAILED");
      expect(outcome(await tryIt(email, { "x-forwarded-for": "198.51.100.7" }))).toBe("429 LOGIN_LOCKED");
      const other = await newPerson();
      const v6 = [
        "[2001:db8:9:9::1]:1",
        "[2001:db8:9:9::1]:2",
        "2001:DB8:9:9:0:0:0:2",
        "2001:db8:9:9::3%eth0",
        '"[2001:db8:9:9::4]"',
      ];
      for (const written of v6)
        expect(outcome(await tryIt(other.email, { "x-forwarded-for": written }))).toBe("401 LOGIN_FAILED");
      expect(outcome(await tryIt(other.email, { "x-forwarded-for": "2001:db8:9:9::5" }))).toBe("429 LOGIN_LOCKED");
    });

    test("wrong passwords from many addresses delay the user, by at most ten seconds, and not in a known browser", async () => {
      const { email } = await newPerson();
      const home = elsewhere();
      const known = await ask("POST", "/api/session", { email, password: PASSWORD }, home);
      const browser = /heliograph_browser=[^;]+/.exec(known.headers.get("set-cookie") ?? "")?.[0] ?? "";
      expect(browser).not.toBe("");
      for (let n = 1; n <= 50; n += 1) expect(outcome(await tryIt(email, elsewhere()))).toBe("401 LOGIN_FAILED");
      const slowed = await tryIt(email, elsewhere());
      expect([outcome(slowed), slowed.headers.get("retry-after")]).toEqual(["429 LOGIN_LOCKED", "10"]);
      // Refused attempts are not counted, so their address stays open.
      for (let n = 1; n <= 6; n += 1) expect(outcome(await tryIt(email, home, PASSWORD))).toBe("429 LOGIN_LOCKED");
      const withCookie = { ...elsewhere(), cookie: browser };
      expect(outcome(await ask("POST", "/api/session", { email, password: PASSWORD }, withCookie))).toBe("200 ok");
      const forged = { ...elsewhere(), cookie: `${browser.slice(0, -4)}AAAA` };
      expect(outcome(await ask("POST", "/api/session", { email, password: PASSWORD }, forged))).toBe(
        "429 LOGIN_LOCKED",
      );
      clock.advance(10_000);
      expect(outcome(await tryIt(email, home, PASSWORD))).toBe("200 ok");
      // The browser's own tries are counted by themselves.
      for (let n = 1; n <= 5; n += 1)
        expect(outcome(await ask("POST", "/api/session", { email, password: "wrong password" }, withCookie))).toBe(
          "401 LOGIN_FAILED",
        );
      expect(outcome(await ask("POST", "/api/session", { email, password: PASSWORD }, withCookie))).toBe(
        "429 LOGIN_LOCKED",
      );
    });

    test("five of any number of simultaneous wrong passwords are checked", async () => {
      const { email } = await newPerson();
      const from = elsewhere();
      const tries = await Promise.all(Array.from({ length: 25 }, () => tryIt(email, from)));
      expect(tries.filter(({ status }) => status === 401)).toHaveLength(5);
      expect(tries.filter(({ status }) => status === 429)).toHaveLength(20);
    });

    test("wrong passwords of unknown and disabled users get the same bytes, and lock alike", async () => {
      const [known, disabled] = [await newPerson(), await newPerson()];
      await asKey("PATCH", `/api/users/${disabled.id}`, { disabled: true });
      const answers = await Promise.all([
        tryIt(known.email, elsewhere()),
        tryIt("nobody@example.com", elsewhere()),
        tryIt("no address", elsewhere()),
        tryIt(disabled.email, elsewhere(), PASSWORD),
      ]);
      const bytes = answers.map(({ status, body }) => JSON.stringify([status, { ...body.error, requestId: "" }]));
      expect(new Set(bytes).size).toBe(1);
      expect(new Set(answers.map(({ headers }) => [...headers.keys()].join())).size).toBe(1);
      const from = elsewhere();
      for (let n = 1; n <= 5; n += 1) await tryIt("nobody@example.com", from);
      expect(outcome(await tryIt("nobody@example.com", from))).toBe("429 LOGIN_LOCKED");
    });

    test("wrong passwords for many users from one address are delayed too", async () => {
      clock.advance(MINUTE_MS);
      const from = elsewhere();
      const tries = [];
      for (let n = 1; n <= 31; n += 1) tries.push(await tryIt(`guess-${n}@example.com`, from));
      expect(tries.slice(0, 30).map(outcome)).toEqual(Array(30).fill("401 LOGIN_FAILED"));
      expect(outcome(tries[30] as Answer<Failure>)).toBe("429 RATE_LIMITED");
    });
  });

  describe("a password", () => {
    test("a password is changed by the user who knows it, and ends every other session", async () => {
      const ann = await newPerson();
      const [here, there] = [await enter(ann), await enter(ann)];
      const change = (current: string, next: string) =>
        here.request<Failure>("PATCH", "/api/session/password", { current, next });
      expect(outcome(await change("wrong password", "a new password"))).toBe("403 PASSWORD_INCORRECT");
      expect(outcome(await change(PASSWORD, "a new password"))).toBe("200 ok");
      expect((await here.request("GET", "/api/session")).status).toBe(200);
      expect((await there.request("GET", "/api/session")).status).toBe(401);
      await enter({ ...ann, password: "a new password" });
      await expect(enter(ann)).rejects.toThrow("LOGIN_FAILED");
    });

    test.each(["short", "", "person@example.com", "aaaaaaaaaaaaa", "x".repeat(201)])(
      "%j is not accepted as a password",
      async (next) => {
        const email = "person@example.com";
        await asKey("POST", "/api/users", { email, role: "viewer", password: PASSWORD });
        const person = await enter({ email, password: PASSWORD });
        const { status, body } = await person.request<Failure>("PATCH", "/api/session/password", {
          current: PASSWORD,
          next,
        });
        expect([status, body.error.parameter]).toEqual([400, "next"]);
      },
    );

    test("a password is guessed no faster in an open session than at the login", async () => {
      const ann = await newPerson();
      const person = await enter(ann);
      const guess = () =>
        person.request("PATCH", "/api/session/password", { current: "wrong", next: "a new password" });
      for (let n = 1; n <= 5; n += 1) expect(outcome(await guess())).toBe("403 PASSWORD_INCORRECT");
      expect(outcome(await guess())).toBe("429 LOGIN_LOCKED");
    });
  });

  describe("the second factor", () => {
    /** A user with an authenticator app, and the app. */
    async function withApp() {
      const credentials = await newPerson();
      const person = await enter(credentials);
      const { body } = await person.request<{ secret: string; otpauthUrl: string }>("POST", "/api/session/totp", {
        password: credentials.password,
      });
      const secret = decode(body.secret);
      const code = (): string => totpCode(secret, Math.floor(clock.now() / STEP_MS));
      const on = await person.request<{ recoveryCodes: string[] }>("PUT", "/api/session/totp", { code: code() });
      clock.advance(STEP_MS);
      return { credentials, person, code, begun: body, on };
    }
    const attempt = (credentials: object, totp?: string, headers = {}) =>
      ask<SessionBody>("POST", "/api/session", { ...credentials, id: undefined, ...(totp && { totp }) }, headers);

    test("the second factor is required once it is on, and a code is valid once", async () => {
      const { credentials, person, code, begun, on } = await withApp();
      expect(begun.otpauthUrl).toContain(`secret=${begun.secret}`);
      expect(on.status).toBe(200);
      expect(on.body.recoveryCodes).toHaveLength(10);
      expect((await person.request<SessionBody>("GET", "/api/session")).body.user.totp).toBe(true);
      expect(outcome(await attempt(credentials))).toBe("401 TOTP_REQUIRED");
      expect(outcome(await attempt({ ...credentials, password: "wrong password" }))).toBe("401 LOGIN_FAILED");
      expect(outcome(await attempt(credentials, "000000"))).toBe("401 LOGIN_FAILED");
      const now = code();
      expect(outcome(await attempt(credentials, now))).toBe("200 ok");
      expect(outcome(await attempt(credentials, now))).toBe("401 LOGIN_FAILED");
      clock.advance(STEP_MS);
      expect(outcome(await attempt(credentials, now))).toBe("401 LOGIN_FAILED");
      expect(outcome(await attempt(credentials, ` ${code().slice(0, 3)} ${code().slice(3)}`))).toBe("200 ok");
    });

    test("the second factor is accepted as totp or code, and not as two that differ", async () => {
      const { credentials, code } = await withApp();
      const { email, password } = credentials;
      const log = (fields: object) => ask("POST", "/api/session", { email, password, ...fields });
      expect(outcome(await log({ code: "000000" }))).toBe("401 LOGIN_FAILED");
      expect(outcome(await log({ code: code(), totp: "000000" }))).toBe("400 INVALID_REQUEST");
      expect(outcome(await log({ code: code() }))).toBe("200 ok");
      clock.advance(STEP_MS);
      expect(outcome(await log({ code: code(), totp: code() }))).toBe("200 ok");
    });

    test("switching the second factor on ends every other session of the user", async () => {
      const credentials = await newPerson();
      const [person, elsewhereOpen] = [await enter(credentials), await enter(credentials)];
      const { body } = await person.request<{ secret: string }>("POST", "/api/session/totp", {
        password: credentials.password,
      });
      expect(outcome(await person.request("PUT", "/api/session/totp", { code: "000000" }))).toBe("400 TOTP_INCORRECT");
      expect((await elsewhereOpen.request("GET", "/api/session")).status).toBe(200);
      const code = totpCode(decode(body.secret), Math.floor(clock.now() / STEP_MS));
      expect((await person.request("PUT", "/api/session/totp", { code })).status).toBe(200);
      expect((await elsewhereOpen.request("GET", "/api/session")).status).toBe(401);
      expect((await person.request("GET", "/api/session")).status).toBe(200);
    });

    test("switching the second factor on refuses a login by password alone that began before", async () => {
      const credentials = await newPerson();
      const { store } = tenants.server.app;
      const ref = { accountId: 1, id: credentials.id };
      await store.beginTotp(ref, "sealed");
      const clearAttempts = store.clearAttempts.bind(store);
      // By now the password has been found right and no second factor asked for.
      const passed = vi.spyOn(store, "clearAttempts").mockImplementationOnce(async (digests) => {
        expect(await store.confirmTotp(ref, "sealed", 1, [], "")).toBe(true);
        await clearAttempts(digests);
      });
      const answer = await attempt(credentials);
      expect(passed).toHaveBeenCalledTimes(1);
      passed.mockRestore();
      expect(outcome(answer)).toBe("401 TOTP_REQUIRED");
      expect(answer.headers.get("set-cookie")).toBeNull();
      expect((await store.findUserById(ref))?.lastLoginAt).toBeNull();
    });

    test("each recovery code is valid once", async () => {
      const { credentials, on } = await withApp();
      const [first = "", second = ""] = on.body.recoveryCodes;
      expect(outcome(await attempt(credentials, first))).toBe("200 ok");
      expect(outcome(await attempt(credentials, first))).toBe("401 LOGIN_FAILED");
      expect(outcome(await attempt(credentials, second.toUpperCase().replaceAll("-", "")))).toBe("200 ok");
    });

    test("the second factor is checked five times, from any address", async () => {
      const { credentials, code } = await withApp();
      for (let n = 1; n <= 5; n += 1) expect(outcome(await attempt(credentials, "000000"))).toBe("401 LOGIN_FAILED");
      expect(outcome(await attempt(credentials, code()))).toBe("429 LOGIN_LOCKED");
      clock.advance(MINUTE_MS);
      expect(outcome(await attempt(credentials, code()))).toBe("200 ok");
    });

    test("a login without the second factor does not count as failed", async () => {
      const { credentials, code } = await withApp();
      const from = elsewhere();
      for (let n = 1; n <= 7; n += 1)
        expect(outcome(await attempt(credentials, undefined, from))).toBe("401 TOTP_REQUIRED");
      expect(outcome(await attempt(credentials, code(), from))).toBe("200 ok");
    });

    test("the second factor is set up with the password only, and wrong ones count as failed logins", async () => {
      const credentials = await newPerson();
      const person = await enter(credentials);
      const begin = async (password: string) =>
        outcome(await person.request("POST", "/api/session/totp", { password }));
      expect(await begin("not it at all")).toMatch(/ PASSWORD_INCORRECT$/);
      expect(outcome(await person.request("PUT", "/api/session/totp", { code: "000000" }))).toBe("400 TOTP_INCORRECT");
      expect(await begin(credentials.password)).toBe("200 ok");
      for (let n = 1; n <= 4; n += 1) await begin("not it at all");
      expect(await begin("not it at all")).toMatch(/ PASSWORD_INCORRECT$/);
      expect(await begin(credentials.password)).toBe("429 LOGIN_LOCKED");
    });

    test("the second factor counts after its first code, and is set up only while it is off", async () => {
      const credentials = await newPerson();
      const person = await enter(credentials);
      expect(outcome(await person.request("PUT", "/api/session/totp", { code: "000000" }))).toBe("400 TOTP_INCORRECT");
      await person.request("POST", "/api/session/totp", { password: credentials.password });
      expect(outcome(await person.request("PUT", "/api/session/totp", { code: "000000" }))).toBe("400 TOTP_INCORRECT");
      expect(outcome(await attempt(credentials))).toBe("200 ok");
      const { person: other } = await withApp();
      const again = { password: credentials.password };
      expect(outcome(await other.request("POST", "/api/session/totp", again))).toBe("409 TOTP_ALREADY_ON");
      expect(outcome(await other.request("PUT", "/api/session/totp", { code: "000000" }))).toBe("409 TOTP_ALREADY_ON");
    });

    test("the second factor is switched off with the password and a code", async () => {
      const { credentials, person, code } = await withApp();
      const off = (password: string, given: string) =>
        person.request("DELETE", "/api/session/totp", { password, code: given });
      expect(outcome(await off("wrong password", code()))).toBe("403 PASSWORD_INCORRECT");
      expect(outcome(await off(PASSWORD, "000000"))).toBe("400 TOTP_INCORRECT");
      expect(outcome(await off(PASSWORD, code()))).toBe("200 ok");
      expect(outcome(await off(PASSWORD, code()))).toBe("404 RECORD_NOT_FOUND");
      expect(outcome(await attempt(credentials))).toBe("200 ok");
    });

    test("the second factor is stored encrypted, and its recovery codes as digests", async () => {
      const { credentials, begun, on } = await withApp();
      const rows = JSON.stringify([
        await tenants.execute("select * from users"),
        await tenants.execute("select * from recovery_codes"),
      ]);
      const secret = decode(begun.secret);
      for (const form of [
        begun.secret,
        secret.toString("base64url"),
        secret.toString("hex"),
        secret.toString("base64"),
      ])
        expect(rows).not.toContain(form);
      for (const code of on.body.recoveryCodes) {
        expect(rows).not.toContain(code);
        expect(rows).not.toContain(code.replaceAll("-", ""));
      }
      expect(rows).toContain(credentials.email);
    });
  });

  describe("an owner", () => {
    test("an owner creates a user who chooses a password at the first login", async () => {
      const { status, body } = await owner.request<UserBody>("POST", "/api/users", {
        email: " Cara@Example.com ",
        role: "member",
      });
      expect(status).toBe(201);
      expect(body).toMatchObject({ email: "cara@example.com", role: "member", passwordDue: true, lastLoginAt: null });
      const password = body.password ?? "";
      expect(password.length).toBeGreaterThan(15);
      const cara = await enter({ email: "cara@example.com", password });
      expect(cara.session.user.passwordDue).toBe(true);
      expect(outcome(await cara.request("GET", "/api/account"))).toBe("403 PASSWORD_CHANGE_REQUIRED");
      expect(outcome(await cara.request("PATCH", "/api/session/password", { current: password, next: PASSWORD }))).toBe(
        "200 ok",
      );
      expect(outcome(await cara.request("GET", "/api/account"))).toBe("200 ok");
      const { body: read } = await owner.request<UserBody>("GET", `/api/users/${body.id}`);
      expect(read).toMatchObject({ passwordDue: false, lastLoginAt: clock.now() });
      expect(JSON.stringify(read)).not.toContain(password);
    });

    test("an owner gets every fault of a new user at once, and a used address", async () => {
      const { body } = await owner.request<Failure>("POST", "/api/users", {
        email: "none",
        name: "a\nb",
        role: "member",
        password: "short",
      });
      expect(body.error.details.map(({ parameter }) => parameter)).toEqual(["email", "name", "password"]);
      const { email } = await newPerson();
      const taken = await owner.request<Failure>("POST", "/api/users", { email, role: "viewer" });
      expect([outcome(taken), taken.body.error.parameter]).toEqual(["409 NAME_TAKEN", "email"]);
      expect(outcome(await owner.request("POST", "/api/users", { email: "x@example.com", role: "king" }))).toBe(
        "400 INVALID_REQUEST",
      );
    });

    test("an owner lists, changes and removes users, and resets their access", async () => {
      const ann = await newPerson("viewer");
      const session = await enter(ann);
      const path = `/api/users/${ann.id}`;
      const { body: listed } = await owner.request<{ data: UserBody[] }>("GET", "/api/users?limit=200");
      expect(listed.data.find(({ id }) => id === ann.id)).toMatchObject({ email: ann.email, role: "viewer" });
      const { body: changed } = await owner.request<UserBody>("PATCH", path, { name: "Ann", role: "member" });
      expect(changed).toMatchObject({ name: "Ann", role: "member", disabled: false });
      const own = `/api/users/${owner.session.user.id}/reset-password`;
      expect(outcome(await owner.request("POST", own))).toBe("400 INVALID_REQUEST");
      const { body: reset } = await owner.request<UserBody>("POST", `${path}/reset-password`);
      expect(reset).toMatchObject({ passwordDue: true, totp: false });
      expect((await session.request("GET", "/api/session")).status).toBe(401);
      await expect(enter(ann)).rejects.toThrow("LOGIN_FAILED");
      const again = await enter({ ...ann, password: reset.password ?? "" });
      expect(outcome(await owner.request("DELETE", path))).toBe("200 ok");
      expect((await again.request("GET", "/api/session")).status).toBe(401);
      expect(outcome(await owner.request("GET", path))).toBe("404 RECORD_NOT_FOUND");
      expect(outcome(await owner.request("DELETE", "/api/users/none"))).toBe("404 RECORD_NOT_FOUND");
    });

    test("the last owner cannot be removed", async () => {
      const { minted } = await tenants.addAccount("lonely");
      const asLonely = <T>(method: string, path: string, body?: unknown) =>
        ask<T>(method, path, body, { apikey: minted.secret });
      const { body } = await asLonely<{ data: UserBody[] }>("GET", "/api/users");
      const [only] = body.data;
      const path = `/api/users/${only?.id}`;
      expect(outcome(await asLonely("DELETE", path))).toBe("409 LAST_OWNER");
      expect(outcome(await asLonely("PATCH", path, { disabled: true }))).toBe("409 LAST_OWNER");
      expect(outcome(await asLonely("PATCH", path, { role: "member" }))).toBe("409 LAST_OWNER");
      expect(outcome(await asLonely("PATCH", path, { name: "Only" }))).toBe("200 ok");
      await asLonely("POST", "/api/users", { email: "second@example.com", role: "owner" });
      expect(outcome(await asLonely("DELETE", path))).toBe("200 ok");
    });
  });

  test("a key without all scopes cannot create a user with them", async () => {
    const wish = { email: "risen@example.com", role: "owner" };
    const test_ = await tenants.addKey(1, {}, "test");
    const lesser = await tenants.addKey(1, { scopes: SCOPES.filter((scope) => scope !== "sms") });
    const refusals = [
      [test_, "403 TEST_KEY_NOT_ALLOWED"],
      [lesser, "403 INSUFFICIENT_SCOPE"],
    ] as const;
    for (const [{ secret }, refusal] of refusals) {
      const headers = { apikey: secret };
      expect(outcome(await ask("POST", "/api/users", wish, headers))).toBe(refusal);
      const path = `/api/users/${owner.session.user.id}`;
      expect(outcome(await ask("PATCH", path, { role: "viewer" }, headers))).toBe(refusal);
      expect(outcome(await ask("POST", `${path}/reset-password`, {}, headers))).toBe(refusal);
      expect(outcome(await ask("DELETE", path, undefined, headers))).toBe(refusal);
    }
  });

  describe("the audit log", () => {
    const entries = async (query: string): Promise<EntryBody[]> =>
      (await owner.request<{ data: EntryBody[] }>("GET", `/api/audit?${query}`)).body.data;
    const since = (): string => {
      clock.advance(1);
      return `from=${clock.now()}`;
    };

    test("the audit log shows who changed what, when and from where, without the content", async () => {
      const now = since();
      const body = { name: "canary-name", url: "https://canary.example/secret", method: "POST", headers: [] };
      const made_ = await owner.request<{ id: string; secret: string }>("POST", "/api/dlr-configs", body);
      expect(made_.status).toBe(201);
      const [entry, ...others] = await entries(now);
      expect(others).toEqual([]);
      expect(entry).toEqual({
        id: expect.any(String),
        at: clock.now(),
        actor: { kind: "user", id: owner.session.user.id, name: owner.session.user.email },
        action: "POST /api/dlr-configs",
        summary: "Create a dlr-config",
        kind: "dlr-configs",
        recordId: made_.body.id,
        recordName: "canary-name",
        fields: ["name", "url", "method", "headers"],
        changes: [],
        address: expect.stringMatching(/^10\.4\./),
      });
      expect(JSON.stringify(entry)).not.toContain("canary.example");
      expect(JSON.stringify(entry)).not.toContain(made_.body.secret);
    });

    test("the audit log has numbers, switches and choices before and after a change, and no texts", async () => {
      const route = { name: "Night line", channel: "sms", carrier: "simulator", priority: 70, senders: ["HELIOG"] };
      const created = await owner.request<{ id: string }>("POST", "/api/routes", route);
      const path = `/api/routes/${created.body.id}`;
      const changed = { name: "Day line", senders: ["OTHER"], priority: 60, weight: 1 };
      expect((await owner.request("PATCH", path, changed)).status).toBe(200);
      const [entry] = await entries("what=routes");
      // An equal value is no change, and a failed request leaves no entry.
      expect(entry).toMatchObject({
        action: "PATCH /api/routes/{id}",
        fields: ["name", "senders", "priority", "weight"],
        changes: [{ field: "priority", before: "70", after: "60" }],
      });
      expect((await owner.request("PATCH", path, { priority: -1 })).status).toBe(400);
      expect((await entries("what=routes"))[0]?.id).toBe(entry?.id);
      const carrier = {
        name: "audited",
        adapter: "smpp",
        smpp: { host: "127.0.0.1", systemId: "shop", password: "secret" },
      };
      const line = await owner.request<{ id: string }>("POST", "/api/carriers", carrier);
      const smpp = { window: 77, password: "changed-secret", host: "127.0.0.2" };
      expect((await owner.request("PATCH", `/api/carriers/${line.body.id}`, { smpp })).status).toBe(200);
      const [last] = await entries("what=carriers");
      expect(last).toMatchObject({ fields: ["smpp"], changes: [{ field: "smpp.window", after: "77" }] });
      expect(JSON.stringify(await tenants.execute("select * from audit"))).not.toMatch(/changed-secret|127\.0\.0\.2/);
      await owner.request("DELETE", `/api/carriers/${line.body.id}`);
      await owner.request("DELETE", path);
      const user = await owner.request<{ id: string }>("POST", "/api/users", {
        email: "roles@example.com",
        role: "viewer",
      });
      await owner.request("PATCH", `/api/users/${user.body.id}`, { role: "member", name: "Rolf" });
      expect((await entries("what=users"))[0]?.changes).toEqual([{ field: "role", before: "viewer", after: "member" }]);
      const otpGuard = { ...DEFAULT_GUARD, prefixUnused: 33 };
      expect((await owner.request("PATCH", "/api/account", { otpGuard })).status).toBe(200);
      expect((await entries("what=account"))[0]?.changes).toEqual([
        { field: "otpGuard.prefixUnused", before: "20", after: "33" },
      ]);
      await owner.request("PATCH", "/api/account", { otpGuard: DEFAULT_GUARD });
    });

    test("the audit log has changes by keys and sends by users, but no sends by programs and no reads", async () => {
      const now = since();
      const sms = { sender: "HELIOG", to: "15550100100", text: "canary text", type: "TRANS" };
      await asKey("POST", "/v1/sms", sms);
      await asKey("GET", "/api/keys");
      await owner.request("GET", "/api/keys");
      await owner.request("POST", "/v1/sms/preview", sms);
      await owner.request("PUT", "/api/config?dryRun=true", {});
      await owner.request("POST", "/api/keys", { scopes: ["read"] });
      await owner.request("POST", "/v1/sms", sms);
      await asKey("POST", "/api/optouts", { number: "15550166077", note: "canary note" });
      await asKey("DELETE", "/api/optouts/15550166077");
      const found = await entries(now);
      expect(found.map(({ actor, action, recordId }) => [actor.kind, action, recordId])).toEqual([
        ["key", "DELETE /api/optouts/{number}", "*******6077"],
        ["key", "POST /api/optouts", null],
        ["user", "POST /v1/sms", expect.stringMatching(/^[0-9a-f-]{36}$/)],
      ]);
      expect(found[0]?.actor.name).toBe("First live key");
      expect(JSON.stringify(found)).not.toMatch(/canary|15550166077|15550100100/);
    });

    test("the audit log has logins, failed ones, lockouts and logouts, without passwords", async () => {
      const now = since();
      const ann = await newPerson();
      const from = elsewhere();
      const typed = { email: ann.email, password: "canary password" };
      for (let n = 1; n <= 6; n += 1) await ask("POST", "/api/session", typed, from);
      await ask("POST", "/api/session", { email: "canary@example.com", password: "canary password" }, from);
      const person = await enter(ann);
      await person.request("PATCH", "/api/session/password", { current: "canary password", next: "canary password 2" });
      await person.request("DELETE", "/api/session");
      const found = await entries(`${now}&what=session`);
      expect(new Set(found.map(({ summary }) => summary))).toEqual(
        new Set(["Logged out", "Login failed", "Logged in", "Login locked after failed attempts"]),
      );
      expect(found.map(({ actor, action, recordName }) => [actor.name, action, recordName])).toEqual([
        [ann.email, "logout", null],
        [null, "login failed", ann.email],
        [ann.email, "login", ann.email],
        [null, "login locked", ann.email],
        ...Array.from({ length: 4 }, () => [null, "login failed", ann.email]),
      ]);
      expect(found.at(-1)?.address).toBe(from["x-forwarded-for"]);
      const rows = JSON.stringify(await tenants.execute("select * from audit"));
      expect(rows).not.toContain("canary password");
      expect(rows).not.toContain("canary@example.com");
    });

    test("the audit log is paged, and filtered by user, action and time", async () => {
      const now = since();
      const ids = [];
      for (const name of ["one", "two", "three"]) {
        const { body } = await owner.request<{ id: string }>("POST", "/api/senders", { name });
        ids.unshift(body.id);
      }
      await asKey("POST", "/api/senders", { name: "four" });
      const who = `who=${owner.session.user.id}`;
      const first = await owner.request<{ data: EntryBody[]; nextCursor: string }>(
        "GET",
        `/api/audit?${now}&${who}&limit=2`,
      );
      const second = await owner.request<{ data: EntryBody[] }>(
        "GET",
        `/api/audit?${now}&${who}&limit=2&cursor=${first.body.nextCursor}`,
      );
      expect([...first.body.data, ...second.body.data].map(({ recordId }) => recordId)).toEqual(ids);
      expect(await entries(`${now}&what=senders`)).toHaveLength(4);
      expect(await entries(`${now}&what=senders&who=${encodeURIComponent("First live key")}`)).toHaveLength(1);
      expect(await entries(`what=senders&to=${clock.now()}`)).toEqual([]);
      const wrong = await owner.request<Failure>("GET", "/api/audit?from=yesterday&cursor=1&limit=0");
      expect(wrong.body.error.details.map(({ parameter }) => parameter)).toEqual(["limit", "from", "cursor"]);
    });

    test("the audit log is separate per account", async () => {
      const { minted } = await tenants.addAccount("apart");
      const now = since();
      await owner.request("POST", "/api/senders", { name: "five" });
      const { body } = await ask<{ data: EntryBody[] }>("GET", `/api/audit?${now}`, undefined, {
        apikey: minted.secret,
      });
      expect(body.data).toEqual([]);
    });
  });
});

/** Base 32 as an app reads it. */
function decode(text: string): Buffer {
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
  const bits = Array.from(text, (sign) => alphabet.indexOf(sign).toString(2).padStart(5, "0"));
  const bytes = bits.join("").match(/.{8}/g) ?? [];
  return Buffer.from(bytes.map((byte) => Number.parseInt(byte, 2)));
}
