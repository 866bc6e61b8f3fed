import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { ResumePlan } from "../../src/model/hold.ts";
import { messageIdOf, type Message } from "../../src/model/message.ts";
import { failOver } from "../../src/pipeline/dispatch/failover.ts";
import { receiveReceipt } from "../../src/pipeline/receipts/receive-receipt.ts";
import { dropUnsent } from "../../src/pipeline/resume-held.ts";
import { ENGINES } from "../support/engines.ts";
import { TestPipeline } from "../support/test-pipeline.ts";

const byId = (one: { id: string }, other: { id: string }): number => one.id.localeCompare(other.id);

describe.each(ENGINES)("the end of a hold on %s", (engine) => {
  let pipeline: TestPipeline;
  beforeEach(async () => {
    pipeline = await TestPipeline.open(engine);
  });
  afterEach(() => pipeline.close());

  const end = (plan: Partial<ResumePlan>): Promise<number> =>
    dropUnsent(
      { ...pipeline.deps, store: pipeline.store },
      { at: pipeline.clock.now(), waiting: "send", inDoubt: "send", ...plan },
      async () => true,
    );

  /** Submitted by a route with a failover after 10 seconds. */
  async function submitted(): Promise<Message> {
    pipeline.addCarrier("first").answer = () => ({ kind: "taken", carrierMessageId: "f-1" });
    pipeline.route("First", { carrier: "first", priority: 1, failoverAfterSeconds: 10 });
    const message = await pipeline.accept();
    await pipeline.dispatch(message);
    return message;
  }

  test("without its failover, a message ends by the failure receipt that was held back for it", async () => {
    const message = await submitted();
    const receipt = { carrier: "1/first", carrierMessageId: "f-1", errorCode: null, description: null };
    await receiveReceipt(pipeline.deps, { ...receipt, state: "undelivered", at: pipeline.clock.now() });
    expect(await pipeline.read(message)).toMatchObject({ state: "submitted" });
    await end({ inDoubt: "drop" });
    expect(await pipeline.read(message)).toMatchObject({ state: "undelivered" });
  });

  test("a dropped failover sends nothing, and a submitted message keeps its state", async () => {
    const message = await submitted();
    await end({ inDoubt: "drop" });
    pipeline.clock.advance(10_000);
    await failOver(pipeline.deps);
    expect(await pipeline.claim()).toEqual([]);
    expect(await pipeline.read(message)).toMatchObject({ state: "submitted" });
  });

  test("a choice for a message comes before that for its campaign, and both before that for the group", async () => {
    const [group, single, campaign, kept, other] = [
      await pipeline.accept(),
      await pipeline.accept(),
      await pipeline.accept("PROMO", 3_600_000, { campaignName: "spring" }),
      await pipeline.accept("PROMO", 3_600_000, { campaignName: "spring" }),
      await pipeline.accept("PROMO", 3_600_000, { campaignName: "autumn" }),
    ];
    const states = async () =>
      (await Promise.all([group, single, campaign, kept, other].map((each) => pipeline.read(each)))).map(
        ({ state }) => state,
      );
    const choice = (choices: "send" | "drop", of: Message) => ({ messageId: messageIdOf(of), choice: choices });
    expect(
      await end({
        exceptions: {
          messages: [choice("drop", single), choice("send", kept)],
          campaigns: [
            { accountId: 1, name: "spring", choice: "drop" },
            { accountId: 2, name: "autumn", choice: "drop" },
          ],
        },
      }),
    ).toBe(2);
    expect(await states()).toEqual(["accepted", "expired", "expired", "accepted", "accepted"]);
    expect(
      await end({
        waiting: "drop",
        exceptions: { messages: [choice("send", kept)], campaigns: [{ accountId: 1, name: "autumn", choice: "send" }] },
      }),
    ).toBe(1);
    expect(await states()).toEqual(["expired", "expired", "expired", "accepted", "accepted"]);
  });

  test("every message that is not sent is listed once, page by page, and no other", async () => {
    const now = pipeline.clock.now();
    const accepted = await Promise.all(Array.from({ length: 5 }, () => pipeline.accept()));
    const later = await pipeline.accept("PROMO", 3_600_000, { dueAt: now + 60_000, campaignName: "spring" });
    await submitted();
    const listed: { kind: string; id: string }[] = [];
    for (let after: Message | null = null, isLast = false; !isLast;) {
      const page = await pipeline.store.listEachUnsent(now, after, 2);
      listed.push(...page.map(({ kind, message }) => ({ kind, id: messageIdOf(message) })));
      after = page.at(-1)?.message ?? null;
      isLast = page.length < 2;
    }
    const expected = [...accepted.map((each) => ["waiting", each] as const), ["later", later] as const];
    expect(listed.toSorted(byId)).toEqual(
      expected.map(([kind, each]) => ({ kind, id: messageIdOf(each) })).toSorted(byId),
    );
    expect(await pipeline.store.listUnsentCampaigns(now)).toEqual([]);
    expect(await pipeline.store.listUnsentCampaigns(now + 60_000)).toEqual([{ accountId: 1, name: "spring" }]);
  });

  test("messages scheduled for after the decision stay, however late it is carried out", async () => {
    const now = pipeline.clock.now();
    const [waiting, later] = [
      await pipeline.accept(),
      await pipeline.accept("TRANS", 3_600_000, { dueAt: now + 60_000 }),
    ];
    const decision = { at: now, waiting: "drop" } as const;
    pipeline.clock.advance(120_000);
    expect(await end(decision)).toBe(1);
    expect(await pipeline.read(waiting)).toMatchObject({ state: "expired", errorCode: "DROPPED_AFTER_RESTORE" });
    expect(await pipeline.read(later)).toMatchObject({ state: "scheduled" });
  });
});
