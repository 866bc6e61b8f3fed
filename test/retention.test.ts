import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { newId } from "../src/lib/ids.ts";
import { NO_ACCOUNT } from "../src/model/audit.ts";
import type { InboundMessage } from "../src/model/inbound.ts";
import type { MessageRef } from "../src/model/message.ts";
import {
  NOBODY,
  type Acceptance,
  type Move,
  type Position,
  type Store,
  type StoredMessage,
} from "../src/store/store.ts";
import { forgetInTurns } from "../src/work/forget.ts";
import { acceptance, NOON } from "./support/acceptances.ts";
import { ENGINES, openStore, type OpenStore } from "./support/engines.ts";
import { openHouse, type Envelope, type House, type MessageBody } from "./support/house.ts";
import { plantLinks } from "./support/links.ts";
import { MovedClock } from "./support/moved-clock.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

const KEPT = {
  linkLifeMs: 90 * DAY_MS,
  sessionLimits: { idleMs: DAY_MS / 2, lifeMs: 7 * DAY_MS },
  auditMs: 400 * DAY_MS,
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
  const move = async (ref: MessageRef, to: Move["to"], at: number, more: Partial<Move> = {}) =>
    expect(await store.move([{ ...ref, to, at, owner: NOBODY, ...more }])).toMatchObject([{ moved: true }]);
  const accepted = async (changes: Parameters<typeof acceptance>[0] = {}): Promise<MessageRef> => {
    const item = acceptance(changes);
    expect(await store.accept([item])).toEqual([{ kind: "stored" }]);
    return refOf(item);
  };
  /** A message that a carrier took and delivered. */
  async function delivered(changes: Parameters<typeof acceptance>[0] = {}, doneAt?: number): Promise<MessageRef> {
    const ref = await accepted(changes);
    const at = doneAt ?? (changes.createdAt ?? NOON) + 1000;
    await move(ref, "submitting", at);
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
    while ((await store.eraseTexts(1, before, limit)) === limit);
    await throughout((after) => store.eraseKeptTexts(1, before, after, limit));
  }
  const removeAll = (before: number, limit = 100): Promise<void> =>
    throughout((after) => store.removeMessages(1, before, after, limit));

  describe("erasing texts", () => {
    test("the text of an ended message goes, and everything else of it stays", async () => {
      const ref = await delivered({ trail: '{"at":1,"step":"changed","what":"resumed"}\n' });
      const before = await read(ref);
      await eraseAll(NOON + HOUR_MS);
      expect(await read(ref)).toEqual({
        ...before,
        content: { text: "", erased: true },
      });
    });

    test("a message that ended later keeps its text until its own time has come", async () => {
      const ref = await delivered({ expiresAt: NOON + 9 * DAY_MS }, NOON + 5 * DAY_MS);
      await eraseAll(NOON + DAY_MS);
      expect(await isErased(ref)).toBe(false);
      await eraseAll(NOON + 5 * DAY_MS + 1);
      expect(await isErased(ref)).toBe(true);
    });

    test("a message that waits keeps its text, and holds up nobody's behind it", async () => {
      const waiting = await accepted({ dueAt: NOON + 20 * DAY_MS, expiresAt: NOON + 21 * DAY_MS });
      const inDoubt = await accepted();
      await move(inDoubt, "submitting", NOON);
      const behind = await delivered({ createdAt: NOON + 1 });
      await eraseAll(NOON + DAY_MS, 1);
      expect(await Promise.all([waiting, inDoubt, behind].map(isErased))).toEqual([false, false, true]);
      await eraseAll(NOON + 30 * DAY_MS, 1);
      expect(await Promise.all([waiting, inDoubt, behind].map(isErased))).toEqual([false, false, true]);
    });

    test("once it has been sent and its time has come, it goes like any other", async () => {
      const waiting = await accepted({ dueAt: NOON + 20 * DAY_MS, expiresAt: NOON + 21 * DAY_MS });
      await eraseAll(NOON + DAY_MS);
      await move(waiting, "cancelled", NOON + 3 * DAY_MS);
      await eraseAll(NOON + 2 * DAY_MS);
      expect(await isErased(waiting)).toBe(false);
      await eraseAll(NOON + 4 * DAY_MS);
      expect(await isErased(waiting)).toBe(true);
      expect(await opened.execute("select * from kept_texts")).toEqual([]);
    });

    test("a message whose end nobody reported keeps its text as long as another route may need it", async () => {
      const ref = await accepted({ expiresAt: NOON + 10 * DAY_MS });
      await move(ref, "submitting", NOON);
      await move(ref, "submitted", NOON, { carrier: "c", carrierMessageId: newId(NOON), failoverAt: NOON + DAY_MS });
      await eraseAll(NOON + 10 * DAY_MS);
      expect(await isErased(ref)).toBe(false);
      await eraseAll(NOON + 10 * DAY_MS + 1);
      expect(await isErased(ref)).toBe(true);
    });

    test("a call looks at no more than it is told to, and the next goes on from there", async () => {
      const to = ["33600000001", "33600000002", "33600000003", "33600000004", "33600000005"];
      const request = acceptance({ to, each: { failure: "NO_ROUTE" } });
      await store.accept([request]);
      const erased = () => Promise.all(to.map((_, index) => isErased(refOf(request, index + 1))));
      expect(await store.eraseTexts(1, NOON + 1, 2)).toBe(2);
      expect(await erased()).toEqual([true, true, false, false, false]);
      expect(await store.eraseTexts(1, NOON + 1, 2)).toBe(2);
      expect(await store.eraseTexts(1, NOON + 1, 2)).toBe(1);
      expect(await erased()).toEqual([true, true, true, true, true]);
      expect(await store.eraseTexts(1, NOON + 1, 2)).toBe(0);
    });

    test("another account's texts are not touched", async () => {
      const other = await delivered({ accountId: 2 });
      await eraseAll(NOON + DAY_MS);
      expect(await isErased(other)).toBe(false);
    });

    test("several nodes at it at the same time leave no text behind, and none too few", async () => {
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
    });
    const left = async () => (await store.listPhoneMessages(1, "15550100100", null, 100)).rows.map(({ id }) => id);

    test("old messages go, a few at a time; one whose reports are to come stays until they have", async () => {
      const [first, due, third, fresh] = [NOON, NOON + 1, NOON + 2, NOON + DAY_MS].map(newId) as [string, ...string[]];
      await store.receiveOnPhones([
        onPhone(first, null),
        onPhone(due ?? "", NOON),
        onPhone(third ?? "", null),
        onPhone(fresh ?? "", null),
      ]);
      expect(await store.emptyPhones(1, NOON + HOUR_MS, 1)).toBe(1);
      expect(await left()).toEqual([fresh, third, due]);
      expect(await store.emptyPhones(1, NOON + HOUR_MS, 5)).toBe(1);
      expect(await left()).toEqual([fresh, due]);
      await store.markReported([{ accountId: 1, id: due ?? "" }]);
      expect(await store.emptyPhones(1, NOON + HOUR_MS, 5)).toBe(1);
      expect(await left()).toEqual([fresh]);
    });
  });

  test("a plan for another route that outlived its message's end is listed, and can be given up", async () => {
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

    test("an ended message goes with everything that hangs on it", async () => {
      const ref = await delivered();
      await opened.execute(
        `insert into failovers (account_id, request_id, n, due_at) values (1, '${ref.requestId}', 1, 0)`,
      );
      await removeAll(NOON + HOUR_MS);
      expect(await store.findMessage(ref)).toBeNull();
      for (const table of ["submissions", "failovers", "messages"])
        expect([table, await rowsOf(table)]).toEqual([table, 0]);
    });

    test("what waits or ended later stays with what hangs on it, and holds up nothing behind it", async () => {
      const waiting = await accepted({ expiresAt: NOON + 9 * DAY_MS });
      // A route that stayed silent has been given up: the message waits once more.
      await move(waiting, "submitting", NOON);
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

    test("a text that was set aside is forgotten with its message", async () => {
      const ref = await accepted({ dueAt: NOON + DAY_MS });
      await eraseAll(NOON + HOUR_MS);
      expect(await rowsOf("kept_texts")).toBe(1);
      await move(ref, "cancelled", NOON + HOUR_MS);
      await removeAll(NOON + DAY_MS);
      expect(await rowsOf("kept_texts")).toBe(0);
    });

    test("a call looks at no more than it is told to and says where to go on", async () => {
      for (let index = 0; index < 5; index += 1) await delivered({ createdAt: NOON + index });
      const next = await store.removeMessages(1, NOON + DAY_MS, null, 2);
      expect(await rowsOf("messages")).toBe(3);
      const last = await store.removeMessages(1, NOON + DAY_MS, next, 2);
      expect(await rowsOf("messages")).toBe(1);
      expect(await store.removeMessages(1, NOON + DAY_MS, last, 2)).toBeNull();
      expect(await rowsOf("messages")).toBe(0);
    });

    test("several nodes at it at the same time remove everything and nothing more", async () => {
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

    test("a turn is one batch, and after the last it rests", async () => {
      await store.accept([
        acceptance({
          to: Array.from({ length: 600 }, (_, index) => `3361${String(index).padStart(7, "0")}`),
          each: { failure: "NO_ROUTE" },
        }),
      ]);
      const looked: number[] = [];
      const turn = forgetInTurns({
        store: {
          ...store,
          eraseTexts: async (...call) => {
            looked.push(await store.eraseTexts(...call));
            return looked.at(-1) ?? 0;
          },
        },
        clock,
        ...KEPT,
      });
      await turn();
      expect(looked).toEqual([250]);
      await turn();
      expect(looked).toEqual([250, 250]);
      for (let rest = 0; rest < 20; rest += 1) await turn();
      expect(looked).toEqual([250, 250, 100]);
      clock.advance(HOUR_MS);
      for (let rest = 0; rest < 20; rest += 1) await turn();
      expect(looked).toEqual([250, 250, 100, 0]);
    });

    test("a store that is away is not asked again at once, and what was left is done later", async () => {
      const ref = await delivered();
      let asked = 0;
      const turn = forgetInTurns({
        store: {
          ...store,
          eraseTexts: async (...call) => {
            asked += 1;
            if (asked === 1) throw new Error("away");
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

    test("what users sent goes when the account's texts do, in batches like them, and another account's stays", async () => {
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
      const gone: number[] = [];
      const turn = forgetInTurns({
        store: {
          ...store,
          forgetInbound: async (...call) => {
            gone.push(await store.forgetInbound(...call));
            return gone.at(-1) ?? 0;
          },
        },
        clock,
        ...KEPT,
      });
      await turn();
      expect(gone).toEqual([250]);
      for (let turns = 0; turns < 20; turns += 1) await turn();
      expect(gone).toEqual([250, 250, 100]);
      expect((await store.listInbound(1, {}, null, 10)).rows).toEqual([fresh]);
      expect((await store.listInbound(2, {}, null, 10)).rows).toEqual([others]);
    });

    test("sessions, tries to log in and who changed what go when their time is over", async () => {
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
      const turn = forgetInTurns({ store, clock, ...KEPT });
      for (let turns = 0; turns < 20; turns += 1) await turn();
      const left = async (table: string) => (await opened.execute(`select * from ${table}`)).length;
      expect([await left("audit"), await left("sessions"), await left("login_failures")]).toEqual([2, 1, 1]);
    });

    test("a short link goes with its message, but never while it still leads somewhere", async () => {
      const linksLeft = async () => (await opened.execute("select code from links")).length;
      await opened.execute(`update accounts set settings = '{"keepMessagesDays":5}'`);
      await plantLinks(opened.execute, { createdAt: clock.now() - 10 * DAY_MS });
      const all = async (linkLifeMs: number): Promise<void> => {
        const turn = forgetInTurns({ store, clock, ...KEPT, linkLifeMs });
        for (let turns = 0; turns < 20; turns += 1) await turn();
      };
      await all(30 * DAY_MS);
      expect(await linksLeft()).toBe(1);
      await all(7 * DAY_MS);
      expect(await linksLeft()).toBe(0);
    });
  });
});

async function throughout(look: (after: Position | null) => Promise<Position | null>): Promise<void> {
  for (let after = await look(null); after;) after = await look(after);
}

/** From the outside, with days that pass in a moment. */
describe.each(ENGINES)("a message that grows old on %s", (engine) => {
  const clock = new MovedClock(Date.now());
  let house: House;
  beforeAll(async () => {
    house = await openHouse(engine, { clock });
  });
  afterAll(() => house.close());

  /** Lets time go on until something is true. */
  async function until<T>(look: () => Promise<T>, isRight: (seen: T) => boolean, stepMs = MINUTE_MS): Promise<T> {
    for (;;) {
      const seen = await look();
      if (isRight(seen)) return seen;
      clock.advance(stepMs);
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  test("it loses its text after 30 days and is gone after 400, by itself", async () => {
    const sent = await house.ask<Envelope>("POST", "/v1/sms", {
      sender: "SHOP",
      to: "15550100100",
      text: "Your table is booked.",
      type: "TRANS",
    });
    const messageId = sent.body.data[0]?.messageId ?? "";
    const message = (): Promise<MessageBody> => house.message(messageId);
    await until(message, ({ status }) => status === "Delivered", 500);

    clock.advance(29 * DAY_MS);
    expect(await message()).toMatchObject({ text: "Your table is booked.", erased: false });
    clock.advance(DAY_MS + 1);
    const erased = await until(message, (seen) => seen.erased);
    expect(erased).toMatchObject({ messageId, text: "", status: "Delivered", recipient: "15550100100", credits: 1 });
    expect(erased.timeline.map(({ event }) => event)).toEqual(["accepted", "sent", "delivered"]);
    await until(
      () => house.onPhone("15550100100"),
      (seen) => seen.length === 0,
    );

    clock.advance(370 * DAY_MS);
    const gone = () => house.ask("GET", `/v1/messages/${messageId}`);
    await until(gone, ({ status }) => status === 404);
  });
});
