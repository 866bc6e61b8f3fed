import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { platformIdOf } from "../src/carriers/rbm/message-id.ts";
import { failOver } from "../src/messages/fail-over.ts";
import { report } from "../src/messages/report.ts";
import { SIMULATOR } from "../src/model/catalog.ts";
import type { Message, RouteClass } from "../src/model/message.ts";
import type { RcsContent } from "../src/model/rcs.ts";
import { ENGINES } from "./support/engines.ts";
import { eventually } from "./support/eventually.ts";
import { signedCall } from "./support/fake-rbm.ts";
import { openRbmTrial, RCS_TEXT, type RbmTrial } from "./support/rbm-line.ts";
import { Workshop, type ScriptedCarrier } from "./support/workshop.ts";

const TEXT = { text: "Your order is on its way.", encoding: "gsm7", flash: false } as const;
const RICH: RcsContent = {
  ...RCS_TEXT,
  fallback: { sender: "SHOP", content: TEXT, segments: 1, afterSeconds: 60, validityMs: 3_540_000 },
};

describe.each(ENGINES)("a message on RCS for Business, with a text to fall back on, on %s", (engine) => {
  let shop: Workshop;
  let sms: ScriptedCarrier;
  let trial: RbmTrial;
  beforeEach(async () => {
    shop = await Workshop.open(engine);
    trial = await openRbmTrial();
    // Both clocks stand at the same moment, and are moved together.
    trial.clock.advance(shop.clock.now() - trial.clock.now());
    const rcs = shop.addCarrier("rbm");
    rcs.answer = (message) => trial.carrier.submit(message);
    const { repeatsSafely } = trial.carrier;
    Object.assign(rcs, { revoke: (message: Message) => trial.carrier.revoke(message), repeatsSafely });
    sms = shop.addCarrier("smsc");
    shop.route("Everything to the simulator", { carrier: SIMULATOR, enabled: false });
    shop.route("RCS", { carrier: "rbm", channel: "rcs", priority: 1 });
    shop.route("SMS", { carrier: "smsc", channel: "sms", priority: 1 });
    await trial.carrier.start((receipt) => report(shop.needs, receipt));
  });
  afterEach(async () => {
    await trial.close();
    await shop.close();
  });

  const accept = (recipient: string, routeClass: RouteClass = "TRANS"): Promise<Message> =>
    shop.accept(routeClass, 3_600_000, { channel: "rcs", sender: "shop", content: RICH, recipient });
  const pass = (ms: number): void => {
    shop.clock.advance(ms);
    trial.clock.advance(ms);
  };
  async function dispatchClaimed(): Promise<void> {
    await shop.needs.membership.beat();
    for (const message of await shop.claim()) await shop.dispatch(message);
  }
  const tell = (eventType: string, message: Message) =>
    trial.carrier.called(
      signedCall({
        senderPhoneNumber: `+${message.recipient}`,
        eventType,
        eventId: "e",
        messageId: platformIdOf(message),
        agentId: "shop-agent",
      }),
    );

  test("goes as that text at once where the number is not on RCS", async () => {
    const message = await accept("15550109009");
    await shop.dispatch(message);
    await dispatchClaimed();
    expect(sms.submitted).toMatchObject([{ requestId: message.requestId, channel: "sms", content: TEXT }]);
    expect([trial.fake.asked.send, trial.fake.revoked]).toEqual([0, []]);
  });

  test("is called back when its text goes because no delivery came in time", async () => {
    const message = await accept("15550100100");
    await shop.dispatch(message);
    expect(trial.fake.taken).toMatchObject([{ messageId: platformIdOf(message), body: { ttl: "60s" } }]);
    pass(60_000);
    await failOver(shop.needs);
    await eventually(
      () => trial.fake.revoked,
      (revoked) => revoked.includes(platformIdOf(message)),
    );
    await dispatchClaimed();
    expect(sms.submitted).toHaveLength(1);
  });

  test("goes as that text when the platform says that its time was over", async () => {
    const message = await accept("15550100100");
    await shop.dispatch(message);
    expect((await tell("TTL_EXPIRATION_REVOKED", message)).status).toBe(200);
    expect(await shop.read(message)).toMatchObject({ channel: "sms", state: "accepted" });
  });

  test("is called back when its text goes because nobody knows whether it was taken", async () => {
    const message = await accept("15550100100");
    trial.fake.whim = ({ what }) => (what === "send" ? "cut after" : null);
    await shop.dispatch(message);
    expect(await shop.read(message)).toMatchObject({ channel: "rcs", state: "submitting" });
    pass(60_000);
    await dispatchClaimed();
    await eventually(
      () => trial.fake.revoked,
      (revoked) => revoked.includes(platformIdOf(message)),
    );
    expect(await shop.read(message)).toMatchObject({ channel: "sms" });
  });

  test.each(["TRANS", "PROMO"] as const)(
    "is delivered once, and known to be, when the line broke over it and the receipt came first (%s)",
    async (routeClass) => {
      const message = await accept("15550100100", routeClass);
      trial.fake.whim = ({ what, times }) => (what === "send" && times === 1 ? "cut after" : null);
      await shop.dispatch(message);
      await tell("DELIVERED", message);
      pass(2000);
      await dispatchClaimed();
      expect(await shop.read(message)).toMatchObject({ channel: "rcs", state: "delivered" });
      expect([trial.fake.taken.length, trial.fake.repeated.length]).toEqual([1, 0]);
      await tell("READ", message);
      // Whoever replays an old call, signed as it is, changes nothing.
      for (const eventType of ["DELIVERED", "TTL_EXPIRATION_REVOKED"]) await tell(eventType, message);
      expect(await shop.read(message)).toMatchObject({ channel: "rcs", state: "read" });
    },
  );

  test("of a promotion in doubt is handed over again to the same line, and by no other, until the platform says that it has it", async () => {
    const second = shop.addCarrier("rbm2");
    shop.route("More RCS", { carrier: "rbm2", channel: "rcs", priority: 2 });
    const message = await accept("15550100100", "PROMO");
    trial.fake.whim = ({ what, times }) => (what === "send" && times === 1 ? "cut after" : null);
    await shop.dispatch(message);
    expect(await shop.read(message)).toMatchObject({ state: "submitting", carrier: "1/rbm" });
    const first = shop.others.get("1/rbm");
    if (!first) throw new Error("the line is gone");
    first.up = false;
    pass(2000);
    await dispatchClaimed();
    expect(second.submitted).toEqual([]);
    first.up = true;
    pass(10_000);
    await dispatchClaimed();
    expect(await shop.read(message)).toMatchObject({ channel: "rcs", state: "submitted", carrier: "1/rbm" });
    expect([trial.fake.taken.length, trial.fake.repeated.length, second.submitted.length]).toEqual([1, 1, 0]);
  });
});
