import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { newId } from "../src/lib/ids.ts";
import type { Callback, StatusHappening } from "../src/model/callback.ts";
import type { MessageRef } from "../src/model/message.ts";
import type { Settlement } from "../src/store/callback-store.ts";
import { NOBODY, type AnnouncementTarget, type Move, type MoveResult, type Store } from "../src/store/store.ts";
import { acceptance, NOON } from "./support/acceptances.ts";
import { openStore, type EngineName, type OpenStore } from "./support/engines.ts";

const NODE = 7;
const OTHER_NODE = 8;
const ENDPOINT = newId(NOON);
const ELSEWHERE = newId(NOON + 1);
const DAY_MS = 86_400_000;

/** What every engine behind the port promises about callbacks. */
export function callbackStoreSuite(engine: EngineName): void {
  let opened: OpenStore;
  let store: Store;
  beforeEach(async () => {
    opened = await openStore(engine);
    store = opened.store;
  });
  afterEach(() => opened.discard());

  async function stored(changes: Parameters<typeof acceptance>[0] = {}): Promise<MessageRef> {
    const item = acceptance(changes);
    expect(await store.accept([item])).toEqual([{ kind: "stored" }]);
    return { accountId: item.message.accountId, requestId: item.message.requestId, n: 1 };
  }

  const target = (more: Partial<AnnouncementTarget> = {}): AnnouncementTarget => ({
    eventId: newId(NOON),
    endpointId: ENDPOINT,
    kind: "status",
    status: "delivered",
    channel: "sms",
    carrier: null,
    endOnly: false,
    ...more,
  });

  async function move(ref: MessageRef, to: Move["to"], targets: AnnouncementTarget[], more: Partial<Move> = {}) {
    const announce = { owner: NODE, dueAt: NOON + 5, targets };
    const [result] = await store.move([{ ...ref, to, at: NOON + 5, owner: NOBODY, announce, ...more }]);
    if (!result || result instanceof Error) throw result ?? new Error("no result");
    return result;
  }

  const toldOf = ({ told }: MoveResult): string[] => told.map(({ eventId }) => eventId);
  const find = (eventId: string, endpointId = ENDPOINT, accountId = 1) =>
    store.findCallback({ accountId, eventId, endpointId });
  const settle = (callback: Pick<Callback, "eventId"> & Partial<Callback>, more: Partial<Settlement> = {}) =>
    store.settleCallbacks([
      {
        accountId: 1,
        eventId: callback.eventId,
        endpointId: callback.endpointId ?? ENDPOINT,
        message: null,
        ownedBy: NODE,
        state: "delivered",
        at: NOON + 9,
        dueAt: NOON + 9,
        attempted: true,
        log: "one\n",
        ...more,
      },
    ]);
  const claim = (from = NOBODY, dueBy = NOON + 10, limit = 100) =>
    store.claimCallbacks({ node: NODE, from, dueBy, limit });

  describe("a move that announces", () => {
    it("writes down who is to be told, in its own transaction, with the facts of the message", async () => {
      const ref = await stored();
      const wanted = target();
      const result = await move(ref, "submitting", [wanted], {
        carrier: "1/line",
        errorCode: "000",
        description: "Fine",
      });
      expect(result.told).toEqual([
        {
          accountId: 1,
          eventId: wanted.eventId,
          endpointId: ENDPOINT,
          attempts: 0,
          happening: {
            kind: "status",
            status: "delivered",
            at: NOON + 5,
            message: {
              messageId: `${ref.requestId}:1`,
              channel: "sms",
              recipient: "33612345678",
              sender: "HELIO",
              credits: 1,
              createdAt: NOON,
              session: false,
            },
            gateway: "line",
            errorCode: "000",
            description: "Fine",
          },
        },
      ]);
      expect(await find(wanted.eventId)).toEqual({
        ...result.told[0],
        state: "waiting",
        dueAt: NOON + 5,
        doneAt: null,
        log: null,
      });
    });

    it("tells whose network the phone is in, from when a receipt has said so", async () => {
      const ref = await stored();
      await move(ref, "submitting", []);
      await move(ref, "enroute", [], { operator: "Airtel", circle: "Punjab" });
      const { told } = await move(ref, "delivered", [target()], { operator: "Jio" });
      expect(told).toMatchObject([{ happening: { message: { operator: "Jio", circle: "Punjab" } } }]);
    });

    it("announces nothing when it is not legal, so that a repeated receipt tells nobody twice", async () => {
      const ref = await stored();
      await move(ref, "submitting", []);
      expect((await move(ref, "delivered", [target()])).told).toHaveLength(1);
      const again = target();
      expect(await move(ref, "delivered", [again])).toMatchObject({ moved: false, told: [] });
      expect(await find(again.eventId)).toBeNull();
    });

    it("tells only endpoints of the message's channel, and of its carrier where one is named", async () => {
      const ref = await stored();
      const wanted = target({ carrier: "1/line", endpointId: ELSEWHERE });
      const targets = [target({ channel: "rcs" }), target({ carrier: "1/other" }), target(), wanted];
      const { told } = await move(ref, "submitting", targets, { carrier: "1/line" });
      expect(told.map(({ endpointId }) => endpointId)).toEqual([ENDPOINT, ELSEWHERE]);
    });

    it("knows an answer in the business's own words from a template", async () => {
      const session = await stored({ channel: "chatapp", content: { kind: "text", text: "We are on it." } });
      const { told } = await move(session, "submitting", [target({ channel: "chatapp", kind: "sent", status: null })]);
      expect(told).toMatchObject([{ happening: { kind: "sent", at: NOON + 5, message: { session: true } } }]);
    });

    it("announces for many messages at once, each its own", async () => {
      const refs = await Promise.all([stored(), stored(), stored()]);
      const targets = refs.map(() => target());
      const results = await store.move(
        refs.map((ref, index) => ({
          ...ref,
          to: "submitting",
          at: NOON,
          owner: NOBODY,
          announce: { owner: NODE, dueAt: NOON, targets: targets.slice(index, index + 1) },
        })),
      );
      expect(results.map((result) => (result instanceof Error ? [] : toldOf(result)))).toEqual(
        targets.map(({ eventId }) => [eventId]),
      );
    });

    it("is born nobody's while something earlier of its message is not in this node's hands", async () => {
      const ref = await stored();
      const first = target({ status: "sent" });
      await move(ref, "submitting", [first], { announce: { owner: OTHER_NODE, dueAt: NOON + 500, targets: [first] } });
      const second = target();
      const elsewhere = target({ endpointId: ELSEWHERE });
      const result = await move(ref, "delivered", [second, elsewhere]);
      expect(toldOf(result)).toEqual([elsewhere.eventId]);
      expect(await find(second.eventId)).toMatchObject({ state: "waiting", dueAt: NOON + 500 });
      expect(await claim(NOBODY, NOON + 1000)).toEqual([]);
    });

    it("is read the same where an earlier version wrote the facts of its message with their names", async () => {
      const wanted = target();
      const [told] = (await move(await stored(), "submitting", [wanted])).told;
      const { message = null } = (told?.happening ?? {}) as Partial<StatusHappening>;
      await opened.execute(`update callbacks set facts = '${JSON.stringify(message)}'`);
      expect(await claim(NODE)).toEqual([told]);
    });

    it("keeps whatever else is known of its message", async () => {
      const ref = await stored();
      const wanted = target();
      const [told] = (await move(ref, "delivered", [wanted], { operator: "Airtel", circle: "Punjab" })).told;
      expect(told?.happening).toMatchObject({ message: { operator: "Airtel", circle: "Punjab" } });
      expect(await claim(NODE)).toEqual([told]);
    });

    it("is this node's when what comes before it is in this node's hands too", async () => {
      const ref = await stored();
      await move(ref, "submitting", [target({ status: "sent" })]);
      expect((await move(ref, "delivered", [target()])).told).toHaveLength(1);
    });
  });

  describe("a delivery", () => {
    const AS_KNOWN = {
      known: { channel: "sms", routeClass: "TRANS", recipient: "33612345678" },
      facts: { sender: "HELIO", credits: 1, createdAt: NOON },
    } as const;
    const delivery = (ref: MessageRef, changes: Partial<Move> = {}): Move => ({
      ...ref,
      to: "delivered",
      at: NOON + 5,
      owner: NOBODY,
      carrier: "1/line",
      trail: "came\n",
      trailAlways: true,
      failoverAt: null,
      errorCode: "000",
      description: "Fine",
      ...changes,
    });
    const rowsOf = (table: string, { requestId }: MessageRef): Promise<unknown[]> =>
      opened.execute(`select * from ${table} where request_id = '${requestId}' order by n`);
    /** All that there is of messages, and what was answered, without what is their own. */
    async function allOf(refs: readonly MessageRef[], results: readonly (MoveResult | Error)[]): Promise<string> {
      const rows = await Promise.all(
        refs.flatMap((ref) => ["messages", "callbacks", "failovers"].map((table) => rowsOf(table, ref))),
      );
      const ids = new Map<string, string>();
      const name = (id: string): string => ids.set(id, ids.get(id) ?? `id ${ids.size}`).get(id) ?? "";
      const answers = results.map((result) => (result instanceof Error ? "failed" : result));
      return JSON.stringify([rows, answers]).replaceAll(/[\da-f]{8}-[\da-f-]{27}/g, name);
    }

    const rows = [
      "trail = 'before '",
      "trail = null",
      "trail = LONG",
      "trail = 'before ', submitted_at = null",
      "trail = 'before ', attempts = 2",
      "trail = 'before ', charge = 1, error_code = '7', description = 'busy'",
      "trail = 'before ', channel = 'rcs'",
      "trail = 'before ', operator = 'Airtel'",
      "trail = 'before ', circle = 'Punjab'",
      `trail = 'before ', content = '{"text":"","sealed":"x"}'`,
    ];
    it.each(rows)(
      "is written and told the same, whether or not its sender says what it knows, where %s",
      async (row) => {
        let moves = 0;
        let told = 0;
        for (const from of ["submitting", "submitted", "enroute", "delivered", "rejected"]) {
          const alike: string[] = [];
          for (const asKnown of [{}, AS_KNOWN]) {
            const ref = await stored();
            const rest = row.replace("LONG", `'${"x".repeat(17_000)}'`);
            for (const change of [`submitted_at = ${NOON}, attempts = 1, state = '${from}'`, rest])
              await opened.execute(`update messages set ${change} where request_id = '${ref.requestId}'`);
            const targets = [
              target({ channel: "rcs" }),
              target({ carrier: "1/other" }),
              target(),
              target({ carrier: "1/line", endpointId: ELSEWHERE }),
            ];
            const announce = { owner: NODE, dueAt: NOON + 5, targets };
            const results = await store.move([delivery(ref, { announce, ...asKnown })]);
            alike.push(await allOf([ref], results));
            const [result] = results;
            if (!result || result instanceof Error) throw result ?? new Error("no result");
            moves += result.moved ? 1 : 0;
            told += result.told.length;
          }
          expect(alike[1]).toBe(alike[0]);
        }
        expect(moves).toBe(6);
        expect(told).toBeGreaterThanOrEqual(6);
      },
    );

    it.each([1, 2])("waits for what was told of an earlier end, if there was one: at try %i", async (tries) => {
      const ref = await stored({ trail: "before " });
      const doubt = target({ status: "unknown", endOnly: true });
      if (tries > 1) {
        await move(ref, "submitting", [], { attempt: true });
        await move(ref, "unknown", [], { announce: { owner: OTHER_NODE, dueAt: NOON + 500, targets: [doubt] } });
        await move(ref, "accepted", []);
      }
      await move(ref, "submitting", [], { attempt: true });
      await move(ref, "submitted", [], { carrier: "1/line" });
      const end = target({ endOnly: true });
      const announce = { owner: NODE, dueAt: NOON + 5, targets: [end] };
      const [result] = await store.move([delivery(ref, { announce, ...AS_KNOWN })]);
      expect(result).toMatchObject({ moved: true, told: tries > 1 ? [] : [{ eventId: end.eventId }] });
      expect(await find(end.eventId)).toMatchObject({ state: "waiting", dueAt: tries > 1 ? NOON + 500 : NOON + 5 });
    });

    it("of the chat app tells whether it was in the business's own words, whatever its sender says", async () => {
      const ref = await stored({ channel: "chatapp", content: { kind: "text", text: "We are on it." } });
      for (const to of ["submitting", "submitted"] as const) await move(ref, to, []);
      const known = { ...AS_KNOWN, known: { ...AS_KNOWN.known, channel: "chatapp" } } as const;
      const announce = { owner: NODE, dueAt: NOON + 5, targets: [target({ channel: "chatapp" })] };
      const [result] = await store.move([delivery(ref, { announce, ...known })]);
      expect(result).toMatchObject({ moved: true, told: [{ happening: { message: { session: true } } }] });
      expect(await find(announce.targets[0]?.eventId ?? "")).toMatchObject({
        happening: { message: { session: true } },
      });
    });

    it.each([
      "nothing besides",
      "nobody who is told",
      "one that nobody here tells",
      "one of whom it was told before",
      "one of whom something waits elsewhere",
      "one that has a plan for another route",
      "one that is there twice",
      "one that has moved on",
      "one that cannot be written",
    ])("is written with others the same, whether or not its sender says what it knows, with %s", async (kind) => {
      const alike: string[] = [];
      for (const asKnown of [{}, AS_KNOWN]) {
        const refs = [await stored({ trail: "a\n" }), await stored({ trail: "b\n" }), await stored({ trail: "c\n" })];
        const [, second = { accountId: 1, requestId: "", n: 1 }] = refs;
        const failoverAt = kind.includes("plan") ? { failoverAt: NOON + 9 } : {};
        for (const ref of refs) {
          await move(ref, "submitting", [], { attempt: true });
          await move(ref, "submitted", [], ref === second ? failoverAt : {});
        }
        const before = target({ status: kind.includes("told before") ? "delivered" : "sent" });
        if (kind.includes("of whom")) await move(second, "enroute", [before], {
          announce: { owner: OTHER_NODE, dueAt: NOON + 500, targets: [before] },
        }); // prettier-ignore
        await opened.execute("update messages set state = 'submitted' where state = 'enroute'");
        if (kind.includes("moved on")) await move(second, "expired", []);
        const all = kind.includes("there twice") ? [...refs, second] : refs;
        const results = await store.move(
          all.map((ref) =>
            delivery(ref, {
              ...(kind.includes("nobody who")
                ? {}
                : {
                    announce: {
                      owner: kind.includes("nobody here") && ref === second ? NOBODY : NODE,
                      dueAt: NOON + 5,
                      targets: [target()],
                    },
                  }),
              ...(kind.includes("cannot") && ref === second ? { description: "\0" } : {}),
              ...asKnown,
            }),
          ),
        );
        alike.push(await allOf(refs, results));
      }
      expect(alike[1]).toBe(alike[0]);
      expect(alike[0]).toContain('"moved":true');
    });
  });

  describe("a request with recipients that fail at the door", () => {
    it("stores what is told of them with it, and nothing when it is replayed", async () => {
      const item = acceptance({ each: { failure: "INVALID_RECIPIENT" } });
      const happening: Callback["happening"] = {
        kind: "status",
        status: "failed",
        at: NOON,
        message: {
          messageId: `${item.message.requestId}:1`,
          channel: "sms",
          recipient: "abc",
          sender: "HELIO",
          credits: 0,
          createdAt: NOON,
          session: false,
        },
        gateway: "",
        errorCode: "INVALID_RECIPIENT",
        description: null,
      };
      const callback: Callback = { accountId: 1, eventId: newId(NOON), endpointId: ENDPOINT, happening, attempts: 0 };
      const idempotency = { path: "/v1/sms", key: "k", bodyHash: "h", response: "r" };
      expect(await store.accept([{ ...item, callbacks: [callback], idempotency }])).toEqual([{ kind: "stored" }]);
      const other = { ...callback, eventId: newId(NOON) };
      expect(await store.accept([{ ...item, callbacks: [other], idempotency }])).toMatchObject([{ kind: "replayed" }]);
      expect(await claim()).toEqual([callback]);
      expect(await find(other.eventId)).toBeNull();
    });
  });

  describe("something that a phone sent", () => {
    it("is told once, however often its carrier repeats it", async () => {
      const id = newId(NOON);
      const inbound = {
        accountId: 1,
        id,
        channel: "rcs" as const,
        from: "33612345678",
        to: "shop",
        content: { kind: "text" as const, text: "Hi" },
        answers: null,
        at: NOON,
      };
      const callback: Callback = {
        accountId: 1,
        eventId: id,
        endpointId: ENDPOINT,
        happening: { kind: "inbound", at: NOON, inbound },
        attempts: 0,
      };
      await store.storeInbound([inbound], [callback], NOON);
      expect(await claim()).toEqual([callback]);
      await settle({ eventId: id });
      await store.storeInbound([inbound], [callback], NOON);
      expect(await claim()).toEqual([]);
    });
  });

  describe("claimCallbacks", () => {
    async function waiting(count: number): Promise<string[]> {
      const ids: string[] = [];
      for (let index = 0; index < count; index += 1) {
        const wanted = target();
        await move(await stored(), "submitting", [wanted], {
          announce: { owner: NOBODY, dueAt: NOON + index, targets: [wanted] },
        });
        ids.push(wanted.eventId);
      }
      return ids;
    }

    it("takes what is due and nobody's, oldest first, and no more than asked for", async () => {
      const ids = await waiting(3);
      expect((await claim(NOBODY, NOON + 10, 2)).map(({ eventId }) => eventId)).toEqual(ids.slice(0, 2));
      expect(await claim(NOBODY, NOON + 1)).toEqual([]);
      expect((await claim(NOBODY, NOON + 2)).map(({ eventId }) => eventId)).toEqual(ids.slice(2));
      expect(await claim()).toEqual([]);
    });

    it("takes what a dead node left behind", async () => {
      await waiting(1);
      await store.claimCallbacks({ node: OTHER_NODE, from: NOBODY, dueBy: NOON + 10, limit: 10 });
      expect(await claim()).toEqual([]);
      expect(await claim(OTHER_NODE)).toHaveLength(1);
    });

    it("never gives the same callback to two who ask at once", async () => {
      await waiting(40);
      const claims = await Promise.all(
        Array.from({ length: 8 }, (_, index) =>
          store.claimCallbacks({ node: 20 + index, from: NOBODY, dueBy: NOON + 100, limit: 10 }),
        ),
      );
      const taken = claims.flat().map(({ eventId }) => eventId);
      expect(new Set(taken).size).toBe(taken.length);
    });

    it("takes what is to be told of one message in order, one at a time for each endpoint", async () => {
      const ref = await stored();
      const events = [target({ status: "sent" }), target(), target({ endpointId: ELSEWHERE })];
      const announce = { owner: NOBODY, dueAt: NOON };
      await move(ref, "submitting", [], { announce: { ...announce, targets: events.slice(0, 1) } });
      await move(ref, "delivered", [], { announce: { ...announce, targets: events.slice(1) } });
      const [first, , elsewhere] = events;
      expect((await claim()).map(({ eventId }) => eventId)).toEqual([first?.eventId, elsewhere?.eventId]);
      expect(await claim()).toEqual([]);
      await settle({ eventId: first?.eventId ?? "" });
      expect((await claim()).map(({ eventId }) => eventId)).toEqual([events[1]?.eventId]);
    });
  });

  describe("settleCallbacks", () => {
    async function one(): Promise<{ ref: MessageRef; eventId: string }> {
      const ref = await stored();
      const wanted = target({ status: "sent" });
      await move(ref, "submitting", [wanted]);
      return { ref, eventId: wanted.eventId };
    }

    it("ends a callback, with its attempt in the log", async () => {
      const { eventId } = await one();
      await settle({ eventId });
      expect(await find(eventId)).toMatchObject({ state: "delivered", attempts: 1, doneAt: NOON + 9, log: "one\n" });
    });

    it("lets one wait, and what comes after it for as long", async () => {
      const { ref, eventId } = await one();
      const next = target();
      await move(ref, "delivered", [next]);
      await settle(
        { eventId },
        { state: "waiting", dueAt: NOON + 5000, log: "a\n", message: { requestId: ref.requestId, n: ref.n } },
      );
      expect(await find(eventId)).toMatchObject({ state: "waiting", attempts: 1, dueAt: NOON + 5000, doneAt: null });
      expect(await find(next.eventId)).toMatchObject({ dueAt: NOON + 5000 });
      const [claimed] = await claim(NOBODY, NOON + 5000);
      expect(claimed?.attempts).toBe(1);
      await settle({ eventId }, { log: "b\n" });
      expect(await find(eventId)).toMatchObject({ state: "delivered", attempts: 2, log: "a\nb\n" });
    });

    it("changes nothing for a node that no longer owns the row, nor for what has ended", async () => {
      const { eventId } = await one();
      await settle({ eventId }, { ownedBy: OTHER_NODE });
      expect(await find(eventId)).toMatchObject({ state: "waiting", log: null });
      await settle({ eventId });
      await settle({ eventId }, { state: "exhausted", ownedBy: NOBODY });
      expect(await find(eventId)).toMatchObject({ state: "delivered" });
    });
  });

  it("one that is put back without an attempt is nobody's until a time, and never due sooner than it was", async () => {
    const ref = await stored();
    const wanted = target();
    await move(ref, "submitting", [wanted]);
    const back = { state: "waiting", attempted: false, log: "" } as const;
    await settle(wanted, { ...back, ownedBy: OTHER_NODE, dueAt: NOON + 1 });
    expect(await claim(NOBODY, NOON + 100)).toEqual([]);
    await settle(wanted, { ...back, dueAt: NOON + 50 });
    expect(await claim(NOBODY, NOON + 49)).toEqual([]);
    expect(await claim(NOBODY, NOON + 50)).toMatchObject([{ attempts: 0 }]);
    await settle(wanted, { ...back, dueAt: NOON });
    expect(await find(wanted.eventId)).toMatchObject({ dueAt: NOON + 50, log: null });
  });

  it("tells once that a message was sent, although a second route takes it too", async () => {
    const ref = await stored();
    const sent = (): AnnouncementTarget => target({ status: "sent" });
    await move(ref, "submitting", []);
    expect((await move(ref, "submitted", [sent()])).told).toHaveLength(1);
    await move(ref, "accepted", []);
    await move(ref, "submitting", []);
    expect(await move(ref, "submitted", [sent()])).toMatchObject({ moved: true, told: [] });
  });

  it("a node that leaves gives its callbacks up, and one that dies with some is remembered", async () => {
    const node = await store.join({ alone: false });
    const ref = await stored({ owner: NOBODY });
    const wanted = target();
    await move(ref, "delivered", [wanted], { announce: { owner: node, dueAt: NOON, targets: [wanted] } });
    await store.join({ alone: true });
    expect(await store.bury(DAY_MS)).toEqual([node]);
    const leaving = await store.join({ alone: false });
    expect(await store.claimCallbacks({ node: leaving, from: node, dueBy: NOON, limit: 1 })).toHaveLength(1);
    await store.leave(leaving);
    expect(await claim()).toHaveLength(1);
  });

  describe("what people look at", () => {
    async function three(): Promise<string[]> {
      const ids: string[] = [];
      for (let day = 0; day < 3; day += 1) {
        const wanted = target({ eventId: newId(NOON + day * DAY_MS) });
        await move(await stored(), "submitting", [wanted]);
        ids.push(wanted.eventId);
      }
      return ids;
    }

    it("lists an account's callbacks, newest first, by endpoint, state and time", async () => {
      const [first = "", second = "", third = ""] = await three();
      await settle({ eventId: second }, { state: "exhausted" });
      const list = async (filter: Parameters<Store["listCallbacks"]>[1]) =>
        (await store.listCallbacks(1, filter, null, 10)).rows.map(({ eventId }) => eventId);
      expect(await list({})).toEqual([third, second, first]);
      expect(await list({ state: "exhausted" })).toEqual([second]);
      expect(await list({ endpointId: ELSEWHERE })).toEqual([]);
      expect(await list({ from: NOON + DAY_MS, to: NOON + 2 * DAY_MS })).toEqual([second]);
      expect((await store.listCallbacks(2, {}, null, 10)).rows).toEqual([]);
      const page = await store.listCallbacks(1, {}, null, 2);
      expect(page.next).toEqual({ eventId: second, endpointId: ENDPOINT });
      expect((await store.listCallbacks(1, {}, page.next, 2)).rows.map(({ eventId }) => eventId)).toEqual([first]);
    });

    it("lists what was told of one message, and each event once", async () => {
      const ref = await stored();
      const eventId = newId(NOON);
      await move(ref, "submitting", [
        target({ eventId, status: "sent" }),
        target({ eventId, status: "sent", endpointId: ELSEWHERE }),
      ]);
      const later = target();
      await move(ref, "delivered", [later]);
      expect(await store.listCallbacksOfMessage(ref, 10)).toHaveLength(3);
      expect((await store.listEvents(1, null, 10)).map((event) => event.eventId)).toEqual([eventId, later.eventId]);
      expect((await store.listEvents(1, eventId, 10)).map((event) => event.eventId)).toEqual([later.eventId]);
      expect(await store.listEvents(2, null, 10)).toEqual([]);
    });

    it("puts back to waiting what has ended: one, or all that failed since a time", async () => {
      const [first = "", second = "", third = ""] = await three();
      for (const eventId of [first, second]) await settle({ eventId }, { state: "exhausted" });
      await settle({ eventId: third });
      const ref = (eventId: string) => ({ accountId: 1, eventId, endpointId: ENDPOINT });
      expect(await store.resendCallback(ref(third), NOON + 90)).toBe(true);
      expect(await claim(NOBODY, NOON + 80)).toEqual([]);
      expect(await store.resendCallback(ref(third), NOON + 20)).toBe(true);
      expect(await store.resendCallback({ ...ref(third), accountId: 2 }, NOON + 20)).toBe(false);
      expect(await store.resendFailed(1, ENDPOINT, NOON + DAY_MS, NOON + 20, 10)).toBe(1);
      expect(await find(first)).toMatchObject({ state: "exhausted" });
      expect((await claim(NOBODY, NOON + 20)).map(({ eventId }) => eventId).toSorted()).toEqual([second, third]);
    });

    it("does not resend what a node has in hand", async () => {
      const wanted = target();
      await move(await stored(), "submitting", [wanted]);
      const ref = { accountId: 1, eventId: wanted.eventId, endpointId: ENDPOINT };
      expect(await store.resendCallback(ref, NOON + 20)).toBe(false);
    });

    it("remembers how an endpoint has been", async () => {
      expect(await store.findHealth(1, ENDPOINT)).toBeNull();
      const health = { failingSince: NOON, lastSuccessAt: null, lastFailureAt: NOON, lastFailure: "answered 500" };
      await store.noteHealth(1, ENDPOINT, health);
      await store.noteHealth(1, ENDPOINT, { ...health, failingSince: null });
      expect(await store.findHealth(1, ENDPOINT)).toEqual({ ...health, failingSince: null });
      expect(await store.findHealth(2, ENDPOINT)).toBeNull();
    });

    it("forgets what ended before a time, in steps, and never what waits", async () => {
      const [first = "", second = ""] = await three();
      await settle({ eventId: first });
      expect(await store.forgetCallbacks(1, NOON + 2 * DAY_MS, 10)).toBe(1);
      expect(await find(first)).toBeNull();
      expect(await find(second)).not.toBeNull();
    });
  });
}
