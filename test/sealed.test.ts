import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { failOver } from "../src/messages/fail-over.ts";
import { ERASED, type Message } from "../src/model/message.ts";
import { readTrail } from "../src/model/trail.ts";
import { ENGINES } from "./support/engines.ts";
import { Workshop } from "./support/workshop.ts";

const WORDS = { text: "482913 is your code", encoding: "gsm7", flash: false };
const SEALED = { text: "", sealed: JSON.stringify(WORDS) } as const;
const LIFE_MS = 300_000;

describe.each(ENGINES)("sealed words on %s", (engine) => {
  let shop: Workshop;
  beforeEach(async () => {
    shop = await Workshop.open(engine);
  });
  afterEach(() => shop.close());

  const accept = (): Promise<Message> => shop.accept("OTP", LIFE_MS, { content: SEALED });

  test("are gone when the carrier has them", async () => {
    const message = await accept();
    await shop.dispatch(message);
    expect(shop.carrier.submitted).toMatchObject([{ content: WORDS }]);
    expect(await shop.read(message)).toMatchObject({ state: "submitted", content: ERASED });
  });

  test("are gone when their message expires in the queue", async () => {
    const message = await accept();
    shop.clock.advance(LIFE_MS);
    await shop.dispatch(message);
    expect(await shop.read(message)).toMatchObject({ state: "expired", content: ERASED });
  });

  test("are gone when nobody knows at the end whether the carrier has them", async () => {
    const message = await accept();
    shop.carrier.answer = () => ({ kind: "unknown", description: "no answer" });
    await shop.dispatch(message);
    shop.clock.advance(LIFE_MS);
    const [again] = await shop.claim();
    if (again) await shop.dispatch(again);
    expect(await shop.read(message)).toMatchObject({ state: "unknown", content: ERASED });
  });

  test("are kept for the next route, and gone when there is none any more", async () => {
    shop.addCarrier("first");
    shop.addCarrier("second");
    shop.route("Everything to the simulator", { carrier: "first", priority: 1, failoverAfterSeconds: 10 });
    shop.route("Second", { carrier: "second", priority: 2, failoverAfterSeconds: 10 });
    const message = await accept();
    await shop.dispatch(message);
    expect(await shop.read(message)).toMatchObject({ state: "submitted", content: SEALED });
    shop.clock.advance(10_000);
    await failOver(shop.needs);
    const [again] = await shop.claim();
    if (again) await shop.dispatch(again);
    expect(await shop.read(message)).toMatchObject({ state: "submitted", content: SEALED });
    shop.clock.advance(10_000);
    await failOver(shop.needs);
    expect(await shop.read(message)).toMatchObject({ state: "submitted", content: ERASED });
    // A route that comes too late has nothing to send.
    const late = shop.addCarrier("late");
    shop.route("Late", { carrier: "late", priority: 3 });
    shop.clock.advance(120_000);
    await failOver(shop.needs);
    expect(await shop.claim()).toEqual([]);
    expect(late.submitted).toEqual([]);
  });

  test("of a code that was used or replaced while they waited are not sent, and cost nothing", async () => {
    const message = await accept();
    shop.carrier.answer = () => ({ kind: "down", description: "no line" });
    await shop.dispatch(message);
    shop.codeEnd = "superseded";
    shop.clock.advance(10_000);
    const [again] = await shop.claim();
    shop.carrier.submitted.length = 0;
    if (again) await shop.dispatch(again);
    expect(shop.carrier.submitted).toEqual([]);
    const stored = await shop.read(message);
    expect(stored).toMatchObject({ state: "cancelled", errorCode: "CANCELLED", content: ERASED });
    expect(readTrail(stored.trail).at(-1)).toMatchObject({ step: "policy", policy: "code", verdict: "refused" });
  });
});
