import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { QueueFull } from "../../src/lib/async.ts";
import { BULK, type RouteClass } from "../../src/model/message.ts";
import { listen, type SmppServer } from "../../src/smpp/server.ts";
import { AdmissionController } from "../../src/pipeline/accept/admission-controller.ts";
import { PriorityQueues } from "../../src/pipeline/dispatch/priority-queues.ts";
import { isOverloaded, type Backpressure } from "../../src/pipeline/accept/backpressure.ts";
import { eventually } from "../support/eventually.ts";
import { startTestServer, type Envelope, type TestServer } from "../support/test-server.ts";
import { MovedClock } from "../support/moved-clock.ts";

const AT_EASE: Backpressure = { inFlight: 0, movesUnwritten: 0, movesLateMs: 0 };
const BEHIND: Backpressure = { inFlight: 900, movesUnwritten: 800, movesLateMs: 80 };

describe("the overload of a node", () => {
  test("a node is overloaded when most of its sent messages wait to be written", () => {
    expect(isOverloaded(BEHIND)).toBe(true);
    expect(isOverloaded({ inFlight: 900, movesUnwritten: 450, movesLateMs: 10 })).toBe(true);
  });

  test("messages that wait for a slow or unavailable carrier do not count", () => {
    expect(isOverloaded(AT_EASE)).toBe(false);
    expect(isOverloaded({ inFlight: 900, movesUnwritten: 100, movesLateMs: 80 }), "it waits for answers").toBe(false);
  });

  test("a slow disk alone is no overload", () => {
    expect(isOverloaded({ inFlight: 10, movesUnwritten: 10, movesLateMs: 9 })).toBe(false);
  });
});

describe("admission control", () => {
  const CAPACITY = 6;
  const WAIT_MS = 2000;
  let clock: MovedClock;
  let queues: PriorityQueues;
  let backpressure: Backpressure;
  let commit: { load: number; waitingMs: number };
  let isStoreUnavailable: boolean;
  let admission: AdmissionController;
  const entered: string[] = [];

  beforeEach(() => {
    clock = new MovedClock();
    queues = new PriorityQueues(CAPACITY);
    backpressure = BEHIND;
    commit = { load: 0, waitingMs: 0 };
    isStoreUnavailable = false;
    entered.length = 0;
    admission = open({ queues, backpressure: () => backpressure });
  });

  function open(
    sending: { queues: PriorityQueues; backpressure(routeClass: RouteClass): Backpressure } | null,
  ): AdmissionController {
    const commits = {
      accept: commit,
      urgentAccept: { load: 0, waitingMs: 0 },
      get isStoreUnavailable() {
        return isStoreUnavailable;
      },
    };
    return new AdmissionController(
      { clock, commits: commits as never, sending },
      { acceptWaitMs: WAIT_MS, laneCapacity: CAPACITY },
    );
  }

  /** Enters as a request to two does, which takes its places in the lane if there are some. */
  const enter = (name: string, routeClass: RouteClass = "TRANS", count = 2) =>
    admission.admit(routeClass, count, 1, () => {
      queues.reserve(routeClass, count);
      entered.push(name);
    });
  const fill = (routeClass: RouteClass = "TRANS"): boolean => queues.reserve(routeClass, CAPACITY);

  test("a full queue delays no request while the node keeps up", () => {
    backpressure = AT_EASE;
    fill();
    void enter("one");
    void enter("two");
    expect(entered).toEqual(["one", "two"]);
  });

  test("an overloaded node admits as many messages as it sends, in order of arrival", () => {
    fill();
    for (const name of ["one", "two", "three"]) void enter(name);
    clock.advance(100);
    expect(entered).toEqual([]);
    queues.releaseSlots("TRANS", 2);
    clock.advance(100);
    expect(entered).toEqual(["one"]);
    queues.releaseSlots("TRANS", 4);
    clock.advance(100);
    expect(entered).toEqual(["one", "two", "three"]);
  });

  test("under overload a single message is admitted when its queue is empty, for direct dispatch, and a bulk when it fits", () => {
    queues.reserve("TRANS", 1);
    void enter("bulk");
    expect(entered).toEqual(["bulk"]);
    queues.releaseSlots("TRANS", 2);
    void enter("single", "TRANS", 1);
    clock.advance(100);
    expect(entered, "one is in the lane").toEqual(["bulk"]);
    queues.releaseSlots("TRANS", 1);
    clock.advance(100);
    expect(entered).toEqual(["bulk", "single"]);
  });

  test("a request is refused after the wait, because its client has given up by then", async () => {
    fill();
    const waiting = Promise.resolve(enter("one"));
    clock.advance(WAIT_MS - 10);
    const later = Promise.resolve(enter("two", "PROMO"));
    expect(admission.waiting).toBe(1);
    clock.advance(20);
    await expect(waiting).rejects.toBeInstanceOf(QueueFull);
    await expect(later).resolves.toBeUndefined();
    expect(admission.waiting).toBe(0);
    expect(entered).toEqual(["two"]);
  });

  test("messages that wait for a slow carrier occupy no queue slot", () => {
    queues = new PriorityQueues(CAPACITY, () => CAPACITY);
    admission = open({ queues, backpressure: () => backpressure });
    void enter("one");
    void enter("password", "OTP", 1);
    expect(entered).toEqual(["one", "password"]);
  });

  test("overload is decided per message class: promotions in the writer do not delay one-time passwords", () => {
    admission = open({ queues, backpressure: (routeClass) => (routeClass === "OTP" ? AT_EASE : BEHIND) });
    fill("OTP");
    fill("PROMO");
    void enter("password", "OTP", 1);
    void enter("promotion", "PROMO", 1);
    expect(entered).toEqual(["password"]);
  });

  test("promotions are never dispatched directly, and are accepted while their queue is not full", () => {
    for (const name of ["one", "two", "three"]) void enter(name, "PROMO", 1);
    expect(entered).toEqual(["one", "two", "three"]);
  });

  test("closing refuses waiting and new requests", async () => {
    fill();
    const waiting = Promise.resolve(enter("one"));
    admission.close();
    await expect(waiting).rejects.toBeInstanceOf(QueueFull);
    expect(() => enter("two", "OTP")).toThrow(QueueFull);
    clock.advance(1000);
    expect(entered).toEqual([]);
  });

  test("each class has its own waiting line, and a request that would wait too long is refused at once", () => {
    fill("PROMO");
    for (let waiting = 0; waiting < 5000; waiting += 1) void enter("promotion", "PROMO");
    expect(admission.isRefusing("PROMO", 1)).toBe(true);
    expect(() => enter("one more", "PROMO")).toThrow(QueueFull);
    void enter("password", "OTP");
    void enter("transaction");
    expect(entered).toEqual(["password", "transaction"]);
    queues.releaseSlots("PROMO", 2);
    clock.advance(10);
    expect(entered).toEqual(["password", "transaction", "promotion"]);
    expect(admission.isRefusing("PROMO", 1)).toBe(false);
  });

  test("an account that fills the line delays no other: accounts are admitted in turn", () => {
    fill("PROMO");
    const flows: string[] = [];
    const ask = (flow: string) =>
      Promise.resolve(
        admission.admit("PROMO", 1, flow, () => {
          queues.reserve("PROMO", 1);
          flows.push(flow);
        }),
      );
    const refused: string[] = [];
    for (let n = 0; n < 5000; n += 1) void ask("flooder").catch(() => refused.push("flooder"));
    expect(() => ask("flooder"), "a flow takes no room from itself").toThrow(QueueFull);
    for (let n = 0; n < 3; n += 1) void ask("slow").catch(() => refused.push("slow"));
    expect(admission.waiting).toBe(5000);
    queues.releaseSlots("PROMO", 6);
    clock.advance(10);
    expect(flows).toEqual(["flooder", "slow", "flooder", "slow", "flooder", "slow"]);
  });

  test("a waiting request is admitted when the backpressure ends, though the queue stays full: its messages wait in the store", () => {
    fill();
    void enter("one");
    void enter("two");
    backpressure = AT_EASE;
    clock.advance(900);
    expect(entered, "the backpressure was seen a moment ago").toEqual([]);
    clock.advance(200);
    expect(entered).toEqual(["one", "two"]);
  });

  test("while the store is unavailable admission refuses no request: the store answers each one", () => {
    fill();
    void enter("waiting");
    clock.advance(100);
    expect(entered).toEqual([]);
    isStoreUnavailable = true;
    void enter("password", "OTP", 1);
    clock.advance(10);
    void enter("coming");
    expect(entered).toEqual(["password", "waiting", "coming"]);
  });

  test("a request larger than its queue is not delayed", () => {
    fill();
    void enter("bulk", "PROMO", CAPACITY + 1);
    expect(entered).toEqual(["bulk"]);
  });

  test("a bulk waits until earlier bulks are stored, not for its queue", () => {
    queues = new PriorityQueues(BULK);
    admission = new AdmissionController(
      {
        clock,
        commits: { accept: commit, urgentAccept: commit } as never,
        sending: { queues, backpressure: () => backpressure },
      },
      { acceptWaitMs: WAIT_MS, laneCapacity: BULK },
    );
    queues.reserve("PROMO", BULK);
    void enter("first", "PROMO", BULK);
    commit.load = 1000;
    void enter("second", "PROMO", BULK);
    clock.advance(100);
    expect(entered).toEqual(["first"]);
    for (const name of ["third", "fourth"]) void enter(name, "PROMO", BULK);
    commit.load = 899;
    clock.advance(10);
    expect(entered, "all that come in at once fit into one commit").toEqual(["first", "second", "third"]);
  });

  test("a request that fails on admission fails alone", async () => {
    fill();
    const failing = admission.admit("TRANS", 2, 1, () => {
      throw new Error("no more");
    });
    void enter("next");
    queues.releaseSlots("TRANS", 2);
    clock.advance(10);
    await expect(failing).rejects.toThrow("no more");
    expect(entered).toEqual(["next"]);
  });

  test("a node that only accepts refuses requests when commits are late and more rows wait than fit in one commit", () => {
    admission = open(null);
    commit.waitingMs = WAIT_MS;
    void enter("few");
    commit.load = 1001;
    expect(() => enter("many")).toThrow(QueueFull);
    void enter("password", "OTP");
    expect(entered).toEqual(["few", "password"]);
  });
});

describe("an overloaded node", () => {
  let server: TestServer;
  let clock: MovedClock;
  let smsc: SmppServer;
  beforeEach(async () => {
    clock = new MovedClock();
    // Accepts every request and never responds.
    const onRequest = (): Promise<never> => new Promise(() => {});
    const onBind = () => ({ kind: "accepted", onRequest }) as const;
    smsc = await listen({ host: "127.0.0.1", port: 0, window: 10, onBind });
    server = await startTestServer("sqlite", {
      clock,
      backpressure: (routeClass) => (routeClass === "OTP" ? AT_EASE : BEHIND),
      env: { HELIOGRAPH_LANE_CAPACITY: "1", HELIOGRAPH_DISPATCH_WINDOW: "2" },
      beyond: { nodeSilentSeconds: 86_400 },
    });
    const smpp = { host: "127.0.0.1", port: smsc.port, systemId: "slow", password: "secret" };
    const made = await server.request<{ id: string }>("POST", "/api/carriers", {
      name: "silent",
      adapter: "smpp",
      smpp,
    });
    await eventually(
      async () => (await server.request<{ up: boolean }>("GET", `/api/carriers/${made.body.id}/state`)).body.up,
      (up) => up,
    );
    await server.request("POST", "/api/routes", {
      name: "Silent",
      channel: "sms",
      carrier: "silent",
      routeClasses: ["TRANS"],
      priority: 1,
    });
  });
  afterEach(async () => {
    // Past every waiting time.
    clock.advance(120_000);
    await smsc.close();
    await server.close();
  });

  const gauge = async (name: string): Promise<number> => {
    const metrics = await (await fetch(`${server.url}/metrics`)).text();
    return Number(new RegExp(`^${name} (\\d+)`, "m").exec(metrics)?.[1]);
  };

  test("both HTTP paths answer 503 with Retry-After, and still accept one-time passwords and scheduled messages", async () => {
    for (const why of ["it goes to its carrier", "so does this", "it waits in the lane"])
      expect({ why, status: (await server.send()).status }).toEqual({ why, status: 200 });
    const text = { sender: "HELIOG", to: "15550100100", text: "Hello", type: "TRANS" };
    const express = server.send();
    const ordinary = server.request<Envelope>("POST", "/v1/sms?a=query+takes+the+ordinary+path", text);
    await eventually(
      () => gauge("heliograph_requests_waiting"),
      (count) => count === 2,
    );
    expect((await server.send({ type: "OTP", text: "482913" })).status).toBe(200);
    expect((await server.send({ sendAt: clock.now() + 3_600_000 })).status).toBe(200);
    clock.advance(1010);
    for (const { status, headers, body } of await Promise.all([express, ordinary])) {
      expect(status).toBe(503);
      expect(headers.get("retry-after")).toBe("2");
      expect(body satisfies Envelope).toMatchObject({ id: null, data: [], error: { code: "OVERLOADED" } });
    }
  });
});
