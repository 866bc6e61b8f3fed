import { request as httpRequest, type IncomingMessage } from "node:http";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { newId } from "../../src/lib/ids.ts";
import { createLog } from "../../src/lib/log.ts";
import type { State } from "../../src/model/message.ts";
import type { StoredMessage } from "../../src/store/store.ts";
import { Live, type LiveEvent } from "../../src/stats/live.ts";
import { acceptance, NOON } from "../support/acceptances.ts";
import { ENGINES } from "../support/engines.ts";
import { eventually } from "../support/eventually.ts";
import { startTestServer, type TestServer } from "../support/test-server.ts";
import { MovedClock } from "../support/moved-clock.ts";
import { logIn } from "../support/session-user.ts";
import { transitionTo } from "../support/transitions.ts";

const sms = { channel: "sms", routeClass: "TRANS", recipient: "33612345678", taken: false } as const;

describe("the message stream of a node", () => {
  let clock: MovedClock;
  let rows: StoredMessage[];
  let nodes: number;
  let live: Live;
  let tests: Set<string>;
  let lookups = 0;
  beforeEach(() => {
    tests = new Set();
    clock = new MovedClock(NOON);
    rows = [];
    nodes = 1;
    live = new Live({
      store: {
        listMessages: async () => ({ rows, next: null }),
        listInbound: async () => ({ rows: [], next: null }),
        testRequestsAmong: async (_accountId, ids) => {
          lookups += 1;
          return new Set(ids.filter((id) => tests.has(id)));
        },
      },
      membership: { get count() { return nodes; } }, // prettier-ignore
      clock,
      log: createLog("silent"),
    });
  });

  async function follow(after: string | null = null, accountId = 1, testOnly = false) {
    const heard: LiveEvent[] = [];
    const more: number[] = [];
    const received = { count: 0 };
    const leave = await live.follow({ accountId, testOnly }, after, {
      onEvent: (event) => void heard.push(event),
      onMore: ({ count }) => void more.push(count),
      onReceived: () => void (received.count += 1),
    });
    return { heard, more, received, leave, states: () => heard.map(({ state }) => state) };
  }
  const move = (requestId: string, to: State, accountId = 1): void =>
    live.onMoved(transitionTo({ accountId, requestId, n: 1, to, at: NOON, owner: 0 }), sms);
  const stored = (requestId: string, state: State): StoredMessage => ({
    ...acceptance({ requestId }).message,
    n: 1,
    recipient: "33612345678",
    cost: 1,
    credits: 1,
    tried: [],
    carrier: null,
    state,
    attempts: 0,
    repeats: 0,
    timeline: null,
    errorCode: null,
    description: null,
    submittedAt: null,
    doneAt: null,
  });

  test("accepted and changed messages are streamed once each, of the own account only", async () => {
    const { heard } = await follow();
    const item = acceptance();
    live.onAccepted(item);
    live.onAccepted(acceptance({ accountId: 2 }));
    const { requestId } = item.message;
    for (const to of ["submitting", "submitted", "delivered", "delivered"] as const) move(requestId, to);
    move(newId(NOON), "delivered", 2);
    const known = { messageId: `${requestId}:1`, channel: "sms", recipient: "33612345678", at: NOON };
    expect(heard).toMatchObject([
      { ...known, state: "accepted" },
      { ...known, state: "submitted" },
      { ...known, state: "delivered" },
    ]);
  });

  test("a stream with a test key gets only test messages", async () => {
    const { heard, more } = await follow(null, 1, true);
    const requestId = newId(NOON);
    tests.add(requestId);
    live.onAccepted(acceptance({ to: Array.from({ length: 50 }, (_, index) => `336123456${index + 10}`) }));
    move(newId(NOON), "delivered");
    move(requestId, "submitted");
    move(requestId, "delivered");
    await eventually(
      async () => heard.length,
      (count) => count === 2,
    );
    clock.advance(1000);
    expect(heard.map(({ messageId, state }) => [messageId, state])).toEqual([
      [`${requestId}:1`, "submitted"],
      [`${requestId}:1`, "delivered"],
    ]);
    expect(more).toEqual([]);
  });

  test("at most twenty messages a second are streamed, with the number of those left out", async () => {
    const { heard, more } = await follow();
    live.onAccepted(acceptance({ to: Array.from({ length: 50 }, (_, index) => `336123456${index + 10}`) }));
    expect(heard).toHaveLength(20);
    clock.advance(1000);
    expect(more).toEqual([30]);
    move(newId(NOON), "delivered");
    expect(heard).toHaveLength(21);
  });

  test("a stream that reconnects within a second receives the missed events", async () => {
    const first = await follow();
    const numbers = (from: number): string[] => Array.from({ length: 25 }, (_, index) => `336123456${from + index}`);
    live.onAccepted(acceptance({ to: numbers(10) }));
    const late = await follow();
    const back = await follow(first.heard[9]?.id ?? "");
    live.onAccepted(acceptance({ to: numbers(40) }));
    clock.advance(1000);
    expect([first.heard.length, first.more]).toEqual([20, [30]]);
    expect([late.heard.length, late.more]).toEqual([0, [25]]);
    // It had seen ten of the first 25.
    expect([back.heard.length, back.more]).toEqual([15, [25]]);
    expect(back.heard[0]?.id).toBe(first.heard[10]?.id);
  });

  test("all followers with the same view get the same event object, so that its text is built once", async () => {
    const [one, other] = [await follow(), await follow()];
    live.onAccepted(acceptance());
    expect(one.heard).toHaveLength(1);
    expect(other.heard[0]).toBe(one.heard[0]);
  });

  test("the messages of test keys are looked up once for all followers with a test key", async () => {
    const followers = await Promise.all([1, 2, 3].map(() => follow(null, 1, true)));
    const requestId = newId(NOON);
    tests.add(requestId);
    lookups = 0;
    move(requestId, "delivered");
    await eventually(
      async () => followers.map(({ heard }) => heard.length),
      (counts) => counts.every((count) => count === 1),
    );
    expect(lookups).toBe(1);
  });

  test("a reconnecting client gets the events that it missed", async () => {
    const first = await follow();
    const requestId = newId(NOON);
    move(requestId, "submitted");
    first.leave();
    clock.advance(5000);
    move(requestId, "delivered");
    expect(first.states()).toEqual(["submitted"]);
    expect((await follow(first.heard[0]?.id ?? "")).states()).toEqual(["delivered"]);
  });

  test("a client that reconnects after long gets the newest messages in their current state", async () => {
    const first = await follow();
    const requestId = newId(NOON);
    move(requestId, "submitted");
    first.leave();
    clock.advance(120_000);
    rows = [stored(requestId, "delivered")];
    expect((await follow(first.heard[0]?.id ?? "")).states()).toEqual(["delivered"]);
  });

  test("changes on other nodes are streamed once, without earlier ones", async () => {
    nodes = 2;
    const { states } = await follow();
    const old = newId(NOON);
    const fresh = newId(NOON);
    rows = [stored(old, "delivered")];
    const look = async (): Promise<void> => {
      clock.advance(1000);
      await new Promise(setImmediate);
    };
    await look();
    expect(states()).toEqual([]);
    rows = [stored(fresh, "submitting"), stored(old, "delivered")];
    await look();
    rows = [stored(fresh, "submitted"), stored(old, "read")];
    await look();
    await look();
    expect(states()).toEqual(["read", "submitted"]);
    move(fresh, "submitted");
    expect(states()).toHaveLength(2);
  });
});

interface Stream {
  text(): string;
  ended(): boolean;
  close(): void;
}

function openStream(url: string, headers: Record<string, string>): Promise<Stream> {
  const { promise, resolve, reject } = Promise.withResolvers<Stream>();
  const request = httpRequest(url, { agent: false, headers }, (response: IncomingMessage) => {
    let text = "";
    let ended = false;
    response.setEncoding("utf8").on("data", (chunk: string) => {
      text += chunk;
      resolve({ text: () => text, ended: () => ended, close: () => request.destroy() });
    });
    response.on("end", () => (ended = true));
  });
  request.on("error", reject);
  request.end();
  return promise;
}

describe.each(ENGINES)("the stream and the system status on %s", (engine) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer(engine);
  });
  afterAll(() => server?.close());

  test("a message is streamed through its states, and again to a client that reconnects with an event id", async () => {
    const stream = await openStream(`${server.url}/api/live`, { apikey: server.key });
    const { body } = await server.send();
    const text = await eventually(
      async () => stream.text(),
      (seen) => seen.includes('"state":"delivered"'),
    );
    const { messageId } = body.data[0] ?? { messageId: "" };
    for (const state of ["accepted", "submitted", "delivered"])
      expect(text).toMatch(
        new RegExp(`event: moved\\nid: \\S+\\ndata: {"messageId":"${messageId}","channel":"sms","state":"${state}"`),
      );
    stream.close();
    const [, firstId = ""] = /id: (\S+)/.exec(text) ?? [];
    const again = await openStream(`${server.url}/api/live`, { apikey: server.key, "last-event-id": firstId });
    await eventually(
      async () => again.text(),
      (seen) => seen.includes('"state":"delivered"') && !seen.includes('"state":"accepted"'),
    );
    again.close();
  });

  test("the system status shows nodes, backlog and health", async () => {
    const { body } = await server.request<Record<string, unknown>>("GET", "/api/system");
    expect(body).toMatchObject({
      engine,
      alive: true,
      lanes: { OTP: 0, TRANS: 0, PROMO: 0 },
      warnings: [],
      nodes: [{ id: body.node, roles: ["api", "dispatch", "callbacks", "smpp"] }],
    });
    for (const field of ["databaseBytes", "memoryBytes"]) expect(body[field]).toBeGreaterThan(1000);
    expect(body.eventLoopDelayMs).toMatchObject({ p50: expect.any(Number), max: expect.any(Number) });
  });

  test("an untrusted proxy raises a warning, because all clients seem to have its address", async () => {
    await server.request("GET", "/healthz", undefined, { "x-forwarded-for": "203.0.113.7" });
    const { body } = await server.request<{ warnings: { code: string; message: string }[] }>("GET", "/api/system");
    expect(body.warnings).toMatchObject([{ code: "UNTRUSTED_PROXY" }]);
    expect(body.warnings[0]?.message).toContain("HELIOGRAPH_TRUST_PROXY=true");
  });
});

describe.each(ENGINES)("a stream whose client loses access, on %s", (engine) => {
  const owner = { email: "owner@example.com", password: "correct horse battery" };
  let server: TestServer;
  let clock: MovedClock;
  beforeAll(async () => {
    clock = new MovedClock();
    const env = { HELIOGRAPH_ADMIN_EMAIL: owner.email, HELIOGRAPH_ADMIN_PASSWORD: owner.password };
    server = await startTestServer(engine, { clock, env });
  });
  afterAll(() => server?.close());

  /** Advances the clock by at most so many seconds, with real time for what happens in each, until the stream ends. */
  function endsWithinSeconds(stream: Stream, limit: number): Promise<boolean> {
    let seconds = 0;
    return eventually(
      () => {
        if (!stream.ended() && seconds < limit) {
          seconds += 1;
          clock.advance(1000);
        }
        return stream.ended();
      },
      (ended) => ended,
    );
  }

  /** Expects a stream to be open after a minute. */
  async function staysOpen(stream: Stream): Promise<void> {
    let seconds = 0;
    await eventually(
      () => {
        clock.advance(1000);
        return (seconds += 1);
      },
      (passed) => passed >= 60,
    );
    expect(stream.ended()).toBe(false);
    expect(stream.text()).toContain(": breath");
  }

  test.each(["/api/live", "/api/simulator/events"])("%s ends when its key is revoked, and not before", async (path) => {
    const made = await server.request<{ id: string; key: string }>("POST", "/api/keys", {
      name: path,
      mode: "live",
      scopes: ["read", "manage"],
      requestsPerSecond: 1,
    });
    const stream = await openStream(server.url + path, { apikey: made.body.key });
    await staysOpen(stream);
    await server.request("DELETE", `/api/keys/${made.body.id}`);
    expect(await endsWithinSeconds(stream, 29)).toBe(true);
  });

  test("a user's stream ends at logout", async () => {
    const person = await logIn(server.url, owner);
    const stream = await openStream(`${server.url}/api/live`, { cookie: person.cookie });
    await staysOpen(stream);
    await person.request("DELETE", "/api/session");
    expect(await endsWithinSeconds(stream, 29)).toBe(true);
  });

  test("a user's stream ends when the role changes", async () => {
    const password = "another horse battery";
    const made = await server.request<{ id: string }>("POST", "/api/users", {
      email: "ann@example.com",
      role: "member",
      password,
    });
    expect(made.status).toBe(201);
    const person = await logIn(server.url, { email: "ann@example.com", password });
    const stream = await openStream(`${server.url}/api/live`, { cookie: person.cookie });
    await server.request("PATCH", `/api/users/${made.body.id}`, { role: "viewer" });
    expect(await endsWithinSeconds(stream, 29)).toBe(true);
  });
});
