import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { failOver } from "../../src/pipeline/dispatch/failover.ts";
import { ERASED, type Message } from "../../src/model/message.ts";
import { decodeTimeline } from "../../src/model/timeline.ts";
import { ENGINES } from "../support/engines.ts";
import { TestPipeline } from "../support/test-pipeline.ts";

const WORDS = { text: "482913 is your code", encoding: "gsm7", flash: false };
const SEALED = { text: "", sealed: JSON.stringify(WORDS) } as const;
const LIFE_MS = 300_000;

describe.each(ENGINES)("encrypted content on %s", (engine) => {
  let pipeline: TestPipeline;
  beforeEach(async () => {
    pipeline = await TestPipeline.open(engine);
  });
  afterEach(() => pipeline.close());

  const accept = (): Promise<Message> => pipeline.accept("OTP", LIFE_MS, { content: SEALED });

  test("encrypted content is erased when the carrier has the message", async () => {
    const message = await accept();
    await pipeline.dispatch(message);
    expect(pipeline.carrier.submitted).toMatchObject([{ content: WORDS }]);
    expect(await pipeline.read(message)).toMatchObject({ state: "submitted", content: ERASED });
  });

  test("encrypted content is erased when its message expires in the queue", async () => {
    const message = await accept();
    pipeline.clock.advance(LIFE_MS);
    await pipeline.dispatch(message);
    expect(await pipeline.read(message)).toMatchObject({ state: "expired", content: ERASED });
  });

  test("encrypted content is erased when the message ends as unknown", async () => {
    const message = await accept();
    pipeline.carrier.answer = () => ({ kind: "unknown", description: "no answer" });
    await pipeline.dispatch(message);
    pipeline.clock.advance(LIFE_MS);
    const [again] = await pipeline.claim();
    if (again) await pipeline.dispatch(again);
    expect(await pipeline.read(message)).toMatchObject({ state: "unknown", content: ERASED });
  });

  test("encrypted content is kept for the next route, and erased when there is none left", async () => {
    pipeline.addCarrier("first");
    pipeline.addCarrier("second");
    pipeline.route("Everything to the simulator", { carrier: "first", priority: 1, failoverAfterSeconds: 10 });
    pipeline.route("Second", { carrier: "second", priority: 2, failoverAfterSeconds: 10 });
    const message = await accept();
    await pipeline.dispatch(message);
    expect(await pipeline.read(message)).toMatchObject({ state: "submitted", content: SEALED });
    pipeline.clock.advance(10_000);
    await failOver(pipeline.deps);
    const [again] = await pipeline.claim();
    if (again) await pipeline.dispatch(again);
    expect(await pipeline.read(message)).toMatchObject({ state: "submitted", content: SEALED });
    pipeline.clock.advance(10_000);
    await failOver(pipeline.deps);
    expect(await pipeline.read(message)).toMatchObject({ state: "submitted", content: ERASED });
    // A route that comes too late has nothing to send.
    const late = pipeline.addCarrier("late");
    pipeline.route("Late", { carrier: "late", priority: 3 });
    pipeline.clock.advance(120_000);
    await failOver(pipeline.deps);
    expect(await pipeline.claim()).toEqual([]);
    expect(late.submitted).toEqual([]);
  });

  test("encrypted content of a code that was used or replaced is not sent, and costs nothing", async () => {
    const message = await accept();
    pipeline.carrier.answer = () => ({ kind: "down", description: "no line" });
    await pipeline.dispatch(message);
    pipeline.codeEnd = "superseded";
    pipeline.clock.advance(10_000);
    const [again] = await pipeline.claim();
    pipeline.carrier.submitted.length = 0;
    if (again) await pipeline.dispatch(again);
    expect(pipeline.carrier.submitted).toEqual([]);
    const stored = await pipeline.read(message);
    expect(stored).toMatchObject({ state: "cancelled", errorCode: "CANCELLED", content: ERASED });
    expect(decodeTimeline(stored.timeline).at(-1)).toMatchObject({
      step: "policy",
      policy: "code",
      verdict: "refused",
    });
  });
});
