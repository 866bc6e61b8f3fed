import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { newId } from "../../src/lib/ids.ts";
import { createLog } from "../../src/lib/log.ts";
import { NO_ACCOUNT } from "../../src/model/audit.ts";
import { changeContact } from "../../src/model/contact.ts";
import type { InboundMessage } from "../../src/model/inbound.ts";
import type { MessageRef } from "../../src/model/message.ts";
import { UNOWNED, StorageUnavailable, type Acceptance, type Store, type StoredMessage } from "../../src/store/store.ts";
import { runRetention } from "../../src/cluster/retention.ts";
import { acceptance, NOON } from "../support/acceptances.ts";
import { ENGINES, openStore, type OpenStore } from "../support/engines.ts";
import { startTestServer, type Envelope, type TestServer, type MessageBody } from "../support/test-server.ts";
import { insertLinks } from "../support/links.ts";
import { MovedClock } from "../support/moved-clock.ts";
import { deleteExpired, sweepAll } from "../support/sweeps.ts";
import { transitionAll, type TransitionFields } from "../support/transitions.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

const KEPT = {
  linkLifeMs: 90 * DAY_MS,
  sessionLimits: { idleMs: DAY_MS / 2, lifeMs: 7 * DAY_MS },
  auditMs: 400 * DAY_MS,
  log: createLog("silent"),
};

describe.each(ENGINES)("retention on %s", (engine) => {
  let opened: OpenStore;
  let store: Store;
  beforeEach(async () => {
    opened = await openStore(engine);
    ({ store } = opened);
  });
  afterEach(() => opened.discard());

  const refOf = ({ message }: Acceptance, n = 1): MessageRef => ({
    accountId: message.accountId,
    requestId: message.requestId,
    n,
  });
  const move = async (ref: MessageRef, to: TransitionFields["to"], at: number, more: Partial<TransitionFields> = {}) =>
    expect(await transitionAll(store, [{ ...ref, to, at, owner: UNOWNED, ...more }])).toMatchObject([{ moved: true }]);
  const accepted = async (changes: Parameters<typeof acceptance>[0] = {}): Promise<MessageRef> => {
    const item = acceptance(changes);
    expect(await store.accept([item])).toEqual([{ kind: "stored" }]);
    return refOf(item);
  };
  /** A message that a carrier took and delivered. */
  async function delivered(changes: Parameters<typeof acceptance>[0] = {}, doneAt?: number): Promise<MessageRef> {
    const ref = await accepted(changes);
    const at = doneAt ?? (changes.createdAt ?? NOON) + 1000;
    await move(ref, "submitting", at, { carrier: "c" });
    await move(ref, "submitted", at, { carrier: "c", carrierMessageId: newId(at) });
    await move(ref, "delivered", at);
    return ref;
  }
  async function read(ref: MessageRef): Promise<StoredMessage> {
    const message = await store.findMessage(ref);
    if (!message) throw new Error("the message is gone");
    return message;
  }
  const isErased = async (ref: MessageRef): Promise<boolean> => "erased" in (await read(ref)).content;
  /** Erases all that is to be erased. */
  async function eraseAll(before: number, limit = 100): Promise<void> {
    await sweepAll(() => store.eraseTexts(1, before, limit));
    await sweepAll((after) => store.eraseKeptTexts(1, before, after, limit));
  }
  const removeAll = (before: number, limit = 100): Promise<number[]> =>
    deleteExpired(store, "messages", { accountId: 1, before }, limit);

  describe("erasing texts", () => {
    test("the text of an ended message is erased, and the rest of it stays", async () => {
      const ref = await delivered({ timeline: '{"at":1,"step":"changed","what":"resumed"}\n' });
      const before = await read(ref);
      await eraseAll(NOON + HOUR_MS);
      expect(await read(ref)).toEqual({
        ...before,
        content: { text: "", erased: true },
      });
    });

    test("a message that ended later keeps its text until its own time", async () => {
      const ref = await delivered({ expiresAt: NOON + 9 * DAY_MS }, NOON + 5 * DAY_MS);
      await eraseAll(NOON + DAY_MS);
      expect(await isErased(ref)).toBe(false);
      await eraseAll(NOON + 5 * DAY_MS + 1);
      expect(await isErased(ref)).toBe(true);
    });

    test("a waiting message keeps its text, and does not delay others", async () => {
      const waiting = await accepted({ dueAt: NOON + 20 * DAY_MS, expiresAt: NOON + 21 * DAY_MS });
      const inDoubt = await accepted();
      await move(inDoubt, "submitting", NOON, { carrier: "c" });
      const behind = await delivered({ createdAt: NOON + 1 });
      await eraseAll(NOON + DAY_MS, 1);
      expect(await Promise.all([waiting, inDoubt, behind].map(isErased))).toEqual([false, false, true]);
      await eraseAll(NOON + 30 * DAY_MS, 1);
      expect(await Promise.all([waiting, inDoubt, behind].map(isErased))).toEqual([false, false, true]);
    });

    test("a waiting message that was sent later loses its text like any other", async () => {
      const waiting = await accepted({ dueAt: NOON + 20 * DAY_MS, expiresAt: NOON + 21 * DAY_MS });
      await eraseAll(NOON + DAY_MS);
      await move(waiting, "cancelled", NOON + 3 * DAY_MS);
      await eraseAll(NOON + 2 * DAY_MS);
      expect(await isErased(waiting)).toBe(false);
      await eraseAll(NOON + 4 * DAY_MS);
      expect(await isErased(waiting)).toBe(true);
      expect(await opened.execute("select * from kept_texts")).toEqual([]);
    });

    test("a message without a final receipt keeps its text as long as failover may need it", async () => {
      const ref = await accepted({ expiresAt: NOON + 10 * DAY_MS });
      await move(ref, "submitting", NOON, { carrier: "c" });
      await move(ref, "submitted", NOON, { carrier: "c", carrierMessageId: newId(NOON), failoverAt: NOON + DAY_MS });
      await eraseAll(NOON + 10 * DAY_MS);
      expect(await isErased(ref)).toBe(false);
      await eraseAll(NOON + 10 * DAY_MS + 1);
      expect(await isErased(ref)).toBe(true);
    });

    test("an erasure batch is bounded, and the next continues from there", async () => {
      const to = ["33600000001", "33600000002", "33600000003", "33600000004", "33600000005"];
      const request = acceptance({ to, each: { failure: "NO_ROUTE" } });
      await store.accept([request]);
      const erased = () => Promise.all(to.map((_, index) => isErased(refOf(request, index + 1))));
      expect(await store.eraseTexts(1, NOON + 1, 2)).toMatchObject({ rows: 2, next: [] });
      expect(await erased()).toEqual([true, true, false, false, false]);
      expect(await store.eraseTexts(1, NOON + 1, 2)).toMatchObject({ rows: 2, next: [] });
      expect(await store.eraseTexts(1, NOON + 1, 2)).toMatchObject({ rows: 1, next: null });
      expect(await erased()).toEqual([true, true, true, true, true]);
      expect(await store.eraseTexts(1, NOON + 1, 2)).toMatchObject({ rows: 0, next: null });
    });

    test("texts of another account are not erased", async () => {
      const other = await delivered({ accountId: 2 });
      await eraseAll(NOON + DAY_MS);
      expect(await isErased(other)).toBe(false);
    });

    test("several nodes that erase at the same time erase everything due and nothing else", async () => {
      const requests = Array.from({ length: 60 }, (_, index) =>
        acceptance({ createdAt: NOON + index, to: ["33600000001", "33600000002"], dueAt: NOON + 20 * DAY_MS }),
      );
      await store.accept(requests);
      const [ending, staying] = [requests.slice(0, 40), requests.slice(40)];
      const moves = ending.flatMap((request) => [refOf(request, 1), refOf(request, 2)]);
      // Messages come to their end while several nodes are erasing what has ended so far.
      await Promise.all([
        eraseAll(NOON + DAY_MS, 7),
        eraseAll(NOON + DAY_MS, 11),
        eraseAll(NOON + DAY_MS, 5),
        ...moves.map((ref) => move(ref, "cancelled", NOON + 1000)),
      ]);
      await Promise.all([eraseAll(NOON + DAY_MS, 7), eraseAll(NOON + DAY_MS, 3)]);
      const isGone = (request: Acceptance) => Promise.all([isErased(refOf(request, 1)), isErased(refOf(request, 2))]);
      expect((await Promise.all(ending.map(isGone))).flat()).not.toContain(false);
      expect((await Promise.all(staying.map(isGone))).flat()).not.toContain(true);
    });
  });

  describe("emptying phones", () => {
    const onPhone = (id: string, reportsDueAt: number | null) => ({
      accountId: 1,
      id,
      number: "15550100100",
      sender: "HELIOG",
      channel: "sms" as const,
      content: { text: "secret", encoding: "gsm7" as const, flash: false },
      messageId: `${newId(NOON)}:1`,
      receivedAt: NOON,
      reportsDueAt,
      carrier: "simulator",
      test: false,
    });
    const left = async () => (await store.listPhoneMessages(1, "15550100100", null, 100)).rows.map(({ id }) => id);

    test("old phone messages are deleted in batches; one with reports to come stays until they are sent", async () => {
      const [first, due, third, fresh] = [NOON, NOON + 1, NOON + 2, NOON + DAY_MS].map(newId) as [string, ...string[]];
      await store.receiveOnPhones([
        onPhone(first, null),
        onPhone(due ?? "", NOON),
        onPhone(third ?? "", null),
        onPhone(fresh ?? "", null),
      ]);
      const cutoff = { accountId: 1, before: NOON + HOUR_MS };
      expect(await store.deleteExpired("phoneMessages", cutoff, [], 1)).toMatchObject({ rows: 1 });
      expect(await left()).toEqual([fresh, third, due]);
      expect(await deleteExpired(store, "phoneMessages", cutoff, 1)).toEqual([0, 1, 0]);
      expect(await left()).toEqual([fresh, due]);
      await store.markReported([{ accountId: 1, id: due ?? "" }]);
      expect(await deleteExpired(store, "phoneMessages", cutoff, 5)).toEqual([1]);
      expect(await left()).toEqual([fresh]);
    });
  });

  test("a failover plan of an ended message is listed, and can be dropped", async () => {
    const ref = await delivered();
    const other = await delivered();
    for (const { requestId } of [ref, other])
      await opened.execute(
        `insert into failovers (account_id, request_id, n, due_at) values (1, '${requestId}', 1, ${NOON})`,
      );
    const listed = async () => (await store.listFailovers(NOON, 10)).map(({ requestId }) => requestId);
    expect(new Set(await listed())).toEqual(new Set([ref.requestId, other.requestId]));
    await store.dropFailover(ref);
    expect(await listed()).toEqual([other.requestId]);
  });

  describe("removing messages", () => {
    const rowsOf = async (table: string) => (await opened.execute(`select * from ${table}`)).length;

    test("an ended message is deleted with all its dependent rows", async () => {
      const ref = await delivered();
      await opened.execute(
        `insert into failovers (account_id, request_id, n, due_at) values (1, '${ref.requestId}', 1, 0)`,
      );
      await removeAll(NOON + HOUR_MS);
      expect(await store.findMessage(ref)).toBeNull();
      for (const table of ["submissions", "failovers", "messages"])
        expect([table, await rowsOf(table)]).toEqual([table, 0]);
    });

    test("waiting and later messages stay with their dependent rows, and delay no deletion", async () => {
      const waiting = await accepted({ expiresAt: NOON + 9 * DAY_MS });
      // A route that stayed silent has been given up: the message waits once more.
      await move(waiting, "submitting", NOON, { carrier: "c" });
      await move(waiting, "submitted", NOON, { carrier: "c", carrierMessageId: newId(NOON) });
      await move(waiting, "accepted", NOON);
      const later = await delivered({}, NOON + 2 * DAY_MS);
      const gone = await delivered({ createdAt: NOON + 1 });
      await removeAll(NOON + DAY_MS, 1);
      expect(await store.findMessage(gone)).toBeNull();
      expect(await store.findMessage(waiting)).not.toBeNull();
      expect(await store.findMessage(later)).not.toBeNull();
      expect(await rowsOf("submissions")).toBe(2);
    });

    test("an encrypted text is deleted with its message", async () => {
      const ref = await accepted({ dueAt: NOON + DAY_MS });
      await eraseAll(NOON + HOUR_MS);
      expect(await rowsOf("kept_texts")).toBe(1);
      await move(ref, "cancelled", NOON + HOUR_MS);
      await removeAll(NOON + DAY_MS);
      expect(await rowsOf("kept_texts")).toBe(0);
    });

    test("a deletion batch is bounded and returns where to continue", async () => {
      for (let index = 0; index < 5; index += 1) await delivered({ createdAt: NOON + index });
      const cutoff = { accountId: 1, before: NOON + DAY_MS };
      const { next } = await store.deleteExpired("messages", cutoff, [], 2);
      expect(await rowsOf("messages")).toBe(3);
      const { next: last } = await store.deleteExpired("messages", cutoff, next ?? [], 2);
      expect(await rowsOf("messages")).toBe(1);
      expect(await store.deleteExpired("messages", cutoff, last ?? [], 2)).toMatchObject({ next: null });
      expect(await rowsOf("messages")).toBe(0);
    });

    test("several nodes that delete at the same time delete everything due and nothing else", async () => {
      for (let index = 0; index < 30; index += 1) await delivered({ createdAt: NOON + index });
      const kept = await delivered({ createdAt: NOON + DAY_MS });
      const other = await delivered({ accountId: 2 });
      await Promise.all([removeAll(NOON + DAY_MS, 7), removeAll(NOON + DAY_MS, 4), eraseAll(NOON + DAY_MS, 5)]);
      expect(await rowsOf("messages")).toBe(2);
      expect(await rowsOf("submissions")).toBe(2);
      expect([await isErased(kept), await isErased(other)]).toEqual([false, false]);
    });
  });

  describe("the job", () => {
    const clock = new MovedClock(NOON + 31 * DAY_MS);
    beforeEach(async () => {
      await opened.execute("insert into accounts (name, suspended, settings, created_at) values ('a', 0, '{}', 0)");
    });

    /** A job whose batches of expired messages take a time that grows with their size. */
    function jobOf(msPerRow: number) {
      const limits: number[] = [];
      const deleteRows: Store["deleteExpired"] = async (kind, _cutoff, _after, limit) => {
        if (kind !== "messages") return { next: null, rows: 0, ms: 0 };
        limits.push(limit);
        return { next: limits.length % 10 === 0 ? null : [], rows: limit, ms: limit * msPerRow };
      };
      return { limits, turn: runRetention({ store: { ...store, deleteExpired: deleteRows }, clock, ...KEPT }) };
    }
    const [AIM_MS, MIN, MAX, MS_PER_ROW] =
      engine === "sqlite" ? [4, 100, 2000, [0.01, 0.04]] : [50, 250, 5000, [0.02, 0.1]];

    test("a turn of the job is one batch, and after the last it rests", async () => {
      const { limits, turn } = jobOf(0.01);
      await turn();
      expect(limits).toHaveLength(1);
      await turn();
      expect(limits).toHaveLength(2);
      for (let rest = 0; rest < 20; rest += 1) await turn();
      expect(limits).toHaveLength(10);
      clock.advance(HOUR_MS);
      for (let rest = 0; rest < 20; rest += 1) await turn();
      expect(limits).toHaveLength(20);
    });

    test("batches grow and shrink until they take the time that sends can wait", async () => {
      for (const msPerRow of MS_PER_ROW) {
        const { limits, turn } = jobOf(msPerRow);
        for (let turns = 0; turns < 9; turns += 1) await turn();
        expect((limits.at(-1) ?? 0) * msPerRow).toBeCloseTo(AIM_MS);
      }
    });

    test("a batch stays within its bounds", async () => {
      for (const [msPerRow, limit] of [
        [0.000001, MAX],
        [1000, MIN],
      ] as const) {
        const { limits, turn } = jobOf(msPerRow);
        for (let turns = 0; turns < 9; turns += 1) await turn();
        expect(limits.at(-1)).toBe(limit);
      }
    });

    test("after each batch the job pauses as long as the batch took", async () => {
      const { turn } = jobOf(0.01);
      expect(await turn()).toBe(3);
    });

    test("the job does not retry at once while the store is unavailable, and does the rest later", async () => {
      const ref = await delivered();
      let asked = 0;
      const turn = runRetention({
        store: {
          ...store,
          eraseTexts: async (...call) => {
            asked += 1;
            if (asked === 1) throw new StorageUnavailable("away");
            return store.eraseTexts(...call);
          },
        },
        clock,
        ...KEPT,
      });
      await expect(turn()).rejects.toThrow("away");
      await turn();
      expect(asked).toBe(1);
      clock.advance(HOUR_MS);
      for (let rest = 0; rest < 5; rest += 1) await turn();
      expect(await isErased(ref)).toBe(true);
    });

    test("the job does nothing before there is an account", async () => {
      await opened.execute("delete from accounts");
      let asked = 0;
      const eraseTexts: Store["eraseTexts"] = async () => ({ next: null, rows: (asked += 1), ms: 0 });
      await runRetention({ store: { ...store, eraseTexts }, clock, ...KEPT })();
      expect(asked).toBe(0);
    });

    test("a step that always fails stops neither other steps nor other accounts", async () => {
      await opened.execute("insert into accounts (name, suspended, settings, created_at) values ('b', 0, '{}', 0)");
      const looked: string[] = [];
      const turn = runRetention({
        store: {
          ...store,
          eraseTexts: async (accountId) => {
            looked.push(`texts of ${accountId}`);
            throw new Error("a row that cannot be written");
          },
          deleteExpired: async (kind, { accountId }) => {
            if (kind === "callbacks") looked.push(`callbacks of ${accountId}`);
            return { next: null, rows: 0, ms: 0 };
          },
        },
        clock,
        ...KEPT,
      });
      for (let turns = 0; turns < 5; turns += 1) await turn();
      expect(looked).toEqual(["texts of 1", "callbacks of 1", "texts of 2", "callbacks of 2"]);
    });

    test("an unmatched receipt is deleted after the account's message retention, with its number", async () => {
      await opened.execute(`update accounts set settings = '{"keepMessagesDays":3}'`);
      const receipt = (carrier: string, carrierMessageId: string) => ({
        carrier,
        carrierMessageId,
        recipient: "15550100100",
        state: "delivered" as const,
        errorCode: null,
        description: null,
        at: clock.now(),
      });
      const names = ["1/north", "simulator"];
      const receipts = (id: string) => names.map((carrier) => receipt(carrier, id));
      await store.storeUnmatched(receipts("old"), clock.now() - 3 * DAY_MS - 1);
      await store.storeUnmatched(receipts("fresh"), clock.now() - 3 * DAY_MS);
      const turn = runRetention({ store, clock, ...KEPT });
      for (let turns = 0; turns < 5; turns += 1) await turn();
      expect(
        await opened.execute("select carrier, carrier_message_id as id from parked_receipts order by carrier"),
      ).toEqual(names.map((carrier) => ({ carrier, id: "fresh" })));
    });

    test("inbound messages are deleted after the account's text retention, in batches, per account", async () => {
      await opened.execute(`update accounts set settings = '{"keepTextsDays":7}'`);
      const sent = (accountId: number, age: number): InboundMessage => ({
        accountId,
        id: newId(clock.now() - age),
        channel: "sms",
        from: "15550100100",
        to: "HELIOG",
        content: { kind: "text", text: "secret" },
        answers: null,
        at: clock.now() - age,
      });
      const fresh = sent(1, 7 * DAY_MS);
      const others = sent(2, 8 * DAY_MS);
      const old = Array.from({ length: 600 }, (_, index) => sent(1, 8 * DAY_MS + index));
      await store.storeInbound([fresh, others, ...old]);
      const turn = runRetention({ store, clock, ...KEPT });
      await turn();
      expect((await opened.execute("select id from inbound")).length).toBe(352);
      for (let turns = 0; turns < 40; turns += 1) await turn();
      expect((await store.listInbound(1, {}, null, 10)).rows).toEqual([fresh]);
      expect((await store.listInbound(2, {}, null, 10)).rows).toEqual([others]);
    });

    test("a conversation is deleted with its last inbound message, and a contact only by its own setting", async () => {
      await opened.execute(`update accounts set settings = '{"keepTextsDays":7}'`);
      const written = (from: string, age: number): InboundMessage => ({
        accountId: 1,
        id: newId(clock.now() - age),
        channel: "sms",
        from,
        to: "HELIOG",
        content: { kind: "text", text: "secret" },
        answers: null,
        at: clock.now() - age,
      });
      await store.storeInbound([written("15550100100", 8 * DAY_MS), written("15550100101", 6 * DAY_MS)]);
      const contactAt = (number: string, age: number) =>
        changeContact({ accountId: 1, test: false, number }, null, {}, clock.now() - age);
      await store.saveContacts([contactAt("15550100100", 100 * DAY_MS), contactAt("15550100101", 80 * DAY_MS)]);
      const contacts = async (): Promise<string[]> =>
        (await store.listContacts({ accountId: 1, test: false }, {}, null, 10)).rows.map(({ number }) => number);
      const keep = async (): Promise<void> => {
        const turn = runRetention({ store, clock, ...KEPT });
        for (let turns = 0; turns < 40; turns += 1) await turn();
      };
      await keep();
      const { rows } = await store.listConversations(1, { test: false }, null, 10);
      expect(rows.map(({ number }) => number)).toEqual(["15550100101"]);
      expect(await contacts()).toEqual(["15550100100", "15550100101"]);
      await opened.execute(`update accounts set settings = '{"keepTextsDays":7,"keepContactsDays":90}'`);
      await keep();
      expect(await contacts()).toEqual(["15550100101"]);
    });

    test("sessions, failed logins and audit entries are deleted after their time", async () => {
      const entry = (accountId: number, days: number) => ({
        accountId,
        id: newId(clock.now() - days * DAY_MS),
        actor: { kind: "nobody", id: null, name: null } as const,
        action: "login failed",
        kind: "session",
        recordId: null,
        recordName: null,
        fields: [],
        address: "203.0.113.7",
      });
      for (const accountId of [1, NO_ACCOUNT])
        for (const days of [399, 401]) await store.writeAudit(entry(accountId, days));
      for (const days of [0, 1]) {
        const at = clock.now() - days * DAY_MS;
        await opened.execute(`insert into sessions (digest, account_id, user_id, created_at, seen_at)
          values ('of ${days}', 1, '${newId(at)}', ${at}, ${at}) returning digest`);
      }
      for (const days of [1, 3]) await store.beginAttempt(`of ${days}`, clock.now() - days * DAY_MS);
      const turn = runRetention({ store, clock, ...KEPT });
      for (let turns = 0; turns < 20; turns += 1) await turn();
      const left = async (table: string) => (await opened.execute(`select * from ${table}`)).length;
      expect([await left("audit"), await left("sessions"), await left("login_failures")]).toEqual([2, 1, 1]);
    });

    test("a short link is deleted with its message, but never before it expires", async () => {
      const linksLeft = async () => (await opened.execute("select code from links")).length;
      await opened.execute(`update accounts set settings = '{"keepMessagesDays":5}'`);
      await insertLinks(opened.execute, { createdAt: clock.now() - 10 * DAY_MS });
      const all = async (linkLifeMs: number): Promise<void> => {
        const turn = runRetention({ store, clock, ...KEPT, linkLifeMs });
        for (let turns = 0; turns < 20; turns += 1) await turn();
      };
      await all(30 * DAY_MS);
      expect(await linksLeft()).toBe(1);
      await all(7 * DAY_MS);
      expect(await linksLeft()).toBe(0);
    });
  });
});

/** From the outside, with days that pass in a moment. */
describe.each(ENGINES)("a message that grows old on %s", (engine) => {
  const clock = new MovedClock(Date.now());
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer(engine, { clock });
  });
  afterAll(() => server.close());

  /** Lets time go on until something is true. */
  async function until<T>(look: () => Promise<T>, isRight: (seen: T) => boolean, stepMs = MINUTE_MS): Promise<T> {
    for (;;) {
      const seen = await look();
      if (isRight(seen)) return seen;
      clock.advance(stepMs);
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  test("a message loses its text after 30 days and is deleted after 400, by itself", async () => {
    const sent = await server.request<Envelope>("POST", "/v1/sms", {
      sender: "SHOP",
      to: "15550100100",
      text: "Your table is booked.",
      type: "TRANS",
    });
    const messageId = sent.body.data[0]?.messageId ?? "";
    const message = (): Promise<MessageBody> => server.message(messageId);
    await until(message, ({ status }) => status === "Delivered", 500);

    clock.advance(29 * DAY_MS);
    expect(await message()).toMatchObject({ text: "Your table is booked.", erased: false });
    clock.advance(DAY_MS + 1);
    const erased = await until(message, (seen) => seen.erased);
    expect(erased).toMatchObject({ messageId, text: "", status: "Delivered", recipient: "15550100100", credits: 1 });
    expect(erased.timeline.map(({ event }) => event)).toEqual(["accepted", "sent", "delivered"]);
    await until(
      () => server.onPhone("15550100100"),
      (seen) => seen.length === 0,
    );

    clock.advance(370 * DAY_MS);
    const gone = () => server.request("GET", `/v1/messages/${messageId}`);
    await until(gone, ({ status }) => status === 404);
  });
});
