import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { DoorFull } from "../src/lib/narrow-door.ts";
import { BULK, type RouteClass } from "../src/model/message.ts";
import { listen, type SmppServer } from "../src/smpp/server.ts";
import { Doorstep } from "../src/work/doorstep.ts";
import { Lanes } from "../src/work/lanes.ts";
import { isBehind, type Strain } from "../src/work/strain.ts";
import { eventually } from "./support/eventually.ts";
import { openHouse, type Envelope, type House } from "./support/house.ts";
import { MovedClock } from "./support/moved-clock.ts";

const AT_EASE: Strain = { inFlight: 0, movesUnwritten: 0, movesLateMs: 0 };
const BEHIND: Strain = { inFlight: 900, movesUnwritten: 800, movesLateMs: 80 };

describe("whether a node is behind", () => {
  test("it is when most of what it sends waits to be written down", () => {
    expect(isBehind(BEHIND)).toBe(true);
    expect(isBehind({ inFlight: 900, movesUnwritten: 450, movesLateMs: 10 })).toBe(true);
  });

  test("a carrier that is slow or down strains nobody, however much waits for it", () => {
    expect(isBehind(AT_EASE)).toBe(false);
    expect(isBehind({ inFlight: 900, movesUnwritten: 100, movesLateMs: 80 }), "it waits for answers").toBe(false);
  });

  test("a disk that syncs slowly strains nobody either", () => {
    expect(isBehind({ inFlight: 10, movesUnwritten: 10, movesLateMs: 9 })).toBe(false);
  });
});

describe("the doorstep", () => {
  const CAPACITY = 6;
  const WAIT_MS = 2000;
  let clock: MovedClock;
  let lanes: Lanes;
  let strain: Strain;
  let commit: { load: number; waitingMs: number };
  let isStoreAway: boolean;
  let doorstep: Doorstep;
  const entered: string[] = [];

  beforeEach(() => {
    clock = new MovedClock();
    lanes = new Lanes(CAPACITY);
    strain = BEHIND;
    commit = { load: 0, waitingMs: 0 };
    isStoreAway = false;
    entered.length = 0;
    doorstep = open({ lanes, strain: () => strain });
  });

  function open(sending: { lanes: Lanes; strain(routeClass: RouteClass): Strain } | null): Doorstep {
    const commits = {
      accept: commit,
      urgentAccept: { load: 0, waitingMs: 0 },
      get isStoreAway() {
        return isStoreAway;
      },
    };
    return new Doorstep(
      { clock, commits: commits as never, sending },
      { acceptWaitMs: WAIT_MS, laneCapacity: CAPACITY },
    );
  }

  /** Enters as a request to two does, which takes its places in the lane if there are some. */
  const enter = (name: string, routeClass: RouteClass = "TRANS", count = 2) =>
    doorstep.enter(routeClass, count, () => {
      lanes.reserve(routeClass, count);
      entered.push(name);
    });
  const fill = (routeClass: RouteClass = "TRANS"): boolean => lanes.reserve(routeClass, CAPACITY);

  test("a full lane holds up nobody while the node keeps up", () => {
    strain = AT_EASE;
    fill();
    void enter("one");
    void enter("two");
    expect(entered).toEqual(["one", "two"]);
  });

  test("a node that is behind lets in as many as it sends, in the order in which they came", () => {
    fill();
    for (const name of ["one", "two", "three"]) void enter(name);
    clock.advance(100);
    expect(entered).toEqual([]);
    lanes.giveBack("TRANS", 2);
    clock.advance(100);
    expect(entered).toEqual(["one"]);
    lanes.giveBack("TRANS", 4);
    clock.advance(100);
    expect(entered).toEqual(["one", "two", "three"]);
  });

  test("behind, single messages come when nothing is in the lane: they go without a stay there; a bulk comes when it fits", () => {
    lanes.reserve("TRANS", 1);
    void enter("bulk");
    expect(entered).toEqual(["bulk"]);
    lanes.giveBack("TRANS", 2);
    void enter("single", "TRANS", 1);
    clock.advance(100);
    expect(entered, "one is in the lane").toEqual(["bulk"]);
    lanes.giveBack("TRANS", 1);
    clock.advance(100);
    expect(entered).toEqual(["bulk", "single"]);
  });

  test("nobody waits for long: who has given up would be accepted for nothing", async () => {
    fill();
    const waiting = Promise.resolve(enter("one"));
    clock.advance(WAIT_MS - 10);
    const later = Promise.resolve(enter("two", "PROMO"));
    expect(doorstep.waiting).toBe(1);
    clock.advance(20);
    await expect(waiting).rejects.toBeInstanceOf(DoorFull);
    await expect(later).resolves.toBeUndefined();
    expect(doorstep.waiting).toBe(0);
    expect(entered).toEqual(["two"]);
  });

  test("what waits at the gate of a slow carrier takes no place from others", () => {
    lanes = new Lanes(CAPACITY, () => CAPACITY);
    doorstep = open({ lanes, strain: () => strain });
    void enter("one");
    void enter("password", "OTP", 1);
    expect(entered).toEqual(["one", "password"]);
  });

  test("a node is behind with each type by itself: promotions that crowd the writer do not hold passwords up", () => {
    doorstep = open({ lanes, strain: (routeClass) => (routeClass === "OTP" ? AT_EASE : BEHIND) });
    fill("OTP");
    fill("PROMO");
    void enter("password", "OTP", 1);
    void enter("promotion", "PROMO", 1);
    expect(entered).toEqual(["password"]);
  });

  test("promotions do not go without a stay in the lane, and come as long as there is room there", () => {
    for (const name of ["one", "two", "three"]) void enter(name, "PROMO", 1);
    expect(entered).toEqual(["one", "two", "three"]);
  });

  test("a door that closes turns away who waits and who comes", async () => {
    fill();
    const waiting = Promise.resolve(enter("one"));
    doorstep.close();
    await expect(waiting).rejects.toBeInstanceOf(DoorFull);
    expect(() => enter("two", "OTP")).toThrow(DoorFull);
    clock.advance(1000);
    expect(entered).toEqual([]);
  });

  test("each type has a line of its own, and who would be too late in it is turned away at once", () => {
    fill("PROMO");
    for (let waiting = 0; waiting < 5000; waiting += 1) void enter("promotion", "PROMO");
    expect(doorstep.isShut("PROMO")).toBe(true);
    expect(() => enter("one more", "PROMO")).toThrow(DoorFull);
    void enter("password", "OTP");
    void enter("transaction");
    expect(entered).toEqual(["password", "transaction"]);
    lanes.giveBack("PROMO", 2);
    clock.advance(10);
    expect(entered).toEqual(["password", "transaction", "promotion"]);
    expect(doorstep.isShut("PROMO")).toBe(false);
  });

  test("who waits enters when the strain is over, though the lane stays full: what does not fit waits in the store", () => {
    fill();
    void enter("one");
    void enter("two");
    strain = AT_EASE;
    clock.advance(900);
    expect(entered, "the strain was seen a moment ago").toEqual([]);
    clock.advance(200);
    expect(entered).toEqual(["one", "two"]);
  });

  test("moves that wait for a store that is away hold up nobody: who comes, or waits, hears from the store itself", () => {
    fill();
    void enter("waiting");
    clock.advance(100);
    expect(entered).toEqual([]);
    isStoreAway = true;
    void enter("password", "OTP", 1);
    clock.advance(10);
    void enter("coming");
    expect(entered).toEqual(["password", "waiting", "coming"]);
  });

  test("a request that no lane could hold waits for none", () => {
    fill();
    void enter("bulk", "PROMO", CAPACITY + 1);
    expect(entered).toEqual(["bulk"]);
  });

  test("a bulk waits for the bulks before it to be stored, and for no lane", () => {
    lanes = new Lanes(BULK);
    doorstep = new Doorstep(
      { clock, commits: { accept: commit, urgentAccept: commit } as never, sending: { lanes, strain: () => strain } },
      { acceptWaitMs: WAIT_MS, laneCapacity: BULK },
    );
    lanes.reserve("PROMO", BULK);
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

  test("whoever fails on entering fails alone", async () => {
    fill();
    const failing = doorstep.enter("TRANS", 2, () => {
      throw new Error("no more");
    });
    void enter("next");
    lanes.giveBack("TRANS", 2);
    clock.advance(10);
    await expect(failing).rejects.toThrow("no more");
    expect(entered).toEqual(["next"]);
  });

  test("a node that only accepts turns away when commits are late and more waits than fits in one", () => {
    doorstep = open(null);
    commit.waitingMs = WAIT_MS;
    void enter("few");
    commit.load = 1001;
    expect(() => enter("many")).toThrow(DoorFull);
    void enter("password", "OTP");
    expect(entered).toEqual(["few", "password"]);
  });
});

describe("a node that is behind", () => {
  let house: House;
  let clock: MovedClock;
  let smsc: SmppServer;
  beforeEach(async () => {
    clock = new MovedClock();
    // Takes what it is given and says nothing.
    const onRequest = (): Promise<never> => new Promise(() => {});
    const onBind = () => ({ kind: "welcome", onRequest }) as const;
    smsc = await listen({ host: "127.0.0.1", port: 0, window: 10, onBind });
    house = await openHouse("sqlite", {
      clock,
      strain: (routeClass) => (routeClass === "OTP" ? AT_EASE : BEHIND),
      env: { HELIOGRAPH_LANE_CAPACITY: "1", HELIOGRAPH_DISPATCH_WINDOW: "2" },
      beyond: { nodeSilentSeconds: 86_400 },
    });
    const smpp = { host: "127.0.0.1", port: smsc.port, systemId: "slow", password: "secret" };
    const made = await house.ask<{ id: string }>("POST", "/api/carriers", { name: "silent", adapter: "smpp", smpp });
    await eventually(
      async () => (await house.ask<{ up: boolean }>("GET", `/api/carriers/${made.body.id}/state`)).body.up,
      (up) => up,
    );
    await house.ask("POST", "/api/routes", {
      name: "Silent",
      channel: "sms",
      carrier: "silent",
      routeClasses: ["TRANS"],
      priority: 1,
    });
  });
  afterEach(async () => {
    // Past the time that anybody waits for an answer.
    clock.advance(120_000);
    await smsc.close();
    await house.close();
  });

  const gauge = async (name: string): Promise<number> => {
    const metrics = await (await fetch(`${house.url}/metrics`)).text();
    return Number(new RegExp(`^${name} (\\d+)`, "m").exec(metrics)?.[1]);
  };

  test("answers 503 with Retry-After on either door, and passwords and what is for later are accepted all the same", async () => {
    for (const why of ["it goes to its carrier", "so does this", "it waits in the lane"])
      expect({ why, status: (await house.send()).status }).toEqual({ why, status: 200 });
    const text = { sender: "HELIOG", to: "15550100100", text: "Hello", type: "TRANS" };
    const express = house.send();
    const ordinary = house.ask<Envelope>("POST", "/v1/sms?a=query+is+for+the+ordinary+door", text);
    await eventually(
      () => gauge("heliograph_requests_waiting"),
      (count) => count === 2,
    );
    expect((await house.send({ type: "OTP", text: "482913" })).status).toBe(200);
    expect((await house.send({ sendAt: clock.now() + 3_600_000 })).status).toBe(200);
    clock.advance(1010);
    for (const { status, headers, body } of await Promise.all([express, ordinary])) {
      expect(status).toBe(503);
      expect(headers.get("retry-after")).toBe("2");
      expect(body satisfies Envelope).toMatchObject({ id: null, data: [], error: { code: "OVERLOADED" } });
    }
  });
});
