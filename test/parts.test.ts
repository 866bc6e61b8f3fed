import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Receipt, ReceiptState } from "../src/carriers/carrier.ts";
import { createLog } from "../src/lib/log.ts";
import { JustTaken } from "../src/messages/just-taken.ts";
import { matchParked, report, settleParked, type ReportNeeds } from "../src/messages/report.ts";
import { receivePart, receiveRests, type ReceivePartsNeeds } from "../src/messages/receive-parts.ts";
import { tellOperator } from "../src/messages/tell-trail.ts";
import type { Message } from "../src/model/message.ts";
import { createGroupCommit } from "../src/work/group-commit.ts";
import { ENGINES } from "./support/engines.ts";
import { Workshop } from "./support/workshop.ts";

const IDS = ["p-1", "p-2", "p-3"];

describe.each(ENGINES)("receipts for parts of a message on %s", (engine) => {
  let shop: Workshop;
  beforeEach(async () => {
    shop = await Workshop.open(engine);
  });
  afterEach(() => shop.close());

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
    at: shop.clock.now(),
    ...more,
  });
  async function submitted(partIds: readonly string[] = IDS): Promise<Message> {
    const message = await shop.accept();
    shop.carrier.answer = () => ({ kind: "taken", carrierMessageId: partIds[0] ?? "", partIds });
    await shop.dispatch(message);
    return message;
  }
  /** Another node of the same service: it shares nothing with the first but the store. */
  const anotherNode = (): ReportNeeds => ({
    ...shop.needs,
    taken: new JustTaken(shop.clock),
    commits: createGroupCommit(
      { store: shop.store, clock: shop.clock, log: createLog("silent") },
      { acceptBacklog: 1000 },
    ),
  });

  test("the message is delivered when all its parts are, at the time of the last", async () => {
    const message = await submitted();
    await report(shop.needs, receipt("p-2"));
    await report(shop.needs, receipt("p-1"));
    expect(await shop.read(message)).toMatchObject({
      state: "enroute",
      errorCode: null,
      description: "1 of 3 parts delivered",
    });
    shop.clock.advance(1500);
    await report(shop.needs, receipt("p-3"));
    expect(await shop.read(message)).toMatchObject({
      state: "delivered",
      errorCode: "000",
      description: "The carrier says delivered",
      doneAt: shop.clock.now(),
    });
  });

  test.each(["undelivered", "rejected", "expired", "unknown"] as const)(
    "one part that is %s makes the message so, with that part's code",
    async (state) => {
      const message = await submitted();
      await report(shop.needs, receipt("p-1"));
      await report(shop.needs, receipt("p-3", state, { errorCode: "042" }));
      const failed = await shop.read(message);
      expect(failed).toMatchObject({ state, errorCode: "042", description: `The carrier says ${state}` });
      await report(shop.needs, receipt("p-2"));
      expect({ ...(await shop.read(message)), trail: null }).toEqual({ ...failed, trail: null });
    },
  );

  test("a part that arrives after all makes good what had expired", async () => {
    const message = await submitted();
    for (const id of ["p-1", "p-2"]) await report(shop.needs, receipt(id));
    await report(shop.needs, receipt("p-3", "expired"));
    expect((await shop.read(message)).state).toBe("expired");
    await report(shop.needs, receipt("p-3"));
    expect((await shop.read(message)).state).toBe("delivered");
  });

  test("the trail says of which part each receipt spoke, and what that made of the message", async () => {
    const message = await submitted(["p-1", "p-2"]);
    await report(shop.needs, receipt("p-2"));
    await report(shop.needs, receipt("p-1"));
    const steps = tellOperator({ message: await shop.read(message), clicks: [], ledger: [], answers: [] });
    const words = steps.map(({ what }) => what);
    expect(words).toContain('Carrier "scripted" took it as p-1, p-2');
    expect(words).toContain(
      'Carrier "scripted" reports part 2 of 2 as delivered, which makes all of it enroute: 1 of 2 parts delivered',
    );
    expect(words).toContain(
      'Carrier "scripted" reports part 1 of 2 as delivered, which makes all of it delivered: The carrier says delivered (000)',
    );
  });

  test("a carrier that gives all parts one id reports on the whole", async () => {
    const message = await submitted(["p-1", "p-1"]);
    await report(shop.needs, receipt("p-1"));
    expect((await shop.read(message)).state).toBe("delivered");
  });

  test("receipts that come before the answer to the submit, for any part, count with it", async () => {
    const message = await shop.accept();
    shop.carrier.answer = async () => {
      await report(shop.needs, receipt("p-3"));
      await report(shop.needs, receipt("p-1"));
      return { kind: "taken", carrierMessageId: "p-1", partIds: IDS };
    };
    await shop.dispatch(message);
    expect((await shop.read(message)).state).toBe("enroute");
    await report(shop.needs, receipt("p-2"));
    expect((await shop.read(message)).state).toBe("delivered");
    expect(await shop.store.listParked({}, null, 10)).toMatchObject({ rows: [] });
  });

  test("a process that dies between a part's commit and the message's leaves nothing that its repeat does not mend", async () => {
    const message = await submitted(["p-1", "p-2"]);
    await report(shop.needs, receipt("p-1"));
    await shop.store.reportParts([receipt("p-2")]);
    expect((await shop.read(message)).state).toBe("enroute");
    await report(shop.needs, receipt("p-2"));
    expect((await shop.read(message)).state).toBe("delivered");
  });

  test("a parked receipt of a part whose submit another process wrote is settled by the job", async () => {
    const message = await shop.accept();
    await report(shop.needs, receipt("p-2"));
    const { node } = shop.needs.membership;
    await shop.store.move([{ ...message, to: "submitting", at: 1, owner: node, carrier: "scripted" }]);
    await shop.store.move([
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
    for (const parked of await shop.store.parkedWithMessage(10)) await settleParked(shop.needs, parked.ref, [parked]);
    expect((await shop.read(message)).state).toBe("enroute");
    await report(shop.needs, receipt("p-1"));
    expect((await shop.read(message)).state).toBe("delivered");
  });

  test("two nodes that hear of two parts at once deliver the message between them", async () => {
    const other = anotherNode();
    for (let round = 0; round < 10; round++) {
      const ids = [`${round}-1`, `${round}-2`];
      const message = await submitted(ids);
      await Promise.all([report(shop.needs, receipt(ids[0] ?? "")), report(other, receipt(ids[1] ?? ""))]);
      expect((await shop.read(message)).state).toBe("delivered");
    }
  });

  test("whatever the order, the repeats and the node, the end is that of the parts", async () => {
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
            report(elsewhere ? other : shop.needs, receipt(ids[part] ?? "", early ? "enroute" : endOf(part))),
          ),
        );
        expect((await shop.read(message)).state).toBe(bad ? bad.state : "delivered");
      }),
      { numRuns: engine === "sqlite" ? 25 : 10 },
    );
  });
});

describe.each(ENGINES)("receipts in another spelling on %s", (engine) => {
  let shop: Workshop;
  beforeEach(async () => {
    shop = await Workshop.open(engine);
  });
  afterEach(() => shop.close());

  const decimal = (more: Partial<Receipt> = {}): Receipt => ({
    carrier: "1/north",
    carrierMessageId: "0011255808",
    otherIds: ["11255808", "abc000"],
    recipient: "15550100100",
    channel: "sms",
    state: "delivered",
    errorCode: null,
    description: null,
    at: shop.clock.now(),
    ...more,
  });
  async function submitted(carrierMessageId: string, name = "north"): Promise<Message> {
    const carrier = shop.addCarrier(name);
    shop.route("Everything to the simulator", { carrier: name });
    carrier.answer = () => ({ kind: "taken", carrierMessageId });
    const message = await shop.accept();
    await shop.dispatch(message);
    return message;
  }

  /** As the job does, once the answer to the submit has certainly come. */
  async function lookAgain(): Promise<void> {
    await matchParked(shop.needs, (await shop.store.listParked({ respelled: true }, null, 10)).rows);
  }

  test("are not taken for another message at once: their own submit may not have been answered yet", async () => {
    const other = await submitted("abc000");
    await report(shop.needs, decimal());
    expect((await shop.read(other)).state).toBe("submitted");
    const own = await submitted("0011255808");
    expect((await shop.read(own)).state).toBe("delivered");
    await lookAgain();
    expect((await shop.read(other)).state).toBe("submitted");
  });

  test("are matched by the spelling that is known, of which the carrier is told", async () => {
    const message = await submitted("abc000");
    const learned: string[] = [];
    const carrier = shop.others.get("1/north");
    if (carrier) carrier.learned = (receipt, knownAs) => void learned.push(`${receipt.carrierMessageId} ${knownAs}`);
    await report(shop.needs, decimal());
    await lookAgain();
    expect((await shop.read(message)).state).toBe("delivered");
    expect(learned).toEqual(["0011255808 abc000"]);
  });

  test("are not taken for a message to another number", async () => {
    const message = await submitted("abc000");
    await report(shop.needs, decimal({ recipient: "15550100109" }));
    expect((await shop.read(message)).state).toBe("submitted");
    expect((await shop.store.listParked({ accountId: 1 }, null, 10)).rows).toHaveLength(1);
  });

  test("are not looked for where the id itself is known", async () => {
    const exact = await submitted("0011255808");
    const other = await submitted("abc000");
    await report(shop.needs, decimal());
    expect((await shop.read(exact)).state).toBe("delivered");
    expect((await shop.read(other)).state).toBe("submitted");
  });

  test("that come before the answer to the submit are matched when somebody looks again", async () => {
    await report(shop.needs, decimal());
    const message = await submitted("abc000");
    const { rows } = await shop.store.listParked({ respelled: true }, null, 10);
    expect(await matchParked(shop.needs, rows)).toMatchObject([{ requestId: message.requestId, n: 1 }]);
    expect((await shop.read(message)).state).toBe("delivered");
    expect((await shop.store.listParked({}, null, 10)).rows).toEqual([]);
  });

  test("name a part of a message as well", async () => {
    const message = await submitted("x");
    await shop.store.move([
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
    await report(shop.needs, decimal());
    await lookAgain();
    expect(await shop.read(message)).toMatchObject({ state: "enroute", description: "1 of 2 parts delivered" });
  });
});

describe.each(ENGINES)("long texts from phones on %s", (engine) => {
  let shop: Workshop;
  let needs: ReceivePartsNeeds;
  beforeEach(async () => {
    shop = await Workshop.open(engine);
    needs = {
      ...shop.needs,
      store: shop.store,
      wordsOf: ({ parts, total }) =>
        Array.from({ length: total }, (_, place) => parts.find(({ index }) => index === place + 1))
          .map((part) => part?.octets.toString("latin1") ?? "…")
          .join(""),
    };
  });
  afterEach(() => shop.close());

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
    at: shop.clock.now(),
  });
  const received = async (): Promise<string[]> =>
    (await shop.store.listInbound(1, {}, null, 10)).rows.map(({ content }) =>
      content.kind === "text" ? content.text : "",
    );

  test("are received once, as one, when their last part has come, in whatever order and however often", async () => {
    const startedAt = shop.clock.now();
    await receivePart(needs, part(3, "c"));
    shop.clock.advance(1000);
    await receivePart(needs, part(1, "a"));
    expect(await received()).toEqual([]);
    await Promise.all([receivePart(needs, part(2, "b")), receivePart(needs, part(2, "b"))]);
    await receivePart(needs, part(1, "a"));
    expect(await received()).toEqual(["abc"]);
    const [message] = (await shop.store.listInbound(1, {}, null, 10)).rows;
    expect(message).toMatchObject({ channel: "sms", from: "33612345678", to: "56767", at: startedAt });
  });

  test("are received as what there is when a part has not come for an hour", async () => {
    await receivePart(needs, part(1, "a"));
    await receivePart(needs, part(3, "c"));
    shop.clock.advance(3_599_999);
    await receiveRests(needs);
    expect(await received()).toEqual([]);
    shop.clock.advance(2);
    await receiveRests(needs);
    await receiveRests(needs);
    expect(await received()).toEqual(["a…c"]);
  });

  test("are received though the process died after the last part was kept", async () => {
    for (const [index, text] of [
      [1, "a"],
      [2, "b"],
      [3, "c"],
    ] as const)
      await shop.store.keepInboundPart(part(index, text));
    await receivePart(needs, part(3, "c"));
    expect(await received()).toEqual(["abc"]);
  });

  test("that a phone sends under the same reference later are other messages", async () => {
    for (const text of ["x", "y"]) {
      for (const index of [1, 2, 3]) await receivePart(needs, part(index, text));
      shop.clock.advance(1);
    }
    expect(await received()).toEqual(["yyy", "xxx"]);
  });
});
