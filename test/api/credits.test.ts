import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { newId } from "../../src/lib/ids.ts";
import type { MessageRef } from "../../src/model/message.ts";
import { UNOWNED, type Acceptance } from "../../src/store/store.ts";
import { acceptance, NOON } from "../support/acceptances.ts";
import { ENGINES, openStore, type OpenStore } from "../support/engines.ts";
import { startTestServer, type TestServer } from "../support/test-server.ts";
import { transitionAll, type TransitionFields } from "../support/transitions.ts";

/** The rules of credits where they are kept: in the store, inside the statements that accept and move. */
describe.each(ENGINES)("credits in the store on %s", (engine) => {
  let opened: OpenStore;
  beforeEach(async () => {
    opened = await openStore(engine);
    await opened.execute("insert into balances (account_id, balance, held) values (1, 0, 0), (2, 0, 0)");
  });
  afterEach(() => opened.discard());

  const topUp = (amount: number, accountId = 1) =>
    opened.store.addCredits(accountId, { id: newId(NOON), amount, note: null, at: NOON });
  const balance = (accountId = 1) => opened.store.findBalance(accountId);
  const metered = (credits: number, changes: Parameters<typeof acceptance>[0] = {}): Acceptance =>
    acceptance({ metered: true, each: { credits }, ...changes });
  const refOf = ({ message }: Acceptance, n = 1): MessageRef => ({
    accountId: message.accountId,
    requestId: message.requestId,
    n,
  });
  const move = async (ref: MessageRef, to: TransitionFields["to"], more: Partial<TransitionFields> = {}) =>
    (await transitionAll(opened.store, [{ ...ref, to, at: NOON, owner: UNOWNED, ...more }]))[0];
  /** The balance is the sum of the ledger's amounts, and the held credits are the sum of its holds. */
  async function expectBalanced(accountId = 1): Promise<void> {
    const { rows } = await opened.store.listLedger(accountId, null, 10_000);
    const sum = (pick: (row: (typeof rows)[number]) => number): number => rows.reduce((all, row) => all + pick(row), 0);
    expect(await balance(accountId)).toEqual({ balance: sum((row) => row.amount), held: sum((row) => row.held) });
  }
  async function accepted(item: Acceptance): Promise<Acceptance> {
    expect(await opened.store.accept([item])).toEqual([{ kind: "stored" }]);
    return item;
  }

  test.each<[string, boolean, readonly [TransitionFields["to"], Partial<TransitionFields>?][], number]>([
    ["rejected before it was sent", true, [["rejected"]], 0],
    ["cancelled", true, [["cancelled"]], 0],
    ["expired in the queue", true, [["expired"]], 0],
    ["undelivered and refunded", true, [["submitting"], ["submitted"], ["undelivered", { refund: true }]], 0],
    ["rejected by a receipt and refunded", true, [["submitting"], ["submitted"], ["rejected", { refund: true }]], 0],
    ["undelivered and not refunded", true, [["submitting"], ["submitted"], ["undelivered"]], 3],
    ["delivered", true, [["submitting"], ["submitted"], ["delivered"]], 3],
    ["rejected before it was sent, uncounted", false, [["rejected"]], 0],
    ["cancelled, uncounted", false, [["cancelled"]], 0],
    ["undelivered, uncounted", false, [["submitting"], ["submitted"], ["undelivered"]], 3],
    ["delivered, uncounted", false, [["submitting"], ["submitted"], ["delivered"]], 3],
  ])("a message that was %s has its cost net of refunds", async (_, isMetered, moves, cost) => {
    await topUp(10);
    const item = await accepted(metered(3, { metered: isMetered }));
    const ref = refOf(item);
    const target = {
      eventId: newId(NOON),
      endpointId: newId(NOON),
      kind: "status",
      status: "failed",
      channel: item.message.channel,
      carrier: null,
      endOnly: true,
    } as const;
    const announce = { owner: 1, dueAt: NOON, targets: [target] };
    const [last, ...before] = moves.toReversed();
    for (const [to, more] of before.toReversed()) expect(await move(ref, to, more)).toMatchObject({ moved: true });
    const told = await move(ref, last?.[0] ?? "rejected", { ...last?.[1], callbacks: announce });
    expect(told).toMatchObject({ moved: true, callbacks: [{ happening: { message: { credits: cost } } }] });
    expect(await opened.store.findMessage(ref)).toMatchObject({ credits: 3, cost });
  });

  test("accepting a request holds the cost of all its messages", async () => {
    await topUp(10);
    await accepted(metered(2, { to: ["33600000001", "33600000002"] }));
    expect(await balance()).toEqual({ balance: 6, held: 4 });
    await expectBalanced();
  });

  test("a request that the balance does not cover stores nothing, not even its idempotency key", async () => {
    await topUp(3);
    const idempotency = { path: "/v1/sms", key: "k", bodyHash: "h", response: "answer" };
    const item = metered(2, { to: ["33600000001", "33600000002"], idempotency });
    expect(await opened.store.accept([item])).toEqual([{ kind: "unpaid" }]);
    expect(await opened.store.findMessage(refOf(item))).toBeNull();
    expect(await balance()).toEqual({ balance: 3, held: 0 });
    expect(await opened.store.accept([metered(1, { idempotency })])).toEqual([{ kind: "stored" }]);
  });

  test("requests of one batch are paid as far as the balance goes, and other accounts are unaffected", async () => {
    await topUp(5);
    await topUp(1, 2);
    const results = await opened.store.accept([
      metered(3),
      metered(3),
      metered(1, { accountId: 2 }),
      acceptance(),
      metered(2),
    ]);
    expect(results.map((result) => (result instanceof Error ? "error" : result.kind))).toEqual([
      "stored",
      "unpaid",
      "stored",
      "stored",
      "stored",
    ]);
    expect(await balance()).toEqual({ balance: 0, held: 5 });
    expect(await balance(2)).toEqual({ balance: 0, held: 1 });
  });

  test("recipients refused at accept time cost nothing", async () => {
    await topUp(5);
    const item = metered(2, { to: ["33600000001", "33600000002"] });
    const [good, bad] = item.recipients;
    if (!good || !bad) throw new Error("two recipients were given");
    await accepted({ ...item, recipients: [good, { ...bad, failure: "NO_ROUTE", credits: 0 }] });
    expect(await balance()).toEqual({ balance: 3, held: 2 });
  });

  test("a replayed request is not paid again", async () => {
    await topUp(10);
    const idempotency = { path: "/v1/sms", key: "k", bodyHash: "h", response: "answer" };
    await accepted(metered(2, { idempotency }));
    expect(await opened.store.accept([metered(2, { idempotency })])).toMatchObject([{ kind: "replayed" }]);
    expect(await balance()).toEqual({ balance: 8, held: 2 });
  });

  test("the credits of a submitted message are spent once, whatever follows", async () => {
    await topUp(10);
    const ref = refOf(await accepted(metered(2)));
    await move(ref, "submitting");
    expect(await balance()).toEqual({ balance: 8, held: 2 });
    await move(ref, "submitted");
    await move(ref, "enroute");
    await move(ref, "delivered");
    expect(await balance()).toEqual({ balance: 8, held: 0 });
    await expectBalanced();
  });

  test("a receipt before the submit response spends the credits too, and once", async () => {
    await topUp(10);
    const ref = refOf(await accepted(metered(2)));
    await move(ref, "submitting");
    await move(ref, "delivered");
    await move(ref, "submitted");
    expect(await balance()).toEqual({ balance: 8, held: 0 });
    await expectBalanced();
  });

  test.each(["rejected", "expired", "cancelled"] as const)(
    "a message %s before a carrier took it is refunded",
    async (to) => {
      await topUp(10);
      const ref = refOf(await accepted(metered(2)));
      await move(ref, to);
      expect(await balance()).toEqual({ balance: 10, held: 0 });
      await expectBalanced();
    },
  );

  test("an undelivered message stays paid, unless the account has refunds for it", async () => {
    await topUp(10);
    const kept = refOf(await accepted(metered(2)));
    const refunded = refOf(await accepted(metered(3)));
    for (const ref of [kept, refunded]) {
      await move(ref, "submitting");
      await move(ref, "submitted");
    }
    await move(kept, "undelivered");
    await move(refunded, "undelivered", { refund: true });
    expect(await balance()).toEqual({ balance: 8, held: 0 });
    await expectBalanced();
  });

  test("failover to a second route costs nothing more", async () => {
    await topUp(10);
    const ref = refOf(await accepted(metered(2)));
    for (let route = 0; route < 2; route += 1) {
      await move(ref, "submitting");
      await move(ref, "submitted");
      await move(ref, "accepted");
    }
    expect(await balance()).toEqual({ balance: 8, held: 0 });
    await expectBalanced();
  });

  test("concurrent transitions of one message spend its credits once", async () => {
    await topUp(100);
    const items = await Promise.all(Array.from({ length: 20 }, () => accepted(metered(2))));
    await Promise.all(items.map((item) => move(refOf(item), "submitting")));
    await Promise.all(
      items.flatMap((item) => [
        move(refOf(item), "submitted"),
        move(refOf(item), "delivered"),
        move(refOf(item), "undelivered", { refund: true }),
      ]),
    );
    const { held } = await balance();
    expect(held).toBe(0);
    await expectBalanced();
  });

  test("credits beyond the balance cannot be removed, and a repeated top-up counts once", async () => {
    const entry = { id: newId(NOON), amount: 5, note: "invoice 7", at: NOON };
    expect(await opened.store.addCredits(1, entry)).toBe(true);
    expect(await opened.store.addCredits(1, entry)).toBe(true);
    expect(await balance()).toEqual({ balance: 5, held: 0 });
    expect(await topUp(-6)).toBe(false);
    expect(await topUp(-5)).toBe(true);
    expect(await balance()).toEqual({ balance: 0, held: 0 });
    await expectBalanced();
  });
});

describe.each(ENGINES)("credits over HTTP on %s", (engine) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer(engine);
    await server.request("PATCH", "/api/account", { credits: "metered" });
  });
  afterAll(() => server.close());

  const balance = async () => (await server.request<{ balance: number; held: number }>("GET", "/api/credits")).body;
  const settle = async (): Promise<void> => {
    const { balance: left } = await balance();
    if (left > 0) await server.asOwner("POST", "/api/credits", { amount: -left, note: "begin anew" });
  };

  test("the default account is unlimited until it is metered, and a metered one without credits gets 402", async () => {
    await settle();
    const { status, body } = await server.send();
    expect(status).toBe(402);
    expect(body).toMatchObject({ id: null, data: [], totalCount: 0, error: { code: "INSUFFICIENT_CREDITS" } });
  });

  test("100 parallel sends spend exactly the balance and not one credit more", async () => {
    await settle();
    await server.asOwner("POST", "/api/credits", { amount: 37, note: "for the race" });
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, index) => server.send({ text: `Hello ${index}` })),
    );
    const byStatus = Map.groupBy(answers, ({ status }) => status);
    expect(byStatus.get(200)).toHaveLength(37);
    expect(byStatus.get(402)).toHaveLength(63);
    for (const { body } of byStatus.get(200) ?? []) await server.settled(body.data[0]?.messageId ?? "");
    expect(await balance()).toMatchObject({ balance: 0, held: 0 });
  });

  test("credits are the segments at the price of the route class and the longest prefix", async () => {
    await settle();
    await server.asOwner("POST", "/api/credits", { amount: 1000, note: "prices" });
    await server.request("POST", "/api/prices", { name: "all", routeClass: null, prefix: "", creditsPerSegment: 2 });
    await server.request("POST", "/api/prices", {
      name: "one",
      routeClass: "OTP",
      prefix: "1555",
      creditsPerSegment: 7,
    });
    const long = "x".repeat(200);
    const plain = (await server.send({ text: long })).body.data[0]?.messageId ?? "";
    const otp = (await server.send({ text: "1234", type: "OTP" })).body.data[0]?.messageId ?? "";
    expect((await server.settled(plain)).credits).toBe(4);
    expect((await server.settled(otp)).credits).toBe(7);
    expect(await balance()).toMatchObject({ balance: 1000 - 11, held: 0 });
  });

  test("a message that the carrier refuses is refunded", async () => {
    const before = await balance();
    const { body } = await server.send({ to: "15550109003" });
    await server.settled(body.data[0]?.messageId ?? "");
    expect(await balance()).toEqual(before);
  });
});
