import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createLog } from "../../src/lib/log.ts";
import { dispatch } from "../../src/pipeline/dispatch/dispatch.ts";
import type { DispatchDeps } from "../../src/pipeline/dispatch/dispatch-deps.ts";
import type { Message, RouteClass } from "../../src/model/message.ts";
import { UNOWNED } from "../../src/store/store.ts";
import { createGroupCommit } from "../../src/pipeline/group-commit.ts";
import { Membership } from "../../src/cluster/membership.ts";
import { ENGINES } from "../support/engines.ts";
import { TestPipeline } from "../support/test-pipeline.ts";

describe.each(ENGINES)("an expired node that has joined again, on %s", (engine) => {
  let pipeline: TestPipeline;
  let rejoined: Membership;
  let deps: DispatchDeps;
  let letWritesPass: () => void;

  beforeEach(async () => {
    pipeline = await TestPipeline.open(engine);
    const { store, clock } = pipeline;
    const log = createLog("silent");
    rejoined = new Membership({ store, clock, log }, { alone: false, silentMs: 30_000, sends: true });
    await rejoined.join();
    const { promise, resolve } = Promise.withResolvers<void>();
    letWritesPass = resolve;
    const slow = {
      ...store,
      transition: (...args: Parameters<typeof store.transition>) => promise.then(() => store.transition(...args)),
    };
    const commits = createGroupCommit({ store: slow, clock, log }, { acceptBacklog: 1000 });
    deps = { ...pipeline.deps, membership: rejoined, commits };
  });
  afterEach(() => pipeline.close());

  /** Has the node begin to send a message, and expire and join again before its intent is written. */
  async function loseTheNode(message: Message): Promise<{ sending: Promise<void>; expired: number }> {
    const { clock } = pipeline;
    const expired = rejoined.node;
    await pipeline.opened.execute(`update messages set owner = ${expired}`);
    const sending = dispatch(deps, message);
    clock.advance(31_000);
    await pipeline.opened.execute(`delete from nodes where id = ${expired}`);
    await pipeline.deps.membership.heartbeat();
    await rejoined.heartbeat();
    expect(rejoined.node).not.toBe(expired);
    expect(rejoined.alive).toBe(true);
    return { sending, expired };
  }

  it.each<RouteClass>(["OTP", "TRANS", "PROMO"])(
    "a node that joined again sends no %s message of its old id",
    async (lane) => {
      const message = await pipeline.accept(lane);
      const { sending } = await loseTheNode(message);
      letWritesPass();
      await sending;
      expect(pipeline.carrier.submitted).toEqual([]);
      // It is back in the queue at once, as a message that was certainly not sent.
      expect(await pipeline.read(message)).toMatchObject({ state: "accepted" });
      const [claimed] = await pipeline.claim(UNOWNED);
      expect(claimed).toMatchObject({ requestId: message.requestId, state: "accepted" });
    },
  );

  it("a node that joined again leaves messages alone that another node has claimed", async () => {
    const message = await pipeline.accept("TRANS");
    const { sending, expired } = await loseTheNode(message);
    const [claimed] = await pipeline.claim(expired);
    if (!claimed) throw new Error("the message was not claimed");
    letWritesPass();
    await sending;
    expect(pipeline.carrier.submitted).toEqual([]);
    await pipeline.dispatch(claimed);
    expect(pipeline.carrier.submitted).toHaveLength(1);
    expect(await pipeline.read(message)).toMatchObject({ state: "submitted", attempts: 1 });
  });
});
