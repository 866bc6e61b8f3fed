import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createLog } from "../../src/lib/log.ts";
import type { Receipt, ReceiptState } from "../../src/model/receipt.ts";
import { RecentSubmissions } from "../../src/pipeline/receipts/recent-submissions.ts";
import { applyUnmatched, type ReceiptDeps } from "../../src/pipeline/receipts/apply-receipt.ts";
import { matchUnmatched, receiveReceipt } from "../../src/pipeline/receipts/receive-receipt.ts";
import { receivePart, receiveIncomplete, type ReceivePartsDeps } from "../../src/pipeline/inbound/reassemble.ts";
import { renderOperatorTimeline } from "../../src/pipeline/timeline.ts";
import type { Message } from "../../src/model/message.ts";
import { createGroupCommit } from "../../src/pipeline/group-commit.ts";
import { ENGINES } from "../support/engines.ts";
import { TestPipeline } from "../support/test-pipeline.ts";
import { transitionAll } from "../support/transitions.ts";

const IDS = ["p-1", "p-2", "p-3"];

describe.each(ENGINES)("receipts for parts of a message on %s", (engine) => {
  let pipeline: TestPipeline;
  beforeEach(async () => {
    pipeline = await TestPipeline.open(engine);
  });
  afterEach(() => pipeline.close());

  const receipt = (
    carrierMessageId: string,
    state: ReceiptState = "delivered",
    more: Partial<Receipt> = {},
  ): Receipt => ({
    carrier: "scripted",
    carrierMessageId,
    channel: "sms",
    state,
    errorCode: state === "delivered" ? "000" : "017",
    description: `The carrier says ${state}`,
    at: pipeline.clock.now(),
    ...more,
  });
  async function submitted(partIds: readonly string[] = IDS): Promise<Message> {
    const message = await pipeline.accept();
    pipeline.carrier.answer = () => ({ kind: "taken", carrierMessageId: partIds[0] ?? "", partIds });
    await pipeline.dispatch(message);
    return message;
  }
  /** Another node of the same service: it shares nothing with the first but the store. */
  const anotherNode = (): ReceiptDeps => ({
    ...pipeline.deps,
    recentSubmissions: new RecentSubmissions(pipeline.clock),
    commits: createGroupCommit(
      { store: pipeline.store, clock: pipeline.clock, log: createLog("silent") },
      { acceptBacklog: 1000 },
    ),
  });

  test("a message is delivered when all its parts are, at the time of the last", async () => {
    const message = await submitted();
    await receiveReceipt(pipeline.deps, receipt("p-2"));
    await receiveReceipt(pipeline.deps, receipt("p-1"));
    expect(await pipeline.read(message)).toMatchObject({
      state: "enroute",
      errorCode: null,
      description: "1 of 3 parts delivered",
    });
    pipeline.clock.advance(1500);
    await receiveReceipt(pipeline.deps, receipt("p-3"));
    expect(await pipeline.read(message)).toMatchObject({
      state: "delivered",
      errorCode: "000",
      description: "The carrier says delivered",
      doneAt: pipeline.clock.now(),
    });
  });

  test.each(["undelivered", "rejected", "expired", "unknown"] as const)(
    "one %s part makes the message so, with the code of that part",
    async (state) => {
      const message = await submitted();
      await receiveReceipt(pipeline.deps, receipt("p-1"));
      await receiveReceipt(pipeline.deps, receipt("p-3", state, { errorCode: "042" }));
      const failed = await pipeline.read(message);
      expect(failed).toMatchObject({ state, errorCode: "042", description: `The carrier says ${state}` });
      await receiveReceipt(pipeline.deps, receipt("p-2"));
      expect({ ...(await pipeline.read(message)), timeline: null }).toEqual({ ...failed, timeline: null });
    },
  );

  test("a part that is delivered late repairs an expired one", async () => {
    const message = await submitted();
    for (const id of ["p-1", "p-2"]) await receiveReceipt(pipeline.deps, receipt(id));
    await receiveReceipt(pipeline.deps, receipt("p-3", "expired"));
    expect((await pipeline.read(message)).state).toBe("expired");
    await receiveReceipt(pipeline.deps, receipt("p-3"));
    expect((await pipeline.read(message)).state).toBe("delivered");
  });

  test("the timeline names the part of each receipt and the resulting state", async () => {
    const message = await submitted(["p-1", "p-2"]);
    await receiveReceipt(pipeline.deps, receipt("p-2"));
    await receiveReceipt(pipeline.deps, receipt("p-1"));
    const steps = renderOperatorTimeline({
      message: await pipeline.read(message),
      clicks: [],
      ledger: [],
      answers: [],
    });
    const words = steps.map(({ what }) => what);
    expect(words).toContain('Carrier "scripted" took it as p-1, p-2');
    expect(words).toContain(
      'Carrier "scripted" reports part 2 of 2 as delivered, which makes all of it enroute: 1 of 2 parts delivered',
    );
    expect(words).toContain(
      'Carrier "scripted" reports part 1 of 2 as delivered, which makes all of it delivered: The carrier says delivered (000)',
    );
  });

  test("a receipt with one id for all parts applies to the whole message", async () => {
    const message = await submitted(["p-1", "p-1"]);
    await receiveReceipt(pipeline.deps, receipt("p-1"));
    expect((await pipeline.read(message)).state).toBe("delivered");
  });

  test("receipts of any part that arrive before the submit response apply with it", async () => {
    const message = await pipeline.accept();
    pipeline.carrier.answer = async () => {
      await receiveReceipt(pipeline.deps, receipt("p-3"));
      await receiveReceipt(pipeline.deps, receipt("p-1"));
      return { kind: "taken", carrierMessageId: "p-1", partIds: IDS };
    };
    await pipeline.dispatch(message);
    expect((await pipeline.read(message)).state).toBe("enroute");
    await receiveReceipt(pipeline.deps, receipt("p-2"));
    expect((await pipeline.read(message)).state).toBe("delivered");
    expect(await pipeline.store.listUnmatched({}, null, 10)).toMatchObject({ rows: [] });
  });

  test("a crash between the commits of a part and of the message is repaired by the repeated receipt", async () => {
    const message = await submitted(["p-1", "p-2"]);
    await receiveReceipt(pipeline.deps, receipt("p-1"));
    await pipeline.store.reportParts([receipt("p-2")]);
    expect((await pipeline.read(message)).state).toBe("enroute");
    await receiveReceipt(pipeline.deps, receipt("p-2"));
    expect((await pipeline.read(message)).state).toBe("delivered");
  });

  test("the job applies an unmatched receipt of a part whose submit another process wrote", async () => {
    const message = await pipeline.accept();
    await receiveReceipt(pipeline.deps, receipt("p-2"));
    const { node } = pipeline.deps.membership;
    await transitionAll(pipeline.store, [{ ...message, to: "submitting", at: 1, owner: node, carrier: "scripted" }]);
    await transitionAll(pipeline.store, [
      {
        ...message,
        to: "submitted",
        at: 2,
        owner: 0,
        carrier: "scripted",
        carrierMessageId: "p-1",
        partIds: ["p-1", "p-2"],
      },
    ]);
    for (const parked of await pipeline.store.listMatchable(10))
      await applyUnmatched(pipeline.deps, parked.ref, [parked]);
    expect((await pipeline.read(message)).state).toBe("enroute");
    await receiveReceipt(pipeline.deps, receipt("p-1"));
    expect((await pipeline.read(message)).state).toBe("delivered");
  });

  test("two nodes that receive receipts of two parts at once deliver the message together", async () => {
    const other = anotherNode();
    for (let round = 0; round < 10; round++) {
      const ids = [`${round}-1`, `${round}-2`];
      const message = await submitted(ids);
      await Promise.all([
        receiveReceipt(pipeline.deps, receipt(ids[0] ?? "")),
        receiveReceipt(other, receipt(ids[1] ?? "")),
      ]);
      expect((await pipeline.read(message)).state).toBe("delivered");
    }
  });

  test("the final state follows from the parts, whatever the order, repeats and node of the receipts", async () => {
    const other = anotherNode();
    const story = fc.record({
      bad: fc.option(fc.record({ part: fc.nat(2), state: fc.constantFrom("undelivered", "rejected") }), { nil: null }),
      order: fc.array(fc.tuple(fc.nat(2), fc.boolean(), fc.boolean()), { maxLength: 12 }),
    });
    let run = 0;
    await fc.assert(
      fc.asyncProperty(story, async ({ bad, order }) => {
        run += 1;
        const ids = [0, 1, 2].map((part) => `${run}-${part}`);
        const message = await submitted(ids);
        const endOf = (part: number): ReceiptState => (bad?.part === part ? bad.state : "delivered");
        // Each part's end comes at least once, after whatever else was said.
        const said = [...order, ...[0, 1, 2].map((part) => [part, false, part === 1] as const)];
        await Promise.all(
          said.map(([part, early, elsewhere]) =>
            receiveReceipt(
              elsewhere ? other : pipeline.deps,
              receipt(ids[part] ?? "", early ? "enroute" : endOf(part)),
            ),
          ),
        );
        expect((await pipeline.read(message)).state).toBe(bad ? bad.state : "delivered");
      }),
      { numRuns: engine === "sqlite" ? 25 : 10 },
    );
  });
});

describe.each(ENGINES)("receipts with another id format on %s", (engine) => {
  let pipeline: TestPipeline;
  beforeEach(async () => {
    pipeline = await TestPipeline.open(engine);
  });
  afterEach(() => pipeline.close());

  const decimal = (more: Partial<Receipt> = {}): Receipt => ({
    carrier: "1/north",
    carrierMessageId: "0011255808",
    otherIds: ["11255808", "abc000"],
    recipient: "15550100100",
    channel: "sms",
    state: "delivered",
    errorCode: null,
    description: null,
    at: pipeline.clock.now(),
    ...more,
  });
  async function submitted(carrierMessageId: string, name = "north"): Promise<Message> {
    const carrier = pipeline.addCarrier(name);
    pipeline.route("Everything to the simulator", { carrier: name });
    carrier.answer = () => ({ kind: "taken", carrierMessageId });
    const message = await pipeline.accept();
    await pipeline.dispatch(message);
    return message;
  }

  /** As the job does, once the answer to the submit has certainly come. */
  async function lookAgain(): Promise<void> {
    await matchUnmatched(pipeline.deps, (await pipeline.store.listUnmatched({ respelled: true }, null, 10)).rows);
  }

  test("a receipt with another id format is not matched at once: its own submit may be unanswered", async () => {
    const other = await submitted("abc000");
    await receiveReceipt(pipeline.deps, decimal());
    expect((await pipeline.read(other)).state).toBe("submitted");
    const own = await submitted("0011255808");
    expect((await pipeline.read(own)).state).toBe("delivered");
    await lookAgain();
    expect((await pipeline.read(other)).state).toBe("submitted");
  });

  test("a receipt is matched by the known id format, which the carrier learns", async () => {
    const message = await submitted("abc000");
    const learned: string[] = [];
    const carrier = pipeline.others.get("1/north");
    if (carrier)
      carrier.learnIdFormat = (receipt, knownAs) => void learned.push(`${receipt.carrierMessageId} ${knownAs}`);
    await receiveReceipt(pipeline.deps, decimal());
    await lookAgain();
    expect((await pipeline.read(message)).state).toBe("delivered");
    expect(learned).toEqual(["0011255808 abc000"]);
  });

  test("a receipt with another id format is not matched to a message to another number", async () => {
    const message = await submitted("abc000");
    await receiveReceipt(pipeline.deps, decimal({ recipient: "15550100109" }));
    expect((await pipeline.read(message)).state).toBe("submitted");
    expect((await pipeline.store.listUnmatched({ accountId: 1 }, null, 10)).rows).toHaveLength(1);
  });

  test("alternative ids are not searched if the id itself is known", async () => {
    const exact = await submitted("0011255808");
    const other = await submitted("abc000");
    await receiveReceipt(pipeline.deps, decimal());
    expect((await pipeline.read(exact)).state).toBe("delivered");
    expect((await pipeline.read(other)).state).toBe("submitted");
  });

  test("a receipt with another id format that arrives before the submit response is matched by the job", async () => {
    await receiveReceipt(pipeline.deps, decimal());
    const message = await submitted("abc000");
    const { rows } = await pipeline.store.listUnmatched({ respelled: true }, null, 10);
    expect(await matchUnmatched(pipeline.deps, rows)).toMatchObject([{ requestId: message.requestId, n: 1 }]);
    expect((await pipeline.read(message)).state).toBe("delivered");
    expect((await pipeline.store.listUnmatched({}, null, 10)).rows).toEqual([]);
  });

  test("a receipt with another id format matches a part of a message", async () => {
    const message = await submitted("x");
    await transitionAll(pipeline.store, [
      {
        ...message,
        to: "submitted",
        at: 2,
        owner: 0,
        carrier: "1/north",
        carrierMessageId: "abc000",
        partIds: ["abc000", "abc001"],
      },
    ]);
    await receiveReceipt(pipeline.deps, decimal());
    await lookAgain();
    expect(await pipeline.read(message)).toMatchObject({ state: "enroute", description: "1 of 2 parts delivered" });
  });
});

describe.each(ENGINES)("long inbound texts on %s", (engine) => {
  let pipeline: TestPipeline;
  let deps: ReceivePartsDeps;
  const log = createLog("silent");
  beforeEach(async () => {
    pipeline = await TestPipeline.open(engine);
    deps = {
      ...pipeline.deps,
      store: pipeline.store,
      textOf: ({ parts, total }) =>
        Array.from({ length: total }, (_, place) => parts.find(({ index }) => index === place + 1))
          .map((part) => part?.octets.toString("latin1") ?? "…")
          .join(""),
    };
  });
  afterEach(() => pipeline.close());

  const part = (index: number, text: string) => ({
    accountId: 1,
    carrier: "1/north",
    from: "33612345678",
    to: "56767",
    reference: 7,
    total: 3,
    index,
    octets: Buffer.from(text, "latin1"),
    dataCoding: 0,
    alphabet: "gsm7",
    at: pipeline.clock.now(),
  });
  const received = async (): Promise<string[]> =>
    (await pipeline.store.listInbound(1, {}, null, 10)).rows.map(({ content }) =>
      content.kind === "text" ? content.text : "",
    );

  test("a long text is received once, as one message, after its last part, in any order and with repeats", async () => {
    const startedAt = pipeline.clock.now();
    await receivePart(deps, part(3, "c"));
    pipeline.clock.advance(1000);
    await receivePart(deps, part(1, "a"));
    expect(await received()).toEqual([]);
    await Promise.all([receivePart(deps, part(2, "b")), receivePart(deps, part(2, "b"))]);
    await receivePart(deps, part(1, "a"));
    expect(await received()).toEqual(["abc"]);
    const [message] = (await pipeline.store.listInbound(1, {}, null, 10)).rows;
    expect(message).toMatchObject({ channel: "sms", from: "33612345678", to: "56767", at: startedAt });
  });

  test("a long text is received incomplete when a part is missing for an hour", async () => {
    await receivePart(deps, part(1, "a"));
    await receivePart(deps, part(3, "c"));
    pipeline.clock.advance(3_599_999);
    await receiveIncomplete({ ...deps, log });
    expect(await received()).toEqual([]);
    pipeline.clock.advance(2);
    await receiveIncomplete({ ...deps, log });
    await receiveIncomplete({ ...deps, log });
    expect(await received()).toEqual(["a…c"]);
  });

  test("a long text is received although another one always fails", async () => {
    await receivePart(deps, { ...part(1, "poison"), from: "33600000001" });
    await receivePart(deps, part(1, "a"));
    pipeline.clock.advance(3_600_001);
    const wordsOf: ReceivePartsDeps["textOf"] = (text) => {
      if (text.from === "33600000001") throw new Error("a text that cannot be read");
      return deps.textOf(text);
    };
    await receiveIncomplete({ ...deps, textOf: wordsOf, log });
    expect(await received()).toEqual(["a……"]);
  });

  test("a long text is received although the process died after its last part was stored", async () => {
    for (const [index, text] of [
      [1, "a"],
      [2, "b"],
      [3, "c"],
    ] as const)
      await pipeline.store.keepInboundPart(part(index, text));
    await receivePart(deps, part(3, "c"));
    expect(await received()).toEqual(["abc"]);
  });

  test("later texts of a phone under the same reference are other messages", async () => {
    for (const text of ["x", "y"]) {
      for (const index of [1, 2, 3]) await receivePart(deps, part(index, text));
      pipeline.clock.advance(1);
    }
    expect(await received()).toEqual(["yyy", "xxx"]);
  });
});
