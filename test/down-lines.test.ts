import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Message, RouteClass } from "../src/model/message.ts";
import { NOBODY } from "../src/store/store.ts";
import { claimDue } from "../src/work/claim.ts";
import { DownLines } from "../src/work/down-lines.ts";
import { Lanes } from "../src/work/lanes.ts";
import { ENGINES } from "./support/engines.ts";
import { Workshop } from "./support/workshop.ts";

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const NORTH = ["1/north"];

/** A message that is valid until `expiresAt`. */
const waiter = (routeClass: RouteClass = "TRANS", expiresAt = Infinity): Message =>
  ({ accountId: 1, routeClass, expiresAt }) as Message;

describe("messages whose line is down", () => {
  const open = (isAlone = true): DownLines => new DownLines({ now: 0, isAlone: () => isAlone });

  test("wait for their usual pause as long as they are few", () => {
    const downLines = open();
    for (let at = 0; at < MINUTE; at += 10)
      expect(downLines.nextTry(waiter(), NORTH, at, 30 * SECOND)).toBe(at + 30 * SECOND);
  });

  test("wait longer the more they are, so that no more than 500 a second are tried again", () => {
    const downLines = open();
    let due = Array.from({ length: 100_000 }, (_, place) => place / 10);
    const triedIn: number[] = [];
    for (let round = 0; round < 3; round += 1) {
      due = due.map((at) => downLines.nextTry(waiter(), NORTH, at, 30 * SECOND)).toSorted((a, b) => a - b);
      for (const at of due) triedIn[Math.floor(at / SECOND)] = (triedIn[Math.floor(at / SECOND)] ?? 0) + 1;
    }
    const steady = triedIn.slice(40, 500).map((count) => count ?? 0);
    expect(Math.max(...steady)).toBeLessThanOrEqual(550);
    expect(steady.reduce((sum, count) => sum + count) / steady.length).toBeGreaterThan(450);
  });

  test("wait for a quarter of an hour at the most, and not past their validity", () => {
    const downLines = open();
    for (let n = 0; n < 1_000_000; n += 1) downLines.nextTry(waiter(), NORTH, 0, 30 * SECOND);
    expect(downLines.nextTry(waiter(), NORTH, 0, 30 * SECOND)).toBe(15 * MINUTE);
    expect(downLines.nextTry(waiter("TRANS", 5 * MINUTE), NORTH, 0, 30 * SECOND)).toBe(5 * MINUTE);
  });

  test("wait no longer than usual if they are passwords or in doubt, or if another node may have the line", () => {
    const alone = open();
    const oneOfTwo = open(false);
    const inDoubt: Message = { ...waiter(), state: "submitting" };
    const waits = Array.from({ length: 100_000 }, () => [
      alone.nextTry(waiter("OTP"), NORTH, 0, 5 * SECOND),
      alone.nextTry(inDoubt, NORTH, 0, 30 * SECOND),
      oneOfTwo.nextTry(waiter(), NORTH, 0, 30 * SECOND),
    ]);
    expect(waits.at(-1)).toEqual([5 * SECOND, 30 * SECOND, 30 * SECOND]);
  });

  test("wait no longer because the clock was set back, and as usual once there was time for all of them", () => {
    const downLines = open();
    for (let n = 0; n < 100_000; n += 1) downLines.nextTry(waiter(), NORTH, 60 * MINUTE, 30 * SECOND);
    expect(downLines.nextTry(waiter(), NORTH, 0, 30 * SECOND)).toBe(100_001 * 2);
    expect(downLines.nextTry(waiter(), NORTH, 4 * MINUTE, 30 * SECOND)).toBe(4 * MINUTE + 30 * SECOND);
  });

  test("are all claimed when their line has taken one of them, each once; another line's success says nothing", () => {
    const downLines = open();
    // After a start it may have been any line that somebody waited for.
    downLines.foundWay("1/south", "TRANS", 0);
    expect(downLines.earlyOf("TRANS")).toEqual({ after: 30 * SECOND, by: 15 * MINUTE });
    downLines.wentOn("TRANS", 40 * SECOND);
    expect(downLines.earlyOf("TRANS")).toEqual({ after: 40 * SECOND, by: 15 * MINUTE });
    downLines.wentOn("TRANS", null);
    for (let n = 0; n < 100_000; n += 1) downLines.nextTry(waiter(), NORTH, SECOND, 30 * SECOND);
    for (const [line, routeClass] of [
      ["1/south", "TRANS"],
      ["2/north", "TRANS"],
    ] as const) {
      downLines.foundWay(line, routeClass, 2 * SECOND);
      expect(downLines.earlyOf("TRANS")).toBeNull();
    }
    downLines.foundWay("1/north", "TRANS", 2 * SECOND);
    expect(downLines.earlyOf("TRANS")).toEqual({ after: 32 * SECOND, by: 201 * SECOND });
    expect(downLines.earlyOf("PROMO")).toBeNull();
    downLines.wentOn("TRANS", null);
    downLines.foundWay("1/north", "TRANS", 3 * SECOND);
    expect(downLines.earlyOf("TRANS")).toBeNull();
    // From here on they are few again.
    expect(downLines.nextTry(waiter(), NORTH, 3 * SECOND, 30 * SECOND)).toBe(33 * SECOND);
  });
});

describe.each(ENGINES)("a queue before a line that is down, on %s", (engine) => {
  let shop: Workshop;
  beforeEach(async () => {
    shop = await Workshop.open(engine);
    shop.addCarrier("north");
    shop.route("Everything to the simulator", { carrier: "north" });
  });
  afterEach(() => shop.close());

  const setUp = (isUp: boolean): void => {
    const north = shop.others.get("1/north");
    if (north) north.up = isUp;
  };
  const claimInto = (lanes: Lanes): ReturnType<typeof claimDue> =>
    claimDue({ ...shop.needs, store: shop.store, lanes });
  /** As if many others waited before the next one. */
  const crowd = (others: number): void => {
    for (let n = 0; n < others; n += 1) shop.needs.downLines.nextTry(waiter(), NORTH, shop.clock.now(), 30 * SECOND);
  };

  test("is sent as soon as one of its messages has found that the line is back, and nothing else before its time", async () => {
    // After a start it could have been any line; that is over.
    shop.needs.downLines.foundWay("1/north", "TRANS", shop.clock.now());
    shop.needs.downLines.wentOn("TRANS", null);
    setUp(false);
    const probe = await shop.accept();
    await shop.dispatch(probe);
    crowd(100_000);
    const others: Message[] = [];
    for (let n = 0; n < 5; n += 1) others.push(await shop.accept());
    for (const message of others) await shop.dispatch(message);
    const dueAt = (await shop.read(others[0] as Message)).dueAt;
    expect(dueAt - shop.clock.now()).toBeGreaterThan(3 * MINUTE);
    // Scheduled for a time between those.
    const scheduled = await shop.accept();
    const { node } = shop.needs.membership;
    const hold = { to: "scheduled", at: shop.clock.now(), owner: NOBODY, ownedBy: node, dueAt: dueAt - 1 } as const;
    await shop.store.move([{ accountId: 1, requestId: scheduled.requestId, n: 1, ...hold }]);

    setUp(true);
    const lanes = new Lanes(4);
    shop.clock.advance(2 * SECOND);
    await claimInto(lanes);
    const first = lanes.take();
    expect(first?.requestId).toBe(probe.requestId);
    expect(lanes.size).toBe(0);
    await shop.dispatch(first as Message);
    const sent: string[] = [];
    for (let turn = 0; turn < 10; turn += 1) {
      await claimInto(lanes);
      for (let next = lanes.take(); next; next = lanes.take()) {
        sent.push(next.requestId);
        await shop.dispatch(next);
      }
    }
    expect(sent).toEqual(others.map(({ requestId }) => requestId));
    for (const message of others) expect((await shop.read(message)).state).toBe("submitted");
    expect((await shop.read(scheduled)).state).toBe("scheduled");
  });

  test("is not fetched at full speed when all that was claimed was put off again, and what came last passes it", async () => {
    setUp(false);
    const { node } = shop.needs.membership;
    const queue = async (recipient: string): Promise<Message> => {
      const message = await shop.accept("TRANS", MINUTE, { recipient });
      await shop.store.release(node, [{ accountId: 1, requestId: message.requestId }]);
      return message;
    };
    await Promise.all(Array.from({ length: 700 }, () => queue("15550100100")));
    shop.clock.advance(1);
    shop.addCarrier("south");
    shop.route("South", { carrier: "south", prefixes: ["44"], priority: 0 });
    const last = await queue("447700900123");
    const lanes = new Lanes(2000);
    const claimAndDispatch = async (room = 2000): Promise<{ more: boolean; claimed: number }> => {
      lanes.reserve("TRANS", 2000 - room);
      const more = await claimInto(lanes);
      lanes.giveBack("TRANS", 2000 - room);
      const claimed = lanes.size;
      for (let next = lanes.take(); next; next = lanes.take()) await shop.dispatch(next);
      return { more, claimed };
    };
    expect(await claimAndDispatch(100)).toEqual({ more: true, claimed: 100 });
    expect((await shop.read(last)).state).toBe("accepted");
    expect(await claimAndDispatch()).toEqual({ more: false, claimed: 500 });
    expect((await shop.read(last)).state).toBe("submitted");
  });
});
