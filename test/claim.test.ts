import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Message, RouteClass } from "../src/model/message.ts";
import { claimDue } from "../src/work/claim.ts";
import { Lanes } from "../src/work/lanes.ts";
import { ENGINES } from "./support/engines.ts";
import { Workshop, type ScriptedCarrier } from "./support/workshop.ts";

const LANE = 2000;

describe.each(ENGINES)("claims from a queue whose line is down, on %s", (engine) => {
  let shop: Workshop;
  let north: ScriptedCarrier;
  let lanes: Lanes;
  beforeEach(async () => {
    shop = await Workshop.open(engine);
    lanes = new Lanes(LANE);
    north = shop.addCarrier("north");
    shop.route("Everything to the simulator", { carrier: "north" });
    shop.addCarrier("south");
    shop.route("South", { carrier: "south", prefixes: ["44"], priority: 0 });
    north.up = false;
  });
  afterEach(() => shop.close());

  /** Messages that this node has stored and not kept, each batch due after the one before. */
  async function queue(count: number, recipient = "15550100100", routeClass: RouteClass = "TRANS"): Promise<Message[]> {
    const messages = await Promise.all(
      Array.from({ length: count }, () => shop.accept(routeClass, 3_600_000, { recipient })),
    );
    await shop.store.release(
      shop.needs.membership.node,
      messages.map(({ requestId }) => ({ accountId: 1, requestId })),
    );
    shop.clock.advance(1);
    return messages;
  }
  /** One claim into lanes that have so much room, and everything that it gave sent or put off. */
  async function claimAndSend(room = LANE): Promise<{ claimed: number; more: boolean }> {
    for (const routeClass of ["OTP", "TRANS"] as const) lanes.reserve(routeClass, LANE - room);
    const more = await claimDue({ ...shop.needs, store: shop.store, lanes });
    for (const routeClass of ["OTP", "TRANS"] as const) lanes.giveBack(routeClass, LANE - room);
    const claimed = lanes.size;
    const messages = Array.from({ length: claimed }, () => lanes.take() as Message);
    await Promise.all(messages.map((message) => shop.dispatch(message)));
    return { claimed, more };
  }

  test("are small when the last was in vain, and nothing is fetched at once; what came last does not wait behind", async () => {
    await queue(500);
    const [last] = await queue(1, "447700900123");
    expect(await claimAndSend(100)).toEqual({ claimed: 100, more: true });
    expect((await shop.read(last as Message)).state).toBe("accepted");
    expect(await claimAndSend()).toEqual({ claimed: 300, more: false });
    expect((await shop.read(last as Message)).state).toBe("submitted");
    expect(await claimAndSend()).toEqual({ claimed: 101, more: false });
  });

  test("are as large as ever once the line is back", async () => {
    await queue(650);
    await queue(650);
    await claimAndSend(100);
    expect((await claimAndSend()).claimed).toBe(300);
    north.up = true;
    expect(await claimAndSend()).toEqual({ claimed: 300, more: false });
    expect((await claimAndSend()).claimed).toBe(600);
    shop.clock.advance(5000);
    // Those that were put off have their turn, and none is left.
    expect(await claimAndSend()).toEqual({ claimed: 400, more: false });
    expect(north.submitted).toHaveLength(1300);
  });

  test("are as large as ever for passwords", async () => {
    await queue(600, "15550100100", "OTP");
    await claimAndSend(100);
    expect((await claimAndSend()).claimed).toBe(500);
    shop.clock.advance(5000);
    expect((await claimAndSend()).claimed).toBe(600);
  });

  test("are as large as ever while only messages that were never claimed are put off", async () => {
    await queue(600, "447700900123");
    await claimAndSend(100);
    await Promise.all(Array.from({ length: 100 }, async () => shop.dispatch(await shop.accept())));
    expect((await claimAndSend()).claimed).toBe(500);
  });
});
