import { request as httpRequest, type IncomingMessage } from "node:http";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { newId } from "../src/lib/ids.ts";
import { createLog } from "../src/lib/log.ts";
import type { State } from "../src/model/message.ts";
import type { StoredMessage } from "../src/store/store.ts";
import { Live, type LiveEvent } from "../src/work/live.ts";
import { acceptance, NOON } from "./support/acceptances.ts";
import { ENGINES } from "./support/engines.ts";
import { eventually } from "./support/eventually.ts";
import { openHouse, type House } from "./support/house.ts";
import { MovedClock } from "./support/moved-clock.ts";
import { logIn } from "./support/person.ts";

const sms = { channel: "sms", routeClass: "TRANS", recipient: "33612345678", taken: false } as const;

describe("following messages on a node", () => {
  let clock: MovedClock;
  let rows: StoredMessage[];
  let nodes: number;
  let live: Live;
  beforeEach(() => {
    clock = new MovedClock(NOON);
    rows = [];
    nodes = 1;
    live = new Live({
      store: { listMessages: async () => ({ rows, next: null }) },
      membership: { get count() { return nodes; } }, // prettier-ignore
      clock,
      log: createLog("silent"),
    });
  });

  async function follow(after: string | null = null, accountId = 1) {
    const heard: LiveEvent[] = [];
    const more: number[] = [];
    const leave = await live.follow(accountId, after, {
      onEvent: (event) => void heard.push(event),
      onMore: (_id, count) => void more.push(count),
    });
    return { heard, more, leave, states: () => heard.map(({ state }) => state) };
  }
  const move = (requestId: string, to: State, accountId = 1): void =>
    live.onMoved({ accountId, requestId, n: 1, to, at: NOON, owner: 0 }, sms);
  const stored = (requestId: string, state: State): StoredMessage => ({
    ...acceptance({ requestId }).message,
    n: 1,
    recipient: "33612345678",
    credits: 1,
    tried: [],
    carrier: null,
    state,
    attempts: 0,
    repeats: 0,
    trail: null,
    errorCode: null,
    description: null,
    submittedAt: null,
    doneAt: null,
  });

  test("what is accepted and what moves is told, once each, and of one's own account only", async () => {
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

  test("no more than twenty in a second are told, and how many more there were", async () => {
    const { heard, more } = await follow();
    live.onAccepted(acceptance({ to: Array.from({ length: 50 }, (_, index) => `336123456${index + 10}`) }));
    expect(heard).toHaveLength(20);
    clock.advance(1000);
    expect(more).toEqual([30]);
    move(newId(NOON), "delivered");
    expect(heard).toHaveLength(21);
  });

  test("who comes back is told what happened meanwhile", async () => {
    const first = await follow();
    const requestId = newId(NOON);
    move(requestId, "submitted");
    first.leave();
    clock.advance(5000);
    move(requestId, "delivered");
    expect(first.states()).toEqual(["submitted"]);
    expect((await follow(first.heard[0]?.id ?? "")).states()).toEqual(["delivered"]);
  });

  test("who comes back after long is told of the newest messages as they are", async () => {
    const first = await follow();
    const requestId = newId(NOON);
    move(requestId, "submitted");
    first.leave();
    clock.advance(120_000);
    rows = [stored(requestId, "delivered")];
    expect((await follow(first.heard[0]?.id ?? "")).states()).toEqual(["delivered"]);
  });

  test("what other nodes did is told once, and not what was there before", async () => {
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

describe.each(ENGINES)("the stream and the state of the system on %s", (engine) => {
  let house: House;
  beforeAll(async () => {
    house = await openHouse(engine);
  });
  afterAll(() => house?.close());

  test("a message is seen on its way, and again by who comes back with the id of an event", async () => {
    const stream = await openStream(`${house.url}/api/live`, { apikey: house.key });
    const { body } = await house.send();
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
    const again = await openStream(`${house.url}/api/live`, { apikey: house.key, "last-event-id": firstId });
    await eventually(
      async () => again.text(),
      (seen) => seen.includes('"state":"delivered"') && !seen.includes('"state":"accepted"'),
    );
    again.close();
  });

  test("the system tells its nodes, what waits and how it is", async () => {
    const { body } = await house.ask<Record<string, unknown>>("GET", "/api/system");
    expect(body).toMatchObject({
      engine,
      alive: true,
      lanes: { OTP: 0, TRANS: 0, PROMO: 0 },
      warnings: [],
      nodes: [{ id: body.node, roles: ["api", "dispatch", "callbacks"] }],
    });
    for (const field of ["databaseBytes", "memoryBytes"]) expect(body[field]).toBeGreaterThan(1000);
    expect(body.eventLoopDelayMs).toMatchObject({ p50: expect.any(Number), max: expect.any(Number) });
  });

  test("a proxy that is not trusted is pointed at, because everybody seems to come from it", async () => {
    await house.ask("GET", "/healthz", undefined, { "x-forwarded-for": "203.0.113.7" });
    const { body } = await house.ask<{ warnings: { code: string; message: string }[] }>("GET", "/api/system");
    expect(body.warnings).toMatchObject([{ code: "UNTRUSTED_PROXY" }]);
    expect(body.warnings[0]?.message).toContain("HELIOGRAPH_TRUST_PROXY=true");
  });
});

describe.each(ENGINES)("a stream whose reader is not welcome any more on %s", (engine) => {
  const owner = { email: "owner@example.com", password: "correct horse battery" };
  let house: House;
  let clock: MovedClock;
  beforeAll(async () => {
    clock = new MovedClock();
    const env = { HELIOGRAPH_ADMIN_EMAIL: owner.email, HELIOGRAPH_ADMIN_PASSWORD: owner.password };
    house = await openHouse(engine, { clock, env });
  });
  afterAll(() => house?.close());

  /** Lets seconds pass, with time for what happens in each; says how many there were until the stream ended. */
  async function secondsUntilEnd(stream: Stream): Promise<number> {
    let seconds = 0;
    await eventually(
      () => {
        if (!stream.ended()) seconds += 1;
        clock.advance(stream.ended() ? 0 : 1000);
        return stream.ended();
      },
      (ended) => ended,
    );
    return seconds;
  }

  /** What a stream that may stay is like after a minute. */
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
    const made = await house.ask<{ id: string; key: string }>("POST", "/api/keys", {
      name: path,
      mode: "live",
      scopes: ["read", "manage"],
      requestsPerSecond: 1,
    });
    const stream = await openStream(house.url + path, { apikey: made.body.key });
    await staysOpen(stream);
    await house.ask("DELETE", `/api/keys/${made.body.id}`);
    expect(await secondsUntilEnd(stream)).toBeLessThan(30);
  });

  test("a person's ends when they log out", async () => {
    const person = await logIn(house.url, owner);
    const stream = await openStream(`${house.url}/api/live`, { cookie: person.cookie });
    await staysOpen(stream);
    await person.ask("DELETE", "/api/session");
    expect(await secondsUntilEnd(stream)).toBeLessThan(30);
  });

  test("a person's ends when they are given another role", async () => {
    const password = "another horse battery";
    const made = await house.ask<{ id: string }>("POST", "/api/users", {
      email: "ann@example.com",
      role: "member",
      password,
    });
    expect(made.status).toBe(201);
    const person = await logIn(house.url, { email: "ann@example.com", password });
    const stream = await openStream(`${house.url}/api/live`, { cookie: person.cookie });
    await house.ask("PATCH", `/api/users/${made.body.id}`, { role: "viewer" });
    expect(await secondsUntilEnd(stream)).toBeLessThan(30);
  });
});
