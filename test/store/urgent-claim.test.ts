import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createLog } from "../../src/lib/log.ts";
import type { Message } from "../../src/model/message.ts";
import { openQueues, type OpenedQueues } from "../../src/pipeline/dispatch/open-queues.ts";
import { refOf } from "../../src/pipeline/dispatch/record-submitted.ts";
import { UrgentRows } from "../../src/pipeline/dispatch/urgent-rows.ts";
import { createGroupCommit, type GroupCommit } from "../../src/pipeline/group-commit.ts";
import { UNOWNED, type MessageStore } from "../../src/store/store.ts";
import { acceptance } from "../support/acceptances.ts";
import { ENGINES } from "../support/engines.ts";
import { eventually } from "../support/eventually.ts";
import { TestPipeline } from "../support/test-pipeline.ts";

describe.each(ENGINES)("unowned one-time passwords on %s", (engine) => {
  let pipeline: TestPipeline;
  let commits: GroupCommit;
  let sending: OpenedQueues;
  /** Ends the claim of promotions that a round has begun. */
  let endClaim: () => void;
  let claiming: Promise<void>;
  /** Claims of one-time passwords by this node. */
  let urgentClaims: number;

  /** A node whose claim round waits in its claim of promotions. */
  beforeEach(async () => {
    pipeline = await TestPipeline.open(engine);
    const { store, clock } = pipeline;
    const begun = Promise.withResolvers<void>();
    const ended = Promise.withResolvers<void>();
    endClaim = ended.resolve;
    const claim: MessageStore["claim"] = async (wanted) => {
      if (wanted.routeClass === "OTP") urgentClaims += 1;
      if (wanted.routeClass !== "PROMO") return store.claim(wanted);
      begun.resolve();
      await ended.promise;
      return [];
    };
    const urgentRows = new UrgentRows(clock);
    commits = createGroupCommit(
      { store, clock, log: createLog("silent"), observers: [urgentRows] },
      { acceptBacklog: 1000 },
    );
    const slow = { ...store, claim };
    sending = openQueues({ ...pipeline.deps, commits }, slow, { laneCapacity: 100, dispatchWindow: 10 });
    urgentRows.onDue(sending.fetchUrgent);
    urgentClaims = 0;
    claiming = sending.claim();
    await begun.promise;
    urgentClaims = 0;
  });
  afterEach(async () => {
    endClaim();
    await claiming;
    await sending.stop();
    await pipeline.close();
  });

  const submitted = (count: number): Promise<number> =>
    eventually(
      () => pipeline.carrier.submitted.length,
      (seen) => seen === count,
    );
  const ownerOf = async ({ requestId }: Message): Promise<number | undefined> => {
    const rows = await pipeline.opened.execute(`select owner from messages where request_id = '${requestId}'`);
    return (rows as { owner: number }[])[0]?.owner;
  };

  /** Hands a message to the dispatcher, and waits until it is stored as unowned. */
  async function sendAndRelease(): Promise<Message> {
    const message = await pipeline.accept("OTP");
    sending.queues.push(message);
    sending.dispatcher.wake();
    await eventually(
      () => ownerOf(message),
      (owner) => owner === UNOWNED,
    );
    // A commit is seen by readers before this node schedules its claim.
    await commits.idle();
    return message;
  }

  test("are claimed at the moment of their next attempt", async () => {
    pipeline.carrier.answer = () => ({ kind: "busy", retryAfterMs: 700 });
    const message = await sendAndRelease();
    expect(pipeline.carrier.submitted).toHaveLength(1);
    pipeline.carrier.answer = () => ({ kind: "taken", carrierMessageId: "second" });
    pipeline.clock.advance(750);
    await submitted(2);
    const sent = await eventually(
      () => pipeline.read(message),
      ({ state }) => state === "submitted",
    );
    expect(sent.attempts).toBe(2);
  });

  async function acceptUnowned(): Promise<void> {
    const now = pipeline.clock.now();
    const request = acceptance({ routeClass: "OTP", createdAt: now, dueAt: now, expiresAt: now + 300_000 });
    await commits.urgentAccept.add({ ...request, owner: UNOWNED });
  }
  test("are claimed at once when they were accepted without a slot", async () => {
    await acceptUnowned();
    expect(await submitted(1)).toBe(1);
  });

  test("are left to the periodic claim by a node that cannot send them", async () => {
    pipeline.carrier.elsewhere = true;
    pipeline.carrier.up = false;
    await sendAndRelease();
    pipeline.clock.advance(1000);
    // A claim begins with the timer, after some microtasks.
    await new Promise(setImmediate);
    expect(urgentClaims).toBe(0);
  });

  test("pause before they are claimed again when they were deferred until now", async () => {
    const { clock } = pipeline;
    const message = await pipeline.accept("OTP");
    const { node: ownedBy } = pipeline.deps.membership;
    const at = clock.now();
    const step = {
      ...refOf(message),
      kind: "deferred",
      to: "accepted",
      at,
      owner: UNOWNED,
      ownedBy,
      dueAt: at,
    } as const;
    expect((await commits.urgentMove.add(step)).moved).toBe(true);
    expect(urgentClaims).toBe(0);
    clock.advance(200);
    await eventually(
      () => urgentClaims,
      (claims) => claims > 0,
    );
  });

  test("are not claimed by a node that stops", async () => {
    const stopped = sending.stop();
    await acceptUnowned();
    endClaim();
    await stopped;
    await sending.claimUrgent();
    expect(urgentClaims).toBe(0);
  });

  test("are not claimed during recovery, which would release them", async () => {
    endClaim();
    await claiming;
    const order: string[] = [];
    const recovering = sending.recover().then(() => order.push("recovered"));
    const claimed = sending.claimUrgent().then(() => order.push("claimed"));
    await Promise.all([recovering, claimed]);
    expect(order).toEqual(["recovered", "claimed"]);
  });
});
