import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Receipt } from "../src/carriers/carrier.ts";
import { JustTaken } from "../src/messages/just-taken.ts";
import { report } from "../src/messages/report.ts";
import { ENGINES } from "./support/engines.ts";
import { messageInHand } from "./support/message.ts";
import { MovedClock } from "./support/moved-clock.ts";
import { Workshop } from "./support/workshop.ts";

const receipt = (changes: Partial<Receipt> = {}): Receipt => ({
  carrier: "scripted",
  carrierMessageId: "c-1",
  state: "delivered",
  errorCode: null,
  description: null,
  at: 7,
  ...changes,
});

describe("what carriers have just taken", () => {
  const clock = new MovedClock();
  const message = messageInHand({ recipient: "33612345678" });
  const { accountId, requestId, n } = message;
  const ref = { accountId, requestId, n, asKnown: null };
  let taken: JustTaken;
  beforeEach(() => {
    taken = new JustTaken(clock);
  });

  test("is found by its id and its carrier, once the id is written down", async () => {
    let write = (): void => {};
    taken.note("scripted", "c-1", message, new Promise<void>((resolve) => (write = resolve)));
    let found: unknown = "waits";
    const finding = taken.find(receipt({ state: "enroute" })).then((seen) => (found = seen));
    await new Promise((resolve) => setImmediate(resolve));
    expect(found).toBe("waits");
    write();
    await finding;
    expect(found).toEqual(ref);
    expect(await taken.find(receipt({ carrier: "another" }))).toBeNull();
    expect(await taken.find(receipt({ carrierMessageId: "c-2" }))).toBeNull();
  });

  test("is found with what a store need not look up of it, if anybody knows that, until a first word on it", async () => {
    const known = { channel: "sms", routeClass: "TRANS", recipient: "33612345678" } as const;
    const { sender, credits, createdAt } = message;
    taken.note("scripted", "c-1", message, Promise.resolve(), known);
    expect(await taken.find(receipt())).toEqual({ ...ref, asKnown: { known, facts: { sender, credits, createdAt } } });
    taken.note("scripted", "c-1", message, Promise.resolve(), known);
    await taken.find(receipt({ state: "enroute" }));
    expect(await taken.find(receipt())).toEqual(ref);
  });

  test("is left to the store where the id could not be written, or the receipt is about another phone", async () => {
    taken.note("scripted", "c-1", message, Promise.reject(new Error("no")));
    expect(await taken.find(receipt())).toBeNull();
    taken.note("scripted", "c-1", message, Promise.resolve());
    expect(await taken.find(receipt({ recipient: "33699999999" }))).toBeNull();
    const written = ["33612345678", "+33612345678", "0612345678", "unknown", "42"];
    const found = written.map((recipient) => taken.find(receipt({ recipient, state: "enroute" })));
    expect(await Promise.all(found)).toEqual(written.map(() => ref));
  });

  test("is forgotten with the last word on it, which is the last that most messages hear", async () => {
    taken.note("scripted", "c-1", message, Promise.resolve());
    expect(await taken.find(receipt({ state: "enroute" }))).toEqual(ref);
    expect(await taken.find(receipt())).toEqual(ref);
    expect(await taken.find(receipt())).toBeNull();
  });

  test("is not forgotten before the id is written down: what comes meanwhile waits as well", async () => {
    let write = (): void => {};
    taken.note("scripted", "c-1", message, new Promise<void>((resolve) => (write = resolve)));
    const found = [taken.find(receipt()), taken.find(receipt({ state: "enroute" }))];
    await new Promise((resolve) => setImmediate(resolve));
    found.push(taken.find(receipt()));
    write();
    expect(await Promise.all(found)).toEqual([ref, ref, ref]);
  });

  test("that has an id which was used before is not forgotten in favour of the one before it", async () => {
    const newest = messageInHand({ recipient: "33612345678" });
    taken.note("scripted", "c-1", message, Promise.resolve());
    for (let other = 0; other < 20_000; other += 1) taken.note("scripted", `o-${other}`, message, Promise.resolve());
    taken.note("scripted", "c-1", newest, Promise.resolve());
    expect(await taken.find(receipt())).toMatchObject({ requestId: newest.requestId });
    expect(await taken.find(receipt())).toBeNull();
  });

  test("belongs to the newest message of an id, and is forgotten after half a minute or twice twenty thousand others", async () => {
    const newest = messageInHand();
    taken.note("scripted", "c-1", message, Promise.resolve());
    taken.note("scripted", "c-1", newest, Promise.resolve());
    const enroute = receipt({ state: "enroute" });
    expect(await taken.find(enroute)).toMatchObject({ requestId: newest.requestId });
    clock.advance(29_999);
    expect(await taken.find(enroute)).toMatchObject({ requestId: newest.requestId });
    clock.advance(2);
    expect(await taken.find(enroute)).toBeNull();
    taken.note("scripted", "c-1", message, Promise.resolve());
    for (let other = 0; other < 40_000; other += 1) taken.note("scripted", `o-${other}`, message, Promise.resolve());
    expect(await taken.find(enroute)).toBeNull();
  });
});

describe.each(ENGINES)("a receipt that comes while its submit is being written on %s", (engine) => {
  let shop: Workshop;
  beforeEach(async () => {
    shop = await Workshop.open(engine);
  });
  afterEach(() => shop.close());

  test("waits for that and is applied; it is not parked, and the store is not asked whose it is", async () => {
    const message = await shop.accept();
    let reported: Promise<void> = Promise.resolve();
    shop.carrier.answer = () => {
      // In the same packet as the answer, of which nobody has heard yet.
      reported = report(shop.needs, receipt());
      return { kind: "taken", carrierMessageId: "c-1" };
    };
    const asked: string[] = [];
    const { find, park } = shop.needs.commits;
    shop.needs.commits.find = { ...find, add: (item) => (asked.push("find"), find.add(item)) };
    shop.needs.commits.park = { ...park, add: (item) => (asked.push("park"), park.add(item)) };
    await shop.dispatch(message);
    await new Promise((resolve) => setImmediate(resolve));
    await reported;
    expect(await shop.read(message)).toMatchObject({ state: "delivered" });
    expect(asked).toEqual([]);
  });

  test("from a carrier that was asked for none is applied as well, though nothing of its message is kept in memory", async () => {
    const message = await shop.accept();
    let reported: Promise<void> = Promise.resolve();
    shop.carrier.reportsNothing = true;
    shop.carrier.answer = () => {
      reported = report(shop.needs, receipt());
      return { kind: "taken", carrierMessageId: "c-1" };
    };
    await shop.dispatch(message);
    expect(await shop.needs.taken.find(receipt())).toBeNull();
    await reported;
    expect(await shop.read(message)).toMatchObject({ state: "delivered" });
  });
});
