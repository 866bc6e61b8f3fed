import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Outcome } from "../../src/carriers/carrier.ts";
import { createLog } from "../../src/lib/log.ts";
import { dispatch } from "../../src/pipeline/dispatch/dispatch.ts";
import type { DispatchDeps } from "../../src/pipeline/dispatch/dispatch-deps.ts";
import { decodeTimeline } from "../../src/model/timeline.ts";
import { StorageUnavailable, type Store } from "../../src/store/store.ts";
import { createGroupCommit } from "../../src/pipeline/group-commit.ts";
import { ENGINES } from "../support/engines.ts";
import { eventually } from "../support/eventually.ts";
import { TestPipeline } from "../support/test-pipeline.ts";
import { targetState, type Transition } from "../../src/store/transition.ts";

/** A store that commits the first matching write, loses its answer, and refuses its repeats until the test lets them pass. */
class LossyStore {
  #isLost = false;
  #isBack = false;
  readonly #pipeline: TestPipeline;
  readonly #isMeant: (move: Transition) => boolean;
  readonly deps: DispatchDeps;

  constructor(pipeline: TestPipeline, isMeant: (move: Transition) => boolean) {
    this.#pipeline = pipeline;
    this.#isMeant = isMeant;
    const { store, clock } = pipeline;
    const lossy: Store = { ...store, transition: (...args) => this.#move(store, ...args) };
    const commits = createGroupCommit({ store: lossy, clock, log: createLog("silent") }, { acceptBacklog: 1000 });
    this.deps = { ...pipeline.deps, commits };
  }

  /** Resolves once a write has taken place whose answer is lost. */
  async loss(): Promise<void> {
    await eventually(
      () => this.#isLost,
      (isLost) => isLost,
    );
  }

  /** Lets repeats pass, until the caller of the write has its answer. */
  async comeBack(caller: Promise<void>): Promise<void> {
    this.#isBack = true;
    let isAnswered = false;
    const answered = caller.finally(() => (isAnswered = true));
    await eventually(
      () => this.#pipeline.clock.advance(200),
      () => isAnswered,
    );
    await answered;
  }

  async #move(store: Store, ...[batch, urgent]: Parameters<Store["transition"]>): ReturnType<Store["transition"]> {
    const isMeant = batch.some(this.#isMeant);
    if (isMeant && this.#isLost && !this.#isBack) throw new StorageUnavailable("the database is away");
    const results = await store.transition(batch, urgent);
    if (!isMeant || this.#isLost) return results;
    this.#isLost = true;
    throw new StorageUnavailable("the connection broke during the commit");
  }
}

describe.each(ENGINES)("a write repeated because its response was lost, on %s", (engine) => {
  let pipeline: TestPipeline;

  beforeEach(async () => {
    pipeline = await TestPipeline.open(engine);
  });
  afterEach(() => pipeline.close());

  /** Dispatches a message whose carrier is busy, loses the answer to that write, and has the row claimed and sent anew. */
  async function sendAgainBeforeTheRepeat(): Promise<{
    message: Awaited<ReturnType<TestPipeline["accept"]>>;
    second: Promise<void>;
    answer(outcome: Outcome): void;
  }> {
    const lossy = new LossyStore(
      pipeline,
      (step) => targetState(step) === "accepted" && step.kind !== "timeline" && step.owner === 0,
    );
    const message = await pipeline.accept("PROMO");
    pipeline.carrier.answer = () => ({ kind: "busy", retryAfterMs: 1000 });
    const first = dispatch(lossy.deps, message);
    await lossy.loss();
    expect(await pipeline.read(message)).toMatchObject({ state: "accepted", attempts: 1 });
    pipeline.clock.advance(1500);
    const slow = Promise.withResolvers<Outcome>();
    pipeline.carrier.answer = () => slow.promise;
    const [again] = await pipeline.claim();
    if (!again) throw new Error("the message was not claimed");
    const second = dispatch(pipeline.deps, again);
    await eventually(
      () => pipeline.carrier.submitted.length,
      (count) => count === 2,
    );
    await lossy.comeBack(first);
    return { message, second, answer: slow.resolve };
  }

  it("a repeated write does not undo a later attempt", async () => {
    const { message, second, answer } = await sendAgainBeforeTheRepeat();
    expect(await pipeline.read(message)).toMatchObject({ state: "submitting", attempts: 2 });
    answer({ kind: "taken", carrierMessageId: "T1" });
    await second;
    expect(await pipeline.read(message)).toMatchObject({ state: "submitted", attempts: 2 });
  });

  it("a repeated write never sends a promotion twice", async () => {
    const { second, answer } = await sendAgainBeforeTheRepeat();
    answer({ kind: "taken", carrierMessageId: "T1" });
    await second;
    pipeline.clock.advance(600_000);
    expect(await pipeline.claim()).toEqual([]);
    expect(pipeline.carrier.submitted).toHaveLength(2);
  });

  it("a repeated intent is counted and recorded once, and the message is sent once", async () => {
    const lossy = new LossyStore(pipeline, ({ kind }) => kind === "submitting");
    const message = await pipeline.accept("PROMO");
    const sending = dispatch(lossy.deps, message);
    await lossy.loss();
    await lossy.comeBack(sending);
    const stored = await pipeline.read(message);
    expect(stored).toMatchObject({ state: "submitted", attempts: 1 });
    expect(decodeTimeline(stored.timeline).map(({ step }) => step)).toEqual(["attempt", "answer"]);
    expect(pipeline.carrier.submitted).toHaveLength(1);
  });

  it("a repeated repeat of a message in doubt is counted once", async () => {
    const message = await pipeline.accept("TRANS");
    pipeline.carrier.answer = () => ({ kind: "unknown", description: "The connection broke" });
    await pipeline.dispatch(message);
    pipeline.clock.advance(10_000);
    const [doubted] = await pipeline.claim();
    if (!doubted) throw new Error("the message was not claimed");
    const lossy = new LossyStore(pipeline, ({ kind }) => kind === "submitting");
    const sending = dispatch(lossy.deps, doubted);
    await lossy.loss();
    await lossy.comeBack(sending);
    expect(await pipeline.read(message)).toMatchObject({ state: "submitting", attempts: 2, repeats: 1 });
  });

  it("a repeated submit response is recorded once", async () => {
    const lossy = new LossyStore(pipeline, ({ kind }) => kind === "submitted");
    const message = await pipeline.accept("TRANS");
    const sending = dispatch(lossy.deps, message);
    await lossy.loss();
    await lossy.comeBack(sending);
    const stored = await pipeline.read(message);
    expect(stored.state).toBe("submitted");
    expect(decodeTimeline(stored.timeline).map(({ step }) => step)).toEqual(["attempt", "answer"]);
  });

  it("of two copies of a message in memory one is sent", async () => {
    const message = await pipeline.accept("PROMO");
    await Promise.all([pipeline.dispatch(message), pipeline.dispatch({ ...message })]);
    expect(pipeline.carrier.submitted).toHaveLength(1);
    expect(await pipeline.read(message)).toMatchObject({ state: "submitted", attempts: 1 });
  });
});
