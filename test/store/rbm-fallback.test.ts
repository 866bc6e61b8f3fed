import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { platformIdOf } from "../../src/carriers/rbm/message-id.ts";
import { failOver } from "../../src/pipeline/dispatch/failover.ts";
import { receiveReceipt } from "../../src/pipeline/receipts/receive-receipt.ts";
import { SIMULATOR } from "../../src/model/catalog.ts";
import type { Message, RouteClass } from "../../src/model/message.ts";
import type { RcsContent } from "../../src/model/rcs.ts";
import { ENGINES } from "../support/engines.ts";
import { eventually } from "../support/eventually.ts";
import { signedCall } from "../support/fake-rbm.ts";
import { openRbmTrial, RCS_TEXT, type RbmTrial } from "../support/rbm-connection.ts";
import { TestPipeline, type ScriptedCarrier } from "../support/test-pipeline.ts";

const TEXT = { text: "Your order is on its way.", encoding: "gsm7", flash: false } as const;
const RICH: RcsContent = {
  ...RCS_TEXT,
  fallback: { sender: "SHOP", content: TEXT, segments: 1, afterSeconds: 60, validityMs: 3_540_000 },
};

describe.each(ENGINES)("an RCS for Business message with an SMS fallback on %s", (engine) => {
  let pipeline: TestPipeline;
  let sms: ScriptedCarrier;
  let trial: RbmTrial;
  beforeEach(async () => {
    pipeline = await TestPipeline.open(engine);
    trial = await openRbmTrial();
    // Both clocks stand at the same moment, and are moved together.
    trial.clock.advance(pipeline.clock.now() - trial.clock.now());
    const rcs = pipeline.addCarrier("rbm");
    rcs.answer = (message) => trial.carrier.submit(message);
    const { repeatsSafely } = trial.carrier;
    Object.assign(rcs, { revoke: (message: Message) => trial.carrier.revoke(message), repeatsSafely });
    sms = pipeline.addCarrier("smsc");
    pipeline.route("Everything to the simulator", { carrier: SIMULATOR, enabled: false });
    pipeline.route("RCS", { carrier: "rbm", channel: "rcs", priority: 1 });
    pipeline.route("SMS", { carrier: "smsc", channel: "sms", priority: 1 });
    await trial.carrier.start((receipt) => receiveReceipt(pipeline.deps, receipt));
  });
  afterEach(async () => {
    await trial.close();
    await pipeline.close();
  });

  const accept = (recipient: string, routeClass: RouteClass = "TRANS"): Promise<Message> =>
    pipeline.accept(routeClass, 3_600_000, { channel: "rcs", sender: "shop", content: RICH, recipient });
  const pass = (ms: number): void => {
    pipeline.clock.advance(ms);
    trial.clock.advance(ms);
  };
  async function dispatchClaimed(): Promise<void> {
    await pipeline.deps.membership.heartbeat();
    for (const message of await pipeline.claim()) await pipeline.dispatch(message);
  }
  const tell = (eventType: string, message: Message) =>
    trial.carrier.handleWebhook(
      signedCall({
        senderPhoneNumber: `+${message.recipient}`,
        eventType,
        eventId: "e",
        messageId: platformIdOf(message),
        agentId: "shop-agent",
      }),
    );

  test("an RCS message becomes its fallback at once if the number is not on RCS", async () => {
    const message = await accept("15550109009");
    await pipeline.dispatch(message);
    await dispatchClaimed();
    expect(sms.submitted).toMatchObject([{ requestId: message.requestId, channel: "sms", content: TEXT }]);
    expect([trial.fake.requests.send, trial.fake.revoked]).toEqual([0, []]);
  });

  test("an RCS message is revoked when its fallback is sent because no delivery came in time", async () => {
    const message = await accept("15550100100");
    await pipeline.dispatch(message);
    expect(trial.fake.accepted).toMatchObject([{ messageId: platformIdOf(message), body: { ttl: "60s" } }]);
    pass(60_000);
    await failOver(pipeline.deps);
    await eventually(
      () => trial.fake.revoked,
      (revoked) => revoked.includes(platformIdOf(message)),
    );
    await dispatchClaimed();
    expect(sms.submitted).toHaveLength(1);
  });

  test("an RCS message becomes its fallback when the platform reports that it expired", async () => {
    const message = await accept("15550100100");
    await pipeline.dispatch(message);
    expect((await tell("TTL_EXPIRATION_REVOKED", message)).status).toBe(200);
    expect(await pipeline.read(message)).toMatchObject({ channel: "sms", state: "accepted" });
  });

  test("an RCS message is revoked when its fallback is sent because its submit is in doubt", async () => {
    const message = await accept("15550100100");
    trial.fake.faultFor = ({ what }) => (what === "send" ? "cut after" : null);
    await pipeline.dispatch(message);
    expect(await pipeline.read(message)).toMatchObject({ channel: "rcs", state: "submitting" });
    pass(60_000);
    await dispatchClaimed();
    await eventually(
      () => trial.fake.revoked,
      (revoked) => revoked.includes(platformIdOf(message)),
    );
    expect(await pipeline.read(message)).toMatchObject({ channel: "sms" });
  });

  test.each(["TRANS", "PROMO"] as const)(
    "an RCS message is delivered once when the connection broke and the receipt came first (%s)",
    async (routeClass) => {
      const message = await accept("15550100100", routeClass);
      trial.fake.faultFor = ({ what, times }) => (what === "send" && times === 1 ? "cut after" : null);
      await pipeline.dispatch(message);
      await tell("DELIVERED", message);
      pass(2000);
      await dispatchClaimed();
      expect(await pipeline.read(message)).toMatchObject({ channel: "rcs", state: "delivered" });
      expect([trial.fake.accepted.length, trial.fake.repeated.length]).toEqual([1, 0]);
      await tell("READ", message);
      // A replayed webhook with a valid signature changes nothing.
      for (const eventType of ["DELIVERED", "TTL_EXPIRATION_REVOKED"]) await tell(eventType, message);
      expect(await pipeline.read(message)).toMatchObject({ channel: "rcs", state: "read" });
    },
  );

  test("an RCS promotion in doubt is submitted again on the same connection only, until the platform confirms it", async () => {
    const second = pipeline.addCarrier("rbm2");
    pipeline.route("More RCS", { carrier: "rbm2", channel: "rcs", priority: 2 });
    const message = await accept("15550100100", "PROMO");
    trial.fake.faultFor = ({ what, times }) => (what === "send" && times === 1 ? "cut after" : null);
    await pipeline.dispatch(message);
    expect(await pipeline.read(message)).toMatchObject({ state: "submitting", carrier: "1/rbm" });
    const first = pipeline.others.get("1/rbm");
    if (!first) throw new Error("the line is gone");
    first.up = false;
    pass(2000);
    await dispatchClaimed();
    expect(second.submitted).toEqual([]);
    first.up = true;
    pass(10_000);
    await dispatchClaimed();
    expect(await pipeline.read(message)).toMatchObject({ channel: "rcs", state: "submitted", carrier: "1/rbm" });
    expect([trial.fake.accepted.length, trial.fake.repeated.length, second.submitted.length]).toEqual([1, 1, 0]);
  });
});
