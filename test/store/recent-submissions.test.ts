import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Receipt } from "../../src/model/receipt.ts";
import { RecentSubmissions } from "../../src/pipeline/receipts/recent-submissions.ts";
import { receiveReceipt } from "../../src/pipeline/receipts/receive-receipt.ts";
import { ENGINES } from "../support/engines.ts";
import { sampleMessage } from "../support/message.ts";
import { MovedClock } from "../support/moved-clock.ts";
import { TestPipeline } from "../support/test-pipeline.ts";

const receipt = (changes: Partial<Receipt> = {}): Receipt => ({
  carrier: "scripted",
  carrierMessageId: "c-1",
  state: "delivered",
  errorCode: null,
  description: null,
  at: 7,
  ...changes,
});

describe("recent submissions", () => {
  const clock = new MovedClock();
  const message = sampleMessage({ recipient: "33612345678" });
  const { accountId, requestId, n } = message;
  const ref = { accountId, requestId, n, asKnown: null };
  let taken: RecentSubmissions;
  beforeEach(() => {
    taken = new RecentSubmissions(clock);
  });

  test("a recent submission is found by carrier and id once the id is stored", async () => {
    let write = (): void => {};
    taken.record("scripted", "c-1", message, new Promise<void>((resolve) => (write = resolve)));
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

  test("a recent submission has the expected row until its first receipt", async () => {
    const known = { channel: "sms", routeClass: "TRANS", recipient: "33612345678", campaignName: null } as const;
    const { sender, credits, createdAt } = message;
    taken.record("scripted", "c-1", message, Promise.resolve(), known);
    expect(await taken.find(receipt())).toEqual({
      ...ref,
      asKnown: { expected: known, snapshot: { sender, credits, createdAt } },
    });
    taken.record("scripted", "c-1", message, Promise.resolve(), known);
    await taken.find(receipt({ state: "enroute" }));
    expect(await taken.find(receipt())).toEqual(ref);
  });

  test("a receipt is left to the store if the id could not be stored or it names another phone", async () => {
    taken.record("scripted", "c-1", message, Promise.reject(new Error("no")));
    expect(await taken.find(receipt())).toBeNull();
    taken.record("scripted", "c-1", message, Promise.resolve());
    expect(await taken.find(receipt({ recipient: "33699999999" }))).toBeNull();
    const written = ["33612345678", "+33612345678", "0612345678", "unknown", "42"];
    const found = written.map((recipient) => taken.find(receipt({ recipient, state: "enroute" })));
    expect(await Promise.all(found)).toEqual(written.map(() => ref));
  });

  test("a recent submission is forgotten with its final receipt", async () => {
    taken.record("scripted", "c-1", message, Promise.resolve());
    expect(await taken.find(receipt({ state: "enroute" }))).toEqual(ref);
    expect(await taken.find(receipt())).toEqual(ref);
    expect(await taken.find(receipt())).toBeNull();
  });

  test("a recent submission is not forgotten before its id is stored: receipts wait for that", async () => {
    let write = (): void => {};
    taken.record("scripted", "c-1", message, new Promise<void>((resolve) => (write = resolve)));
    const found = [taken.find(receipt()), taken.find(receipt({ state: "enroute" }))];
    await new Promise((resolve) => setImmediate(resolve));
    found.push(taken.find(receipt()));
    write();
    expect(await Promise.all(found)).toEqual([ref, ref, ref]);
  });

  test("a recent submission with a reused id replaces the earlier one", async () => {
    const newest = sampleMessage({ recipient: "33612345678" });
    taken.record("scripted", "c-1", message, Promise.resolve());
    for (let other = 0; other < 20_000; other += 1) taken.record("scripted", `o-${other}`, message, Promise.resolve());
    taken.record("scripted", "c-1", newest, Promise.resolve());
    expect(await taken.find(receipt())).toMatchObject({ requestId: newest.requestId });
    expect(await taken.find(receipt())).toBeNull();
  });

  test("a recent submission belongs to the newest message of its id, and is forgotten after 30 seconds or 40,000 others", async () => {
    const newest = sampleMessage();
    taken.record("scripted", "c-1", message, Promise.resolve());
    taken.record("scripted", "c-1", newest, Promise.resolve());
    const enroute = receipt({ state: "enroute" });
    expect(await taken.find(enroute)).toMatchObject({ requestId: newest.requestId });
    clock.advance(29_999);
    expect(await taken.find(enroute)).toMatchObject({ requestId: newest.requestId });
    clock.advance(2);
    expect(await taken.find(enroute)).toBeNull();
    taken.record("scripted", "c-1", message, Promise.resolve());
    for (let other = 0; other < 40_000; other += 1) taken.record("scripted", `o-${other}`, message, Promise.resolve());
    expect(await taken.find(enroute)).toBeNull();
  });
});

describe.each(ENGINES)("a receipt that arrives while its submit is stored, on %s", (engine) => {
  let pipeline: TestPipeline;
  beforeEach(async () => {
    pipeline = await TestPipeline.open(engine);
  });
  afterEach(() => pipeline.close());

  test("a receipt waits for its submit to be stored and is applied, without being stored as unmatched", async () => {
    const message = await pipeline.accept();
    let reported: Promise<void> = Promise.resolve();
    pipeline.carrier.answer = () => {
      // The receipt is in the same packet as the submit ack, before the ack has been handled.
      reported = receiveReceipt(pipeline.deps, receipt());
      return { kind: "taken", carrierMessageId: "c-1" };
    };
    const asked: string[] = [];
    const { find, storeUnmatched: park } = pipeline.deps.commits;
    pipeline.deps.commits.find = { ...find, add: (item) => (asked.push("find"), find.add(item)) };
    pipeline.deps.commits.storeUnmatched = { ...park, add: (item) => (asked.push("park"), park.add(item)) };
    await pipeline.dispatch(message);
    await new Promise((resolve) => setImmediate(resolve));
    await reported;
    expect(await pipeline.read(message)).toMatchObject({ state: "delivered" });
    expect(asked).toEqual([]);
  });

  test("a receipt from a carrier without requested receipts is applied although its message is not in memory", async () => {
    const message = await pipeline.accept();
    let reported: Promise<void> = Promise.resolve();
    pipeline.carrier.sendsNoReceipts = true;
    pipeline.carrier.answer = () => {
      reported = receiveReceipt(pipeline.deps, receipt());
      return { kind: "taken", carrierMessageId: "c-1" };
    };
    await pipeline.dispatch(message);
    expect(await pipeline.deps.recentSubmissions.find(receipt())).toBeNull();
    await reported;
    expect(await pipeline.read(message)).toMatchObject({ state: "delivered" });
  });
});
