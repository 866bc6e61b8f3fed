import { rm } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createPeopleSecrets } from "../src/accounts/people-secrets.ts";
import { startApp } from "../src/app.ts";
import { readConfig } from "../src/config.ts";
import { ENGINES } from "./support/engines.ts";
import { openHouse, type ErrorBody, type House } from "./support/house.ts";
import { MovedClock } from "./support/moved-clock.ts";
import { askBare, cookieOf, logIn, type Person, type SessionBody } from "./support/person.ts";

const EMAIL = "owner@example.com";
const PASSWORD = "correct horse battery";
const HOUR_MS = 3_600_000;
const MASTER_KEY = "a master key that the test knows";

type Failure = { error: ErrorBody };

describe.each(ENGINES)("sessions on %s", (engine) => {
  let house: House;
  let clock: MovedClock;
  const owner = { email: EMAIL, password: PASSWORD };
  const env = {
    HELIOGRAPH_ADMIN_EMAIL: "Owner@Example.com",
    HELIOGRAPH_ADMIN_PASSWORD: PASSWORD,
    HELIOGRAPH_MASTER_KEY: MASTER_KEY,
  };

  beforeAll(async () => {
    clock = new MovedClock();
    house = await openHouse(engine, { clock, env });
  });
  afterAll(() => house.close());

  const ask = <T>(method: string, path: string, body?: unknown, headers?: Record<string, string>) =>
    askBare<T>(house.url, method, path, body, headers);
  const codeOf = async (asked: Promise<{ status: number; body: Failure }>): Promise<string> => {
    const { status, body } = await asked;
    return `${status} ${body.error.code}`;
  };

  test("a login answers who it is, and sets a cookie for this host that no script reads", async () => {
    const answer = await ask<SessionBody>("POST", "/api/session", { ...owner, email: " OWNER@example.com" });
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({
      user: {
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        email: EMAIL,
        name: "",
        role: "owner",
        totp: false,
        passwordDue: false,
      },
      account: { id: 1, name: "default" },
      csrfToken: expect.stringMatching(/^[\w-]{43}$/),
      expiresAt: clock.now() + 12 * HOUR_MS,
    });
    const set = answer.headers.get("set-cookie") ?? "";
    expect(set).toMatch(/^heliograph_session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax; Max-Age=604800$/);
    expect(answer.headers.get("cache-control")).toBe("no-store");
    expect(JSON.stringify(answer.body)).not.toContain(cookieOf(answer).split("=")[1]);
  });

  test("the session says who is logged in, and works as its account's key would", async () => {
    const person = await logIn(house.url, owner);
    const read = await person.ask<SessionBody>("GET", "/api/session");
    expect(read).toMatchObject({ status: 200, body: person.session });
    const { body } = await person.ask<{ name: string }>("GET", "/api/account");
    expect(body.name).toBe("default");
    const sent = await person.ask("POST", "/v1/sms", {
      sender: "HELIOG",
      to: "15550100100",
      text: "Hi",
      type: "TRANS",
    });
    expect(sent.status).toBe(200);
  });

  test("without a session there is nobody, and a key is no person", async () => {
    for (const headers of [
      {},
      { cookie: "heliograph_session=" },
      { cookie: `heliograph_session=${"a".repeat(43)}` },
      { apikey: house.key },
    ])
      expect(await codeOf(ask("GET", "/api/session", undefined, headers))).toBe("401 LOGIN_REQUIRED");
    const cookie = { cookie: `other=1; heliograph_session=${"a".repeat(43)}` };
    expect(await codeOf(ask("GET", "/api/account", undefined, cookie))).toBe("401 LOGIN_REQUIRED");
  });

  test("two different cookies of the name are nobody's", async () => {
    const { cookie } = await logIn(house.url, owner);
    const other = await logIn(house.url, owner);
    const both = { cookie: `${cookie}; ${other.cookie}` };
    expect(await codeOf(ask("GET", "/api/session", undefined, both))).toBe("401 LOGIN_REQUIRED");
    expect((await ask("GET", "/api/session", undefined, { cookie: `${cookie}; ${cookie}` })).status).toBe(200);
  });

  test("logging out ends the session and takes the cookie away", async () => {
    const person = await logIn(house.url, owner);
    const left = await person.ask("DELETE", "/api/session");
    expect(left).toMatchObject({ status: 200, body: { ended: true } });
    expect(left.headers.get("set-cookie")).toMatch(/^heliograph_session=; Path=\/; HttpOnly; SameSite=Lax; Max-Age=0$/);
    expect(await codeOf(person.ask("GET", "/api/session"))).toBe("401 LOGIN_REQUIRED");
    expect(await codeOf(person.ask("GET", "/v1/messages"))).toBe("401 LOGIN_REQUIRED");
  });

  test("every login has a token of its own, and ends the session that the browser had before", async () => {
    const first = await logIn(house.url, owner);
    const second = await ask<SessionBody>("POST", "/api/session", owner, { cookie: first.cookie });
    expect(second.status).toBe(200);
    expect(cookieOf(second)).not.toBe(first.cookie);
    expect(second.body.csrfToken).not.toBe(first.session.csrfToken);
    expect(await codeOf(first.ask("GET", "/api/session"))).toBe("401 LOGIN_REQUIRED");
  });

  test("a token that somebody chose is never taken up", async () => {
    const chosen = `heliograph_session=${"x".repeat(43)}`;
    const answer = await ask("POST", "/api/session", owner, { cookie: chosen });
    expect(cookieOf(answer)).not.toBe(chosen);
    expect(await codeOf(ask("GET", "/api/session", undefined, { cookie: chosen }))).toBe("401 LOGIN_REQUIRED");
  });

  test("a session that is used goes on until its seventh day is over", async () => {
    const person = await logIn(house.url, owner);
    const openedAt = clock.now();
    for (let hour = 11; hour < 7 * 24; hour += 11) {
      clock.advance(11 * HOUR_MS);
      const { body } = await person.ask<SessionBody>("GET", "/api/session");
      expect(body.expiresAt).toBe(Math.min(clock.now() + 12 * HOUR_MS, openedAt + 7 * 24 * HOUR_MS));
    }
    clock.advance(openedAt + 7 * 24 * HOUR_MS - clock.now());
    expect(await codeOf(person.ask("GET", "/api/session"))).toBe("401 LOGIN_REQUIRED");
  });

  test("a session that nobody uses ends after twelve hours", async () => {
    const person = await logIn(house.url, owner);
    clock.advance(12 * HOUR_MS - 1);
    expect((await person.ask("GET", "/api/account")).status).toBe(200);
    clock.advance(12 * HOUR_MS);
    expect(await codeOf(person.ask("GET", "/api/account"))).toBe("401 LOGIN_REQUIRED");
  });

  test("a stream that a page follows ends after ten minutes to ask again who is there, and is no use of the session", async () => {
    const person = await logIn(house.url, owner);
    const stream = await fetch(`${house.url}/api/simulator/events`, { headers: { cookie: person.cookie } });
    const byKey = await fetch(`${house.url}/api/simulator/events`, { headers: { apikey: house.key } });
    const ended = stream.text();
    clock.advance(10 * 60_000);
    expect(await ended).toContain(": open");
    const reader = byKey.body?.getReader();
    expect((await reader?.read())?.done).toBe(false);
    await reader?.cancel();
    for (let hour = 1; hour < 12; hour += 1) {
      clock.advance(HOUR_MS);
      const again = await fetch(`${house.url}/api/simulator/events`, { headers: { cookie: person.cookie } });
      await again.body?.cancel();
    }
    clock.advance(HOUR_MS);
    expect(await codeOf(person.ask("GET", "/api/session"))).toBe("401 LOGIN_REQUIRED");
  });

  describe("a request that changes something", () => {
    let person: Person;
    beforeAll(async () => {
      person = await logIn(house.url, owner);
    });
    const change = (headers: Record<string, string>) =>
      ask<Failure>("PATCH", "/api/account", {}, { cookie: person.cookie, ...headers });

    test("needs the session's own token", async () => {
      const { csrfToken } = person.session;
      const other = await logIn(house.url, owner);
      for (const headers of [
        {},
        { "x-csrf-token": "" },
        { "x-csrf-token": "x".repeat(43) },
        { "x-csrf-token": csrfToken.slice(1) },
        { "x-csrf-token": `${csrfToken}, ${csrfToken}` },
        { "x-csrf-token": other.session.csrfToken },
      ])
        expect(await codeOf(change(headers as Record<string, string>))).toBe("403 CSRF_REFUSED");
      expect((await change({ "x-csrf-token": csrfToken })).status).toBe(200);
    });

    test("comes from a page of this server, where it says where it comes from", async () => {
      const token = { "x-csrf-token": person.session.csrfToken };
      for (const origin of [
        "https://evil.example",
        "null",
        house.url.replace(/:\d+$/, ":1"),
        `${house.url}.evil.example`,
      ])
        expect(await codeOf(change({ ...token, origin }))).toBe("403 CSRF_REFUSED");
      expect((await change({ ...token, origin: house.url })).status).toBe(200);
    });

    test("needs no token where a key comes along, because then the key counts", async () => {
      expect((await change({ apikey: house.key })).status).toBe(200);
      expect(await codeOf(change({ apikey: "wrong" }))).toBe("401 UNAUTHORIZED");
      expect(await codeOf(change({ apikey: "", "x-csrf-token": person.session.csrfToken }))).toBe("401 UNAUTHORIZED");
    });

    test("is refused at the express door just the same", async () => {
      const sms = { sender: "HELIOG", to: "15550100100", text: "Hi", type: "TRANS" };
      expect(await codeOf(ask("POST", "/v1/sms", sms, { cookie: person.cookie }))).toBe("403 CSRF_REFUSED");
    });

    test("can be no form: a login, too, takes JSON alone and no other site's page", async () => {
      const form = await fetch(`${house.url}/api/session`, {
        method: "POST",
        headers: { "content-type": "text/plain" },
        body: JSON.stringify(owner),
      });
      expect(form.status).toBe(415);
      expect(form.headers.get("set-cookie")).toBeNull();
      const foreign = ask<Failure>("POST", "/api/session", owner, { origin: "https://evil.example" });
      expect(await codeOf(foreign)).toBe("403 CSRF_REFUSED");
    });
  });

  test("the store holds neither the token nor the password of a session", async () => {
    const person = await logIn(house.url, owner);
    const digest = createPeopleSecrets(Buffer.from(MASTER_KEY)).sessionDigest(person.cookie.split("=")[1] ?? "");
    const found = await house.app.store.findSession(digest);
    expect(found?.user.email).toBe(EMAIL);
    expect(JSON.stringify(found)).not.toContain(person.cookie.split("=")[1]);
    expect(JSON.stringify(found)).not.toContain(PASSWORD);
  });

  test("another process that starts on the same store knows the session, and what was tried in vain", async () => {
    const away = await openHouse(engine, { clock, env });
    const person = await logIn(away.url, owner);
    const wrong = { email: "someone@example.com", password: "wrong password" };
    for (let n = 1; n <= 5; n += 1) await askBare(away.url, "POST", "/api/session", wrong);
    const locked = await askBare<Failure>(away.url, "POST", "/api/session", wrong);
    expect(locked.status).toBe(429);
    // On SQLite there is one process at a time.
    if (engine === "sqlite") await away.app.stop();
    const next = await startApp(readConfig(away.env), { clock });
    const cookie = { cookie: person.cookie };
    expect((await askBare(next.url, "GET", "/api/session", undefined, cookie)).status).toBe(200);
    expect((await askBare(next.url, "POST", "/api/session", wrong)).status).toBe(429);
    await askBare(next.url, "DELETE", "/api/session", undefined, {
      ...cookie,
      "x-csrf-token": person.session.csrfToken,
    });
    expect((await askBare(next.url, "GET", "/api/session", undefined, cookie)).status).toBe(401);
    const last = engine === "sqlite" ? next.url : away.url;
    expect((await askBare(last, "GET", "/api/session", undefined, cookie)).status).toBe(401);
    await next.stop();
    if (engine === "postgres") await away.close();
    else await rm(away.env["HELIOGRAPH_DATA_DIR"] ?? "", { recursive: true });
  });

  test("only one that looks needs no token", async () => {
    const person = await logIn(house.url, owner);
    const head = await fetch(`${house.url}/api/account`, { method: "HEAD", headers: { cookie: person.cookie } });
    expect(head.status).toBe(200);
    expect((await person.ask("GET", "/api/account", undefined, { origin: "https://evil.example" })).status).toBe(200);
  });
});

test("the cookie is for encrypted lines alone where the server's address says that they are", async () => {
  const house = await openHouse("sqlite", {
    env: { HELIOGRAPH_BASE_URL: "https://hg.example.com", HELIOGRAPH_ADMIN_PASSWORD: PASSWORD },
  });
  const credentials = { email: "admin@localhost", password: PASSWORD };
  const answer = await askBare(house.url, "POST", "/api/session", credentials, { origin: "https://hg.example.com" });
  expect(answer.headers.get("set-cookie")).toMatch(/; Secure$/);
  await house.close();
});
