import { rm } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createUserSecrets } from "../../src/accounts/user-secrets.ts";
import { startApp } from "../../src/app/start.ts";
import { readConfig } from "../../src/config.ts";
import { ENGINES } from "../support/engines.ts";
import { startTestServer, type ErrorBody, type TestServer } from "../support/test-server.ts";
import { MovedClock } from "../support/moved-clock.ts";
import { requestAnonymously, cookieOf, logIn, type SessionUser, type SessionBody } from "../support/session-user.ts";

const EMAIL = "owner@example.com";
const PASSWORD = "correct horse battery";
const HOUR_MS = 3_600_000;
const MASTER_KEY = "a master key that the test knows";

type Failure = { error: ErrorBody };

describe.each(ENGINES)("sessions on %s", (engine) => {
  let server: TestServer;
  let clock: MovedClock;
  const owner = { email: EMAIL, password: PASSWORD };
  const env = {
    HELIOGRAPH_ADMIN_EMAIL: "Owner@Example.com",
    HELIOGRAPH_ADMIN_PASSWORD: PASSWORD,
    HELIOGRAPH_MASTER_KEY: MASTER_KEY,
  };

  beforeAll(async () => {
    clock = new MovedClock();
    server = await startTestServer(engine, { clock, env });
  });
  afterAll(() => server.close());

  const ask = <T>(method: string, path: string, body?: unknown, headers?: Record<string, string>) =>
    requestAnonymously<T>(server.url, method, path, body, headers);
  const codeOf = async (asked: Promise<{ status: number; body: Failure }>): Promise<string> => {
    const { status, body } = await asked;
    return `${status} ${body.error.code}`;
  };

  test("a login returns the user, and sets a host-only cookie that no script can read", async () => {
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
    expect(set).toMatch(
      /^heliograph_session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax; Max-Age=604800, heliograph_browser=/,
    );
    expect(answer.headers.get("cache-control")).toBe("no-store");
    expect(JSON.stringify(answer.body)).not.toContain(cookieOf(answer).split("=")[1]);
  });

  test("a session shows its user, and works like a key of the account", async () => {
    const person = await logIn(server.url, owner);
    const read = await person.request<SessionBody>("GET", "/api/session");
    expect(read).toMatchObject({ status: 200, body: person.session });
    const { body } = await person.request<{ name: string }>("GET", "/api/account");
    expect(body.name).toBe("default");
    const sent = await person.request("POST", "/v1/sms", {
      sender: "HELIOG",
      to: "15550100100",
      text: "Hi",
      type: "TRANS",
    });
    expect(sent.status).toBe(200);
  });

  test("a request without a session is anonymous, and a key is not a user", async () => {
    for (const headers of [
      {},
      { cookie: "heliograph_session=" },
      { cookie: `heliograph_session=${"a".repeat(43)}` },
      { apikey: server.key },
    ])
      expect(await codeOf(ask("GET", "/api/session", undefined, headers))).toBe("401 LOGIN_REQUIRED");
    const cookie = { cookie: `other=1; heliograph_session=${"a".repeat(43)}` };
    expect(await codeOf(ask("GET", "/api/account", undefined, cookie))).toBe("401 LOGIN_REQUIRED");
  });

  test("two different session cookies are refused", async () => {
    const { cookie } = await logIn(server.url, owner);
    const other = await logIn(server.url, owner);
    const both = { cookie: `${cookie}; ${other.cookie}` };
    expect(await codeOf(ask("GET", "/api/session", undefined, both))).toBe("401 LOGIN_REQUIRED");
    expect((await ask("GET", "/api/session", undefined, { cookie: `${cookie}; ${cookie}` })).status).toBe(200);
  });

  test("logout ends the session and removes the cookie", async () => {
    const person = await logIn(server.url, owner);
    const left = await person.request("DELETE", "/api/session");
    expect(left).toMatchObject({ status: 200, body: { ended: true } });
    expect(left.headers.get("set-cookie")).toMatch(/^heliograph_session=; Path=\/; HttpOnly; SameSite=Lax; Max-Age=0$/);
    expect(await codeOf(person.request("GET", "/api/session"))).toBe("401 LOGIN_REQUIRED");
    expect(await codeOf(person.request("GET", "/v1/messages"))).toBe("401 LOGIN_REQUIRED");
  });

  test("every login has its own token, and ends the browser's earlier session", async () => {
    const first = await logIn(server.url, owner);
    const second = await ask<SessionBody>("POST", "/api/session", owner, { cookie: first.cookie });
    expect(second.status).toBe(200);
    expect(cookieOf(second)).not.toBe(first.cookie);
    expect(second.body.csrfToken).not.toBe(first.session.csrfToken);
    expect(await codeOf(first.request("GET", "/api/session"))).toBe("401 LOGIN_REQUIRED");
  });

  test("a session token chosen by the client is never accepted (session fixation)", async () => {
    const chosen = `heliograph_session=${"x".repeat(43)}`;
    const answer = await ask("POST", "/api/session", owner, { cookie: chosen });
    expect(cookieOf(answer)).not.toBe(chosen);
    expect(await codeOf(ask("GET", "/api/session", undefined, { cookie: chosen }))).toBe("401 LOGIN_REQUIRED");
  });

  test("a used session lasts until its seventh day ends", async () => {
    const person = await logIn(server.url, owner);
    const openedAt = clock.now();
    for (let hour = 11; hour < 7 * 24; hour += 11) {
      clock.advance(11 * HOUR_MS);
      const { body } = await person.request<SessionBody>("GET", "/api/session");
      expect(body.expiresAt).toBe(Math.min(clock.now() + 12 * HOUR_MS, openedAt + 7 * 24 * HOUR_MS));
    }
    clock.advance(openedAt + 7 * 24 * HOUR_MS - clock.now());
    expect(await codeOf(person.request("GET", "/api/session"))).toBe("401 LOGIN_REQUIRED");
  });

  test("an idle session ends after twelve hours", async () => {
    const person = await logIn(server.url, owner);
    clock.advance(12 * HOUR_MS - 1);
    expect((await person.request("GET", "/api/account")).status).toBe(200);
    clock.advance(12 * HOUR_MS);
    expect(await codeOf(person.request("GET", "/api/account"))).toBe("401 LOGIN_REQUIRED");
  });

  test("a stream of a page ends after ten minutes to check the session again, and does not extend it", async () => {
    const person = await logIn(server.url, owner);
    const stream = await fetch(`${server.url}/api/simulator/events`, { headers: { cookie: person.cookie } });
    const byKey = await fetch(`${server.url}/api/simulator/events`, { headers: { apikey: server.key } });
    const ended = stream.text();
    clock.advance(10 * 60_000);
    expect(await ended).toContain(": open");
    const reader = byKey.body?.getReader();
    expect((await reader?.read())?.done).toBe(false);
    await reader?.cancel();
    for (let hour = 1; hour < 12; hour += 1) {
      clock.advance(HOUR_MS);
      const again = await fetch(`${server.url}/api/simulator/events`, { headers: { cookie: person.cookie } });
      await again.body?.cancel();
    }
    clock.advance(HOUR_MS);
    expect(await codeOf(person.request("GET", "/api/session"))).toBe("401 LOGIN_REQUIRED");
  });

  describe("a request that changes something", () => {
    let person: SessionUser;
    beforeAll(async () => {
      person = await logIn(server.url, owner);
    });
    const change = (headers: Record<string, string>) =>
      ask<Failure>("PATCH", "/api/account", {}, { cookie: person.cookie, ...headers });

    test("a changing request needs the session's CSRF token", async () => {
      const { csrfToken } = person.session;
      const other = await logIn(server.url, owner);
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

    test("a changing request needs this server's origin, if it names one", async () => {
      const token = { "x-csrf-token": person.session.csrfToken };
      for (const origin of [
        "https://evil.example",
        "null",
        server.url.replace(/:\d+$/, ":1"),
        `${server.url}.evil.example`,
      ])
        expect(await codeOf(change({ ...token, origin }))).toBe("403 CSRF_REFUSED");
      expect((await change({ ...token, origin: server.url })).status).toBe(200);
    });

    test("a changing request with a key needs no CSRF token, because the key authenticates it", async () => {
      expect((await change({ apikey: server.key })).status).toBe(200);
      expect(await codeOf(change({ apikey: "wrong" }))).toBe("401 UNAUTHORIZED");
      expect(await codeOf(change({ apikey: "", "x-csrf-token": person.session.csrfToken }))).toBe("401 UNAUTHORIZED");
    });

    test("a changing request is refused on the HTTP fast path too", async () => {
      const sms = { sender: "HELIOG", to: "15550100100", text: "Hi", type: "TRANS" };
      expect(await codeOf(ask("POST", "/v1/sms", sms, { cookie: person.cookie }))).toBe("403 CSRF_REFUSED");
    });

    test("a changing request cannot be a form: a login, too, accepts only JSON and only from this site", async () => {
      const form = await fetch(`${server.url}/api/session`, {
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

  test("the store contains neither token nor password of a session", async () => {
    const person = await logIn(server.url, owner);
    const digest = createUserSecrets(Buffer.from(MASTER_KEY)).sessionDigest(person.cookie.split("=")[1] ?? "");
    const found = await server.app.store.findSession(digest);
    expect(found?.user.email).toBe(EMAIL);
    expect(JSON.stringify(found)).not.toContain(person.cookie.split("=")[1]);
    expect(JSON.stringify(found)).not.toContain(PASSWORD);
  });

  test("another process on the same store knows the session and the failed logins", async () => {
    const away = await startTestServer(engine, { clock, env });
    const person = await logIn(away.url, owner);
    const wrong = { email: "someone@example.com", password: "wrong password" };
    for (let n = 1; n <= 5; n += 1) await requestAnonymously(away.url, "POST", "/api/session", wrong);
    const locked = await requestAnonymously<Failure>(away.url, "POST", "/api/session", wrong);
    expect(locked.status).toBe(429);
    // On SQLite there is one process at a time.
    if (engine === "sqlite") await away.app.stop();
    const next = await startApp(readConfig(away.env), { clock });
    const cookie = { cookie: person.cookie };
    expect((await requestAnonymously(next.url, "GET", "/api/session", undefined, cookie)).status).toBe(200);
    expect((await requestAnonymously(next.url, "POST", "/api/session", wrong)).status).toBe(429);
    await requestAnonymously(next.url, "DELETE", "/api/session", undefined, {
      ...cookie,
      "x-csrf-token": person.session.csrfToken,
    });
    expect((await requestAnonymously(next.url, "GET", "/api/session", undefined, cookie)).status).toBe(401);
    const last = engine === "sqlite" ? next.url : away.url;
    expect((await requestAnonymously(last, "GET", "/api/session", undefined, cookie)).status).toBe(401);
    await next.stop();
    if (engine === "postgres") await away.close();
    else await rm(away.env["HELIOGRAPH_DATA_DIR"] ?? "", { recursive: true });
  });

  test("a reading request needs no CSRF token", async () => {
    const person = await logIn(server.url, owner);
    const head = await fetch(`${server.url}/api/account`, { method: "HEAD", headers: { cookie: person.cookie } });
    expect(head.status).toBe(200);
    expect((await person.request("GET", "/api/account", undefined, { origin: "https://evil.example" })).status).toBe(
      200,
    );
  });
});

test("the cookie is Secure if the base URL is https", async () => {
  const server = await startTestServer("sqlite", {
    env: { HELIOGRAPH_BASE_URL: "https://hg.example.com", HELIOGRAPH_ADMIN_PASSWORD: PASSWORD },
  });
  const credentials = { email: "admin@localhost", password: PASSWORD };
  const answer = await requestAnonymously(server.url, "POST", "/api/session", credentials, {
    origin: "https://hg.example.com",
  });
  expect(answer.headers.get("set-cookie")).toMatch(/; Secure$/);
  await server.close();
});
