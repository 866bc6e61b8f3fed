import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { DoorFull } from "../src/lib/narrow-door.ts";
import type { RouteClass } from "../src/model/message.ts";
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
  const WAIT_MS = 500;
  let clock: MovedClock;
  let lanes: Lanes;
  let strain: Strain;
  let commit: { load: number; waitingMs: number };
  let doorstep: Doorstep;
  const entered: string[] = [];

  beforeEach(() => {
    clock = new MovedClock();
    lanes = new Lanes(CAPACITY);
    strain = BEHIND;
    commit = { load: 0, waitingMs: 0 };
    entered.length = 0;
    doorstep = open({ lanes, strain: () => strain });
  });

  function open(sending: { lanes: Lanes; strain(): Strain } | null): Doorstep {
    const commits = { accept: commit, urgentAccept: { load: 0, waitingMs: 0 } };
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

  test("whoever comes when the first has waited too long is turned away, and nobody who waits is", () => {
    fill();
    void enter("first");
    clock.advance(WAIT_MS - 1);
    void enter("second");
    expect(doorstep.isShut("TRANS")).toBe(false);
    clock.advance(1);
    expect(doorstep.isShut("TRANS")).toBe(true);
    expect(() => enter("third")).toThrow(DoorFull);
    lanes.giveBack("TRANS", 4);
    clock.advance(10);
    expect(entered).toEqual(["first", "second"]);
    expect(doorstep.isShut("TRANS")).toBe(false);
  });

  test("each type has a line of its own: passwords enter past promotions that are turned away", () => {
    fill("PROMO");
    void enter("promotion", "PROMO");
    clock.advance(WAIT_MS);
    expect(doorstep.isShut("PROMO")).toBe(true);
    void enter("password", "OTP");
    void enter("transaction");
    expect(entered).toEqual(["password", "transaction"]);
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

  test("a request that no lane could hold waits for none", () => {
    fill();
    void enter("bulk", "PROMO", CAPACITY + 1);
    expect(entered).toEqual(["bulk"]);
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
  beforeEach(async () => {
    clock = new MovedClock();
    house = await openHouse("sqlite", {
      clock,
      strain: () => BEHIND,
      env: { HELIOGRAPH_LANE_CAPACITY: "1" },
      beyond: { nodeSilentSeconds: 86_400 },
    });
    await house.ask("POST", "/api/carriers", { name: "slow", messagesPerSecond: 1 });
    await house.ask("POST", "/api/routes", { name: "Slow", carrier: "slow", routeClasses: ["TRANS"], priority: 1 });
  });
  afterEach(() => house.close());

  const gauge = async (name: string): Promise<number> => {
    const metrics = await (await fetch(`${house.url}/metrics`)).text();
    return Number(new RegExp(`^${name} (\\d+)`, "m").exec(metrics)?.[1]);
  };

  test("answers 503 with Retry-After on either door, and passwords are accepted all the same", async () => {
    expect((await house.send()).status, "it goes to its carrier").toBe(200);
    expect((await house.send()).status, "it waits for the carrier's next second, and fills the lane").toBe(200);
    const waiting = house.send();
    await eventually(
      () => gauge("heliograph_requests_waiting"),
      (count) => count === 1,
    );
    clock.advance(500);

    const express = await house.send();
    const text = { sender: "HELIOG", to: "15550100100", text: "Hello", type: "TRANS" };
    const ordinary = await house.ask<Envelope>("POST", "/v1/sms?a=query+is+for+the+ordinary+door", text);
    for (const { status, headers, body } of [express, ordinary]) {
      expect(status).toBe(503);
      expect(headers.get("retry-after")).toBe("2");
      expect(body satisfies Envelope).toMatchObject({ id: null, data: [], error: { code: "OVERLOADED" } });
    }
    expect((await house.send({ type: "OTP", text: "482913" })).status).toBe(200);

    clock.advance(1000);
    expect((await waiting).status, "who has waited is accepted when there is room").toBe(200);
  });
});
