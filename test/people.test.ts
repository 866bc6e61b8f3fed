import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { totpCode } from "../src/accounts/totp.ts";
import { SCOPES } from "../src/model/api-key.ts";
import { ENGINES } from "./support/engines.ts";
import { openTenants, type Tenants } from "./fuzz/tenants.ts";
import type { Answer, ErrorBody } from "./support/house.ts";
import { MovedClock } from "./support/moved-clock.ts";
import { askBare, logIn, type Person, type SessionBody } from "./support/person.ts";

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
  kind: string;
  recordId: string | null;
  recordName: string | null;
  fields: string[];
  address: string;
}

type Failure = { message: string; error: ErrorBody };

describe.each(ENGINES)("people on %s", (engine) => {
  let tenants: Tenants;
  let clock: MovedClock;
  let owner: Person;
  let address = 0;

  /** Everybody calls from somewhere else, unless a test says otherwise. */
  const elsewhere = (): { "x-forwarded-for": string } => {
    address += 1;
    return { "x-forwarded-for": `10.4.${Math.floor(address / 250)}.${(address % 250) + 1}` };
  };
  const ask = <T>(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
    askBare<T>(tenants.house.url, method, path, body, { ...elsewhere(), ...headers });
  const asKey = <T>(method: string, path: string, body?: unknown) =>
    ask<T>(method, path, body, { apikey: tenants.house.key });
  const outcome = ({ status, body }: Answer<unknown>): string =>
    `${status} ${(body as Partial<Failure>).error?.code ?? "ok"}`;

  let made = 0;
  async function newPerson(role = "member"): Promise<{ email: string; password: string; id: string }> {
    made += 1;
    const credentials = { email: `person-${made}@example.com`, password: PASSWORD };
    const { body } = await asKey<UserBody>("POST", "/api/users", { ...credentials, role });
    return { ...credentials, id: body.id };
  }
  const enter = (credentials: { email: string; password: string; totp?: string }): Promise<Person> => {
    const { email, password, totp } = credentials;
    return logIn(tenants.house.url, { email, password, ...(totp === undefined ? {} : { totp }) }, elsewhere());
  };

  beforeAll(async () => {
    clock = new MovedClock();
    tenants = await openTenants(engine, clock);
    owner = await enter(await newPerson("owner"));
  });
  afterAll(() => tenants.close());

  describe("a wrong password", () => {
    const tryIt = (email: string, from: { "x-forwarded-for": string }, password = "wrong password") =>
      ask<Failure>("POST", "/api/session", { email, password }, from);

    test("five times closes the login for a minute, then for twice as long, and the right one opens it for good", async () => {
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

    test("from one place leaves everybody else's login open, and the same person's elsewhere", async () => {
      const [ann, bob] = [await newPerson(), await newPerson()];
      const from = elsewhere();
      for (let n = 1; n <= 6; n += 1) await tryIt(ann.email, from);
      expect(outcome(await tryIt(ann.email, from, PASSWORD))).toBe("429 LOGIN_LOCKED");
      expect(outcome(await tryIt(bob.email, from, PASSWORD))).toBe("200 ok");
      expect(outcome(await tryIt(ann.email, elsewhere(), PASSWORD))).toBe("200 ok");
    });

    test("counts for all addresses of a network of IPv6 together", async () => {
      const { email } = await newPerson();
      for (let n = 1; n <= 5; n += 1) await tryIt(email, { "x-forwarded-for": `2001:db8:1:2::${n}` });
      expect(outcome(await tryIt(email, { "x-forwarded-for": "2001:db8:1:2:ffff::1" }))).toBe("429 LOGIN_LOCKED");
      expect(outcome(await tryIt(email, { "x-forwarded-for": "2001:db8:1:3::1" }))).toBe("401 LOGIN_FAILED");
    });

    test("is looked at five times, of however many at once", async () => {
      const { email } = await newPerson();
      const from = elsewhere();
      const tries = await Promise.all(Array.from({ length: 25 }, () => tryIt(email, from)));
      expect(tries.filter(({ status }) => status === 401)).toHaveLength(5);
      expect(tries.filter(({ status }) => status === 429)).toHaveLength(20);
    });

    test("for somebody unknown, or disabled, is answered with the same bytes, and locks alike", async () => {
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

    test("for ever other people from one place is slowed down as well", async () => {
      clock.advance(MINUTE_MS);
      const from = elsewhere();
      const tries = [];
      for (let n = 1; n <= 31; n += 1) tries.push(await tryIt(`guess-${n}@example.com`, from));
      expect(tries.slice(0, 30).map(outcome)).toEqual(Array(30).fill("401 LOGIN_FAILED"));
      expect(outcome(tries[30] as Answer<Failure>)).toBe("429 RATE_LIMITED");
    });
  });

  describe("a password", () => {
    test("is changed by who knows it, and ends every other session", async () => {
      const ann = await newPerson();
      const [here, there] = [await enter(ann), await enter(ann)];
      const change = (current: string, next: string) =>
        here.ask<Failure>("PATCH", "/api/session/password", { current, next });
      expect(outcome(await change("wrong password", "a new password"))).toBe("403 PASSWORD_INCORRECT");
      expect(outcome(await change(PASSWORD, "a new password"))).toBe("200 ok");
      expect((await here.ask("GET", "/api/session")).status).toBe(200);
      expect((await there.ask("GET", "/api/session")).status).toBe(401);
      await enter({ ...ann, password: "a new password" });
      await expect(enter(ann)).rejects.toThrow("LOGIN_FAILED");
    });

    test.each(["short", "", "person@example.com", "aaaaaaaaaaaaa", "x".repeat(201)])("is not %j", async (next) => {
      const email = "person@example.com";
      await asKey("POST", "/api/users", { email, role: "viewer", password: PASSWORD });
      const person = await enter({ email, password: PASSWORD });
      const { status, body } = await person.ask<Failure>("PATCH", "/api/session/password", { current: PASSWORD, next });
      expect([status, body.error.parameter]).toEqual([400, "next"]);
    });

    test("is guessed no faster with somebody's open browser than at the door", async () => {
      const ann = await newPerson();
      const person = await enter(ann);
      const guess = () => person.ask("PATCH", "/api/session/password", { current: "wrong", next: "a new password" });
      for (let n = 1; n <= 5; n += 1) expect(outcome(await guess())).toBe("403 PASSWORD_INCORRECT");
      expect(outcome(await guess())).toBe("429 LOGIN_LOCKED");
    });
  });

  describe("the second factor", () => {
    /** Somebody with an app, and the app. */
    async function withApp() {
      const credentials = await newPerson();
      const person = await enter(credentials);
      const { body } = await person.ask<{ secret: string; otpauthUrl: string }>("POST", "/api/session/totp", {
        password: credentials.password,
      });
      const secret = decode(body.secret);
      const code = (): string => totpCode(secret, Math.floor(clock.now() / STEP_MS));
      const on = await person.ask<{ recoveryCodes: string[] }>("PUT", "/api/session/totp", { code: code() });
      clock.advance(STEP_MS);
      return { credentials, person, code, begun: body, on };
    }
    const attempt = (credentials: object, totp?: string, headers = {}) =>
      ask<SessionBody>("POST", "/api/session", { ...credentials, id: undefined, ...(totp && { totp }) }, headers);

    test("is asked for once it is on, and a code is good once", async () => {
      const { credentials, person, code, begun, on } = await withApp();
      expect(begun.otpauthUrl).toContain(`secret=${begun.secret}`);
      expect(on.status).toBe(200);
      expect(on.body.recoveryCodes).toHaveLength(10);
      expect((await person.ask<SessionBody>("GET", "/api/session")).body.user.totp).toBe(true);
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

    test("lets in by each recovery code once", async () => {
      const { credentials, on } = await withApp();
      const [first = "", second = ""] = on.body.recoveryCodes;
      expect(outcome(await attempt(credentials, first))).toBe("200 ok");
      expect(outcome(await attempt(credentials, first))).toBe("401 LOGIN_FAILED");
      expect(outcome(await attempt(credentials, second.toUpperCase().replaceAll("-", "")))).toBe("200 ok");
    });

    test("is guessed five times, from wherever it is tried", async () => {
      const { credentials, code } = await withApp();
      for (let n = 1; n <= 5; n += 1) expect(outcome(await attempt(credentials, "000000"))).toBe("401 LOGIN_FAILED");
      expect(outcome(await attempt(credentials, code()))).toBe("429 LOGIN_LOCKED");
      clock.advance(MINUTE_MS);
      expect(outcome(await attempt(credentials, code()))).toBe("200 ok");
    });

    test("being asked for it is no wrong try", async () => {
      const { credentials, code } = await withApp();
      const from = elsewhere();
      for (let n = 1; n <= 7; n += 1)
        expect(outcome(await attempt(credentials, undefined, from))).toBe("401 TOTP_REQUIRED");
      expect(outcome(await attempt(credentials, code(), from))).toBe("200 ok");
    });

    test("is begun with the password only, and wrong ones count as failed logins", async () => {
      const credentials = await newPerson();
      const person = await enter(credentials);
      const begin = async (password: string) => outcome(await person.ask("POST", "/api/session/totp", { password }));
      expect(await begin("not it at all")).toMatch(/ PASSWORD_INCORRECT$/);
      expect(outcome(await person.ask("PUT", "/api/session/totp", { code: "000000" }))).toBe("400 TOTP_INCORRECT");
      expect(await begin(credentials.password)).toBe("200 ok");
      for (let n = 1; n <= 4; n += 1) await begin("not it at all");
      expect(await begin("not it at all")).toMatch(/ PASSWORD_INCORRECT$/);
      expect(await begin(credentials.password)).toBe("429 LOGIN_LOCKED");
    });

    test("needs its first code to count, and is begun only while it is off", async () => {
      const credentials = await newPerson();
      const person = await enter(credentials);
      expect(outcome(await person.ask("PUT", "/api/session/totp", { code: "000000" }))).toBe("400 TOTP_INCORRECT");
      await person.ask("POST", "/api/session/totp", { password: credentials.password });
      expect(outcome(await person.ask("PUT", "/api/session/totp", { code: "000000" }))).toBe("400 TOTP_INCORRECT");
      expect(outcome(await attempt(credentials))).toBe("200 ok");
      const { person: other } = await withApp();
      const again = { password: credentials.password };
      expect(outcome(await other.ask("POST", "/api/session/totp", again))).toBe("409 TOTP_ALREADY_ON");
      expect(outcome(await other.ask("PUT", "/api/session/totp", { code: "000000" }))).toBe("409 TOTP_ALREADY_ON");
    });

    test("is switched off by who has the password and a code", async () => {
      const { credentials, person, code } = await withApp();
      const off = (password: string, given: string) =>
        person.ask("DELETE", "/api/session/totp", { password, code: given });
      expect(outcome(await off("wrong password", code()))).toBe("403 PASSWORD_INCORRECT");
      expect(outcome(await off(PASSWORD, "000000"))).toBe("400 TOTP_INCORRECT");
      expect(outcome(await off(PASSWORD, code()))).toBe("200 ok");
      expect(outcome(await off(PASSWORD, code()))).toBe("404 RECORD_NOT_FOUND");
      expect(outcome(await attempt(credentials))).toBe("200 ok");
    });

    test("lies sealed in the store, and its recovery codes as digests", async () => {
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
    test("makes somebody with a password of their own to choose at the first login", async () => {
      const { status, body } = await owner.ask<UserBody>("POST", "/api/users", {
        email: " Cara@Example.com ",
        role: "member",
      });
      expect(status).toBe(201);
      expect(body).toMatchObject({ email: "cara@example.com", role: "member", passwordDue: true, lastLoginAt: null });
      const password = body.password ?? "";
      expect(password.length).toBeGreaterThan(15);
      const cara = await enter({ email: "cara@example.com", password });
      expect(cara.session.user.passwordDue).toBe(true);
      expect(outcome(await cara.ask("GET", "/api/account"))).toBe("403 PASSWORD_CHANGE_REQUIRED");
      expect(outcome(await cara.ask("PATCH", "/api/session/password", { current: password, next: PASSWORD }))).toBe(
        "200 ok",
      );
      expect(outcome(await cara.ask("GET", "/api/account"))).toBe("200 ok");
      const { body: read } = await owner.ask<UserBody>("GET", `/api/users/${body.id}`);
      expect(read).toMatchObject({ passwordDue: false, lastLoginAt: clock.now() });
      expect(JSON.stringify(read)).not.toContain(password);
    });

    test("is told every fault at once, and that an address is taken", async () => {
      const { body } = await owner.ask<Failure>("POST", "/api/users", {
        email: "none",
        name: "a\nb",
        role: "member",
        password: "short",
      });
      expect(body.error.details.map(({ parameter }) => parameter)).toEqual(["email", "name", "password"]);
      const { email } = await newPerson();
      const taken = await owner.ask<Failure>("POST", "/api/users", { email, role: "viewer" });
      expect([outcome(taken), taken.body.error.parameter]).toEqual(["409 NAME_TAKEN", "email"]);
      expect(outcome(await owner.ask("POST", "/api/users", { email: "x@example.com", role: "king" }))).toBe(
        "400 INVALID_REQUEST",
      );
    });

    test("lists, changes and removes people, and lets who has lost everything in again", async () => {
      const ann = await newPerson("viewer");
      const session = await enter(ann);
      const path = `/api/users/${ann.id}`;
      const { body: listed } = await owner.ask<{ data: UserBody[] }>("GET", "/api/users?limit=200");
      expect(listed.data.find(({ id }) => id === ann.id)).toMatchObject({ email: ann.email, role: "viewer" });
      const { body: changed } = await owner.ask<UserBody>("PATCH", path, { name: "Ann", role: "member" });
      expect(changed).toMatchObject({ name: "Ann", role: "member", disabled: false });
      const own = `/api/users/${owner.session.user.id}/reset-password`;
      expect(outcome(await owner.ask("POST", own))).toBe("400 INVALID_REQUEST");
      const { body: reset } = await owner.ask<UserBody>("POST", `${path}/reset-password`);
      expect(reset).toMatchObject({ passwordDue: true, totp: false });
      expect((await session.ask("GET", "/api/session")).status).toBe(401);
      await expect(enter(ann)).rejects.toThrow("LOGIN_FAILED");
      const again = await enter({ ...ann, password: reset.password ?? "" });
      expect(outcome(await owner.ask("DELETE", path))).toBe("200 ok");
      expect((await again.ask("GET", "/api/session")).status).toBe(401);
      expect(outcome(await owner.ask("GET", path))).toBe("404 RECORD_NOT_FOUND");
      expect(outcome(await owner.ask("DELETE", "/api/users/none"))).toBe("404 RECORD_NOT_FOUND");
    });

    test("is never the last to go", async () => {
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

  test("a key that cannot do everything makes nobody who can", async () => {
    const wish = { email: "risen@example.com", role: "owner" };
    const test_ = await tenants.addKey(1, {}, "test");
    const lesser = await tenants.addKey(1, { scopes: SCOPES.filter((scope) => scope !== "sms") });
    for (const { secret } of [test_, lesser]) {
      const headers = { apikey: secret };
      expect(outcome(await ask("POST", "/api/users", wish, headers))).toBe("403 INSUFFICIENT_SCOPE");
      const path = `/api/users/${owner.session.user.id}`;
      expect(outcome(await ask("PATCH", path, { role: "viewer" }, headers))).toBe("403 INSUFFICIENT_SCOPE");
      expect(outcome(await ask("POST", `${path}/reset-password`, {}, headers))).toBe("403 INSUFFICIENT_SCOPE");
      expect(outcome(await ask("DELETE", path, undefined, headers))).toBe("403 INSUFFICIENT_SCOPE");
    }
  });

  describe("the log of changes", () => {
    const entries = async (query: string): Promise<EntryBody[]> =>
      (await owner.ask<{ data: EntryBody[] }>("GET", `/api/audit?${query}`)).body.data;
    const since = (): string => {
      clock.advance(1);
      return `from=${clock.now()}`;
    };

    test("says who changed what, when and from where, and nothing of what was in it", async () => {
      const now = since();
      const body = { name: "canary-name", url: "https://canary.example/secret", method: "POST", headers: [] };
      const made_ = await owner.ask<{ id: string; secret: string }>("POST", "/api/dlr-configs", body);
      expect(made_.status).toBe(201);
      const [entry, ...others] = await entries(now);
      expect(others).toEqual([]);
      expect(entry).toEqual({
        id: expect.any(String),
        at: clock.now(),
        actor: { kind: "user", id: owner.session.user.id, name: owner.session.user.email },
        action: "POST /api/dlr-configs",
        kind: "dlr-configs",
        recordId: made_.body.id,
        recordName: "canary-name",
        fields: ["name", "url", "method", "headers"],
        address: expect.stringMatching(/^10\.4\./),
      });
      expect(JSON.stringify(entry)).not.toContain("canary.example");
      expect(JSON.stringify(entry)).not.toContain(made_.body.secret);
    });

    test("has what keys do as well, and what people send, but not what programs send or anybody reads", async () => {
      const now = since();
      const sms = { sender: "HELIOG", to: "15550100100", text: "canary text", type: "TRANS" };
      await asKey("POST", "/v1/sms", sms);
      await asKey("GET", "/api/keys");
      await owner.ask("GET", "/api/keys");
      await owner.ask("POST", "/v1/sms/preview", sms);
      await owner.ask("PUT", "/api/config?dryRun=true", {});
      await owner.ask("POST", "/api/keys", { scopes: ["read"] });
      await owner.ask("POST", "/v1/sms", sms);
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

    test("has logins, failed ones, lockouts and logouts, and not what was typed", async () => {
      const now = since();
      const ann = await newPerson();
      const from = elsewhere();
      const typed = { email: ann.email, password: "canary password" };
      for (let n = 1; n <= 6; n += 1) await ask("POST", "/api/session", typed, from);
      await ask("POST", "/api/session", { email: "canary@example.com", password: "canary password" }, from);
      const person = await enter(ann);
      await person.ask("PATCH", "/api/session/password", { current: "canary password", next: "canary password 2" });
      await person.ask("DELETE", "/api/session");
      const found = await entries(`${now}&what=session`);
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

    test("is read page by page, by who, what and when", async () => {
      const now = since();
      const ids = [];
      for (const name of ["one", "two", "three"]) {
        const { body } = await owner.ask<{ id: string }>("POST", "/api/senders", { name });
        ids.unshift(body.id);
      }
      await asKey("POST", "/api/senders", { name: "four" });
      const who = `who=${owner.session.user.id}`;
      const first = await owner.ask<{ data: EntryBody[]; nextCursor: string }>(
        "GET",
        `/api/audit?${now}&${who}&limit=2`,
      );
      const second = await owner.ask<{ data: EntryBody[] }>(
        "GET",
        `/api/audit?${now}&${who}&limit=2&cursor=${first.body.nextCursor}`,
      );
      expect([...first.body.data, ...second.body.data].map(({ recordId }) => recordId)).toEqual(ids);
      expect(await entries(`${now}&what=senders`)).toHaveLength(4);
      expect(await entries(`${now}&what=senders&who=${encodeURIComponent("First live key")}`)).toHaveLength(1);
      expect(await entries(`what=senders&to=${clock.now()}`)).toEqual([]);
      const wrong = await owner.ask<Failure>("GET", "/api/audit?from=yesterday&cursor=1&limit=0");
      expect(wrong.body.error.details.map(({ parameter }) => parameter)).toEqual(["limit", "from", "cursor"]);
    });

    test("is each account's own", async () => {
      const { minted } = await tenants.addAccount("apart");
      const now = since();
      await owner.ask("POST", "/api/senders", { name: "five" });
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
