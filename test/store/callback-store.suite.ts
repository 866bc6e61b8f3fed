import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { newId } from "../../src/lib/ids.ts";
import type { Callback, StatusEvent } from "../../src/model/callback.ts";
import type { MessageRef } from "../../src/model/message.ts";
import { HELD, type Settlement } from "../../src/store/callbacks.ts";
import { UNOWNED, type Store } from "../../src/store/store.ts";
import type { CallbackTarget, TransitionResult } from "../../src/store/transition.ts";
import { acceptance, NOON } from "../support/acceptances.ts";
import { openStore, type EngineName, type OpenStore } from "../support/engines.ts";
import { transitionAll, type TransitionFields } from "../support/transitions.ts";
import { deleteExpired } from "../support/sweeps.ts";

const NODE = 7;
const OTHER_NODE = 8;
const ENDPOINT = newId(NOON);
const ELSEWHERE = newId(NOON + 1);
const DAY_MS = 86_400_000;

/**
 * Callback tests that every engine passes. Without `allCases`, the test that compares two ways to write the same row
 * tries one kind of row.
 */
export function callbackStoreSuite(engine: EngineName, { allCases = true } = {}): void {
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

  const target = (
    more: Partial<CallbackTarget & { endpointId: string }> = {},
  ): CallbackTarget & { endpointId: string } => ({
    eventId: newId(NOON),
    endpointId: ENDPOINT,
    kind: "status",
    status: "delivered",
    channel: "sms",
    carrier: null,
    endOnly: false,
    ...more,
  });

  async function move(
    ref: MessageRef,
    to: TransitionFields["to"],
    targets: CallbackTarget[],
    more: Partial<TransitionFields> = {},
  ) {
    const announce = { owner: NODE, dueAt: NOON + 5, targets };
    const [result] = await transitionAll(store, [
      { ...ref, to, at: NOON + 5, owner: UNOWNED, callbacks: announce, ...more },
    ]);
    if (!result || result instanceof Error) throw result ?? new Error("no result");
    return result;
  }

  const toldOf = ({ callbacks: told }: TransitionResult): string[] => told.map(({ eventId }) => eventId);
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
        attempts: callback.attempts ?? 0,
        state: "delivered",
        at: NOON + 9,
        dueAt: NOON + 9,
        attempted: true,
        log: "one\n",
        ...more,
      },
    ]);
  const claim = (from = UNOWNED, dueBy = NOON + 10, limit = 100) =>
    store.claimCallbacks({ node: NODE, from, dueBy, limit });

  describe("a transition with callbacks", () => {
    it("a transition stores its callbacks in its own transaction, with a snapshot of the message", async () => {
      const ref = await stored();
      const wanted = target();
      const result = await move(ref, "submitting", [wanted], {
        carrier: "1/line",
        errorCode: "000",
        description: "Fine",
      });
      expect(result.callbacks).toEqual([
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
        ...result.callbacks[0],
        state: "waiting",
        dueAt: NOON + 5,
        doneAt: null,
        log: null,
      });
    });

    it("a callback names the phone's network once a receipt has named it", async () => {
      const ref = await stored();
      await move(ref, "submitting", []);
      await move(ref, "enroute", [], { operator: "Airtel", circle: "Punjab" });
      const { callbacks: told } = await move(ref, "delivered", [target()], { operator: "Jio" });
      expect(told).toMatchObject([{ happening: { message: { operator: "Jio", circle: "Punjab" } } }]);
    });

    it("an illegal transition stores no callbacks, so a repeated receipt is reported once", async () => {
      const ref = await stored();
      await move(ref, "submitting", []);
      expect((await move(ref, "delivered", [target()])).callbacks).toHaveLength(1);
      const again = target();
      expect(await move(ref, "delivered", [again])).toMatchObject({ moved: false, callbacks: [] });
      expect(await find(again.eventId)).toBeNull();
    });

    it("only endpoints of the message's channel, and of the named carrier, get callbacks", async () => {
      const ref = await stored();
      const wanted = target({ carrier: "1/line", endpointId: ELSEWHERE });
      const targets = [target({ channel: "rcs" }), target({ carrier: "1/other" }), target(), wanted];
      const { callbacks: told } = await move(ref, "submitting", targets, { carrier: "1/line" });
      expect(told.map(({ endpointId }) => endpointId)).toEqual([ENDPOINT, ELSEWHERE]);
    });

    it("a callback distinguishes a session message from a template", async () => {
      const session = await stored({ channel: "chatapp", content: { kind: "text", text: "We are on it." } });
      const { callbacks: told } = await move(session, "submitting", [
        target({ channel: "chatapp", kind: "sent", status: null }),
      ]);
      expect(told).toMatchObject([{ happening: { kind: "sent", at: NOON + 5, message: { session: true } } }]);
    });

    it("a batch of transitions stores the callbacks of each message", async () => {
      const refs = await Promise.all([stored(), stored(), stored()]);
      const targets = refs.map(() => target());
      const results = await transitionAll(
        store,
        refs.map((ref, index) => ({
          ...ref,
          to: "submitting",
          at: NOON,
          owner: UNOWNED,
          callbacks: { owner: NODE, dueAt: NOON, targets: targets.slice(index, index + 1) },
        })),
      );
      expect(results.map((result) => (result instanceof Error ? [] : toldOf(result)))).toEqual(
        targets.map(({ eventId }) => [eventId]),
      );
    });

    it("a callback is stored unowned while an earlier one of its message is not on this node", async () => {
      const ref = await stored();
      const first = target({ status: "sent" });
      await move(ref, "submitting", [first], { callbacks: { owner: OTHER_NODE, dueAt: NOON + 500, targets: [first] } });
      const second = target();
      const elsewhere = target({ endpointId: ELSEWHERE });
      const result = await move(ref, "delivered", [second, elsewhere]);
      expect(toldOf(result)).toEqual([elsewhere.eventId]);
      expect(await find(second.eventId)).toMatchObject({ state: "waiting", dueAt: NOON + 500 });
      expect(await claim(UNOWNED, NOON + 1000)).toEqual([]);
    });

    it("a snapshot that an earlier version stored with names is read the same", async () => {
      const wanted = target();
      const [told] = (await move(await stored(), "submitting", [wanted])).callbacks;
      const { message = null } = (told?.happening ?? {}) as Partial<StatusEvent>;
      await opened.execute(`update callbacks set facts = '${JSON.stringify(message)}'`);
      expect(await claim(NODE)).toEqual([told]);
    });

    it("a snapshot keeps unknown fields of its message", async () => {
      const ref = await stored();
      const wanted = target();
      const [told] = (await move(ref, "delivered", [wanted], { operator: "Airtel", circle: "Punjab" })).callbacks;
      expect(told?.happening).toMatchObject({ message: { operator: "Airtel", circle: "Punjab" } });
      expect(await claim(NODE)).toEqual([told]);
    });

    it("a callback is this node's if the earlier ones are on this node too", async () => {
      const ref = await stored();
      await move(ref, "submitting", [target({ status: "sent" })]);
      expect((await move(ref, "delivered", [target()])).callbacks).toHaveLength(1);
    });
  });

  describe("a delivered transition", () => {
    const AS_KNOWN = {
      expected: { channel: "sms", routeClass: "TRANS", recipient: "33612345678", campaignName: null },
      snapshot: { sender: "HELIO", credits: 1, createdAt: NOON },
    } as const;
    const delivery = (ref: MessageRef, changes: Partial<TransitionFields> = {}): TransitionFields => ({
      ...ref,
      to: "delivered",
      at: NOON + 5,
      owner: UNOWNED,
      carrier: "1/line",
      timeline: "came\n",
      timelineAlways: true,
      failoverAt: null,
      errorCode: "000",
      description: "Fine",
      ...changes,
    });
    const rowsOf = (table: string, { requestId }: MessageRef): Promise<unknown[]> =>
      opened.execute(
        `select * from ${table} where request_id = '${requestId}' order by n${table === "callbacks" ? ", event_id" : ""}`,
      );
    /** All rows of the messages, and the results, with ids replaced so that two runs can be compared. */
    async function allOf(refs: readonly MessageRef[], results: readonly (TransitionResult | Error)[]): Promise<string> {
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
    it.each(allCases ? rows : rows.slice(0, 1))(
      "a delivered transition has the same result with and without the expected row, where %s",
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
            const results = await transitionAll(store, [delivery(ref, { callbacks: announce, ...asKnown })]);
            alike.push(await allOf([ref], results));
            const [result] = results;
            if (!result || result instanceof Error) throw result ?? new Error("no result");
            moves += result.moved ? 1 : 0;
            told += result.callbacks.length;
          }
          expect(alike[1]).toBe(alike[0]);
        }
        expect(moves).toBe(6);
        expect(told).toBeGreaterThanOrEqual(6);
      },
    );

    it.each([1, 2])(
      "a delivered callback waits for the callback of an earlier final state, if any: attempt %i",
      async (tries) => {
        const ref = await stored({ timeline: "before " });
        const doubt = target({ status: "unknown", endOnly: true });
        if (tries > 1) {
          await move(ref, "submitting", [], { attempt: true });
          await move(ref, "unknown", [], { callbacks: { owner: OTHER_NODE, dueAt: NOON + 500, targets: [doubt] } });
          await move(ref, "accepted", []);
        }
        await move(ref, "submitting", [], { attempt: true });
        await move(ref, "submitted", [], { carrier: "1/line" });
        const end = target({ endOnly: true });
        const announce = { owner: NODE, dueAt: NOON + 5, targets: [end] };
        const [result] = await transitionAll(store, [delivery(ref, { callbacks: announce, ...AS_KNOWN })]);
        expect(result).toMatchObject({ moved: true, callbacks: tries > 1 ? [] : [{ eventId: end.eventId }] });
        expect(await find(end.eventId)).toMatchObject({ state: "waiting", dueAt: tries > 1 ? NOON + 500 : NOON + 5 });
      },
    );

    it("a delivered callback of the chat app has the session flag, with or without the expected row", async () => {
      const ref = await stored({ channel: "chatapp", content: { kind: "text", text: "We are on it." } });
      for (const to of ["submitting", "submitted"] as const) await move(ref, to, []);
      const known = { ...AS_KNOWN, expected: { ...AS_KNOWN.expected, channel: "chatapp" } } as const;
      const announce = { owner: NODE, dueAt: NOON + 5, targets: [target({ channel: "chatapp" })] };
      const [result] = await transitionAll(store, [delivery(ref, { callbacks: announce, ...known })]);
      expect(result).toMatchObject({ moved: true, callbacks: [{ happening: { message: { session: true } } }] });
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
    ])(
      "a batch of delivered transitions has the same result with and without the expected rows, with %s",
      async (kind) => {
        const alike: string[] = [];
        for (const asKnown of [{}, AS_KNOWN]) {
          const refs = [
            await stored({ timeline: "a\n" }),
            await stored({ timeline: "b\n" }),
            await stored({ timeline: "c\n" }),
          ];
          const [, second = { accountId: 1, requestId: "", n: 1 }] = refs;
          const failoverAt = kind.includes("plan") ? { failoverAt: NOON + 9 } : {};
          for (const ref of refs) {
            await move(ref, "submitting", [], { attempt: true });
            await move(ref, "submitted", [], ref === second ? failoverAt : {});
          }
          const before = target({ status: kind.includes("told before") ? "delivered" : "sent" });
          if (kind.includes("of whom")) await move(second, "enroute", [before], {
          callbacks: { owner: OTHER_NODE, dueAt: NOON + 500, targets: [before] },
        }); // prettier-ignore
          await opened.execute("update messages set state = 'submitted' where state = 'enroute'");
          if (kind.includes("moved on")) await move(second, "expired", []);
          const all = kind.includes("there twice") ? [...refs, second] : refs;
          const results = await transitionAll(
            store,
            all.map((ref) =>
              delivery(ref, {
                ...(kind.includes("nobody who")
                  ? {}
                  : {
                      callbacks: {
                        owner: kind.includes("nobody here") && ref === second ? UNOWNED : NODE,
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
      },
    );
  });

  describe("a request with refused recipients", () => {
    it("callbacks of refused recipients are stored with the request, and not again on replay", async () => {
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

  describe("an inbound message", () => {
    it("an inbound message has one callback, however often its carrier repeats it", async () => {
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
      const again = { ...callback, eventId: newId(NOON + 5) };
      await store.storeInbound([inbound, inbound], [callback, again], NOON);
      expect(await claim()).toEqual([callback]);
      await settle({ eventId: id });
      for (const repeated of [callback, again]) await store.storeInbound([inbound], [repeated], NOON);
      expect(await claim()).toEqual([]);
    });
  });

  describe("claimCallbacks", () => {
    async function waiting(count: number): Promise<string[]> {
      const ids: string[] = [];
      for (let index = 0; index < count; index += 1) {
        const wanted = target();
        await move(await stored(), "submitting", [wanted], {
          callbacks: { owner: UNOWNED, dueAt: NOON + index, targets: [wanted] },
        });
        ids.push(wanted.eventId);
      }
      return ids;
    }

    it("claimCallbacks takes due and unowned callbacks, oldest first, up to the limit", async () => {
      const ids = await waiting(3);
      expect((await claim(UNOWNED, NOON + 10, 2)).map(({ eventId }) => eventId)).toEqual(ids.slice(0, 2));
      expect(await claim(UNOWNED, NOON + 1)).toEqual([]);
      expect((await claim(UNOWNED, NOON + 2)).map(({ eventId }) => eventId)).toEqual(ids.slice(2));
      expect(await claim()).toEqual([]);
    });

    it("claimCallbacks takes callbacks of dead nodes", async () => {
      await waiting(1);
      await store.claimCallbacks({ node: OTHER_NODE, from: UNOWNED, dueBy: NOON + 10, limit: 10 });
      expect(await claim()).toEqual([]);
      expect(await claim(OTHER_NODE)).toHaveLength(1);
    });

    it("claimCallbacks never gives a callback to two claimers", async () => {
      await waiting(40);
      const claims = await Promise.all(
        Array.from({ length: 8 }, (_, index) =>
          store.claimCallbacks({ node: 20 + index, from: UNOWNED, dueBy: NOON + 100, limit: 10 }),
        ),
      );
      const taken = claims.flat().map(({ eventId }) => eventId);
      expect(new Set(taken).size).toBe(taken.length);
    });

    it("claimCallbacks takes the callbacks of one message in order, one at a time per endpoint", async () => {
      const ref = await stored();
      const events = [target({ status: "sent" }), target(), target({ endpointId: ELSEWHERE })];
      const announce = { owner: UNOWNED, dueAt: NOON };
      await move(ref, "submitting", [], { callbacks: { ...announce, targets: events.slice(0, 1) } });
      await move(ref, "delivered", [], { callbacks: { ...announce, targets: events.slice(1) } });
      const [first, , elsewhere] = events;
      expect((await claim()).map(({ eventId }) => eventId)).toEqual([first?.eventId, elsewhere?.eventId]);
      expect(await claim()).toEqual([]);
      await settle({ eventId: first?.eventId ?? "" });
      expect((await claim()).map(({ eventId }) => eventId)).toEqual([events[1]?.eventId]);
    });
  });

  describe("the order of callbacks of one message", () => {
    const SKEW_MS = 1000;
    /** Stored by one node, and then by another whose clock is a second behind. */
    const sent = () => target({ eventId: newId(NOON + SKEW_MS), status: "sent" });
    const delivered = () => target({ eventId: newId(NOON), status: "delivered" });
    const by = (owner: number, targets: CallbackTarget[]) => ({ callbacks: { owner, dueAt: NOON, targets } });

    it("callbacks of one message follow the order of its transitions, whatever the clocks of the nodes", async () => {
      const ref = await stored();
      const [first, second] = [sent(), delivered()];
      await move(ref, "submitting", [], by(OTHER_NODE, [first]));
      await move(ref, "delivered", [], by(NODE, [second]));
      expect(await claim()).toEqual([]);
      await settle({ eventId: first.eventId }, { ownedBy: OTHER_NODE });
      expect((await claim()).map(({ eventId }) => eventId)).toEqual([second.eventId]);
    });

    it("callbacks of one message keep their order when the earlier one is deferred", async () => {
      const ref = await stored();
      const [first, second] = [sent(), delivered()];
      await move(ref, "submitting", [], by(NODE, [first]));
      await move(ref, "delivered", [], by(NODE, [second]));
      const message = { requestId: ref.requestId, n: ref.n };
      await settle({ eventId: second.eventId }, { state: "waiting", dueAt: NOON + 9, attempted: false, message });
      await settle({ eventId: first.eventId }, { state: "waiting", dueAt: NOON + 5000, message });
      expect(await find(second.eventId)).toMatchObject({ dueAt: NOON + 5000 });
      expect((await claim(UNOWNED, NOON + 5000)).map(({ eventId }) => eventId)).toEqual([first.eventId]);
    });

    it("callbacks of one message keep their order when both are sent again", async () => {
      const ref = await stored();
      const events = [sent(), delivered()];
      await move(ref, "submitting", [], by(NODE, events.slice(0, 1)));
      await move(ref, "delivered", [], by(NODE, events.slice(1)));
      for (const { eventId } of events) await settle({ eventId }, { state: "exhausted" });
      expect(await store.resendUndelivered(1, ENDPOINT, NOON, NOON + 9, 10)).toBe(2);
      for (const { eventId } of events) {
        expect((await claim()).map((callback) => callback.eventId)).toEqual([eventId]);
        await settle({ eventId });
      }
    });

    it("callbacks of one message are listed in the order of its transitions", async () => {
      const ref = await stored();
      const [first, second] = [sent(), delivered()];
      await move(ref, "submitting", [], by(NODE, [first]));
      await move(ref, "delivered", [], by(NODE, [second]));
      const listed = await store.listCallbacksOfMessage(ref, 10);
      expect(listed.map(({ eventId }) => eventId)).toEqual([first.eventId, second.eventId]);
    });

    it("callbacks without a transition, such as replies, keep their order too", async () => {
      const ref = await stored();
      const [first] = [sent()];
      const { callbacks: told } = await move(ref, "submitting", [], by(NODE, [first]));
      const [status] = told;
      if (!status) throw new Error("nothing was told");
      const answers = [NOON + 500, NOON + 400].map((at): Callback => ({ ...status, eventId: newId(at) }));
      await store.storeCallbacks(answers, NOON);
      const last = delivered();
      await move(ref, "delivered", [], by(UNOWNED, [last]));
      for (const { eventId } of [first, ...answers, last]) {
        const [due] = await claim(eventId === first.eventId ? NODE : UNOWNED);
        expect(due?.eventId).toBe(eventId);
        await settle({ eventId });
      }
    });

    it("pending callbacks from before the upgrade keep the order of their ids, before all later ones", async () => {
      const ref = await stored();
      const [first, second, third] = [sent(), delivered(), target({ eventId: newId(NOON - 1), status: "read" })];
      await move(ref, "submitting", [], by(UNOWNED, [second]));
      await move(ref, "submitted", [], by(UNOWNED, [first]));
      await opened.execute("update callbacks set seq = 0");
      if (engine === "postgres") await opened.execute("update messages set callback_seq = 0");
      await move(ref, "delivered", [], by(NODE, [third]));
      for (const { eventId } of [second, first, third]) {
        expect((await claim()).map((callback) => callback.eventId)).toEqual([eventId]);
        await settle({ eventId });
      }
    });

    it("a callback names its predecessor if the same node has it", async () => {
      const ref = await stored();
      const [first, second] = [sent(), delivered()];
      const { callbacks: told } = await move(ref, "submitting", [], by(NODE, [first]));
      expect(told[0]).not.toHaveProperty("follows");
      expect((await move(ref, "delivered", [], by(NODE, [second]))).callbacks).toMatchObject([
        { eventId: second.eventId, follows: [first.eventId] },
      ]);
    });

    it("the owner of a callback is decided after the row lock: 'delivered' that waited for another node's 'sent' is unowned", async () => {
      const ref = await stored();
      await move(ref, "submitting", [], { carrier: "1/line" });
      // Holds the first statement up after it has changed the message, since it stores the same submission.
      await opened.execute("begin");
      await opened.execute(`insert into submissions (carrier, carrier_message_id, account_id, request_id, n, part, parts)
        values ('1/line', 'x', 1, '${newId(NOON)}', 1, 1, 1)`);
      const [first, second] = [sent(), delivered()];
      const carrier = { carrier: "1/line", carrierMessageId: "x" };
      const sending = move(ref, "submitted", [], { ...by(OTHER_NODE, [first]), ...carrier });
      await opened.untilBlocked();
      const delivering = move(ref, "delivered", [], { ...by(NODE, [second]), carrier: "1/line", failoverAt: null });
      await opened.untilBlocked(2);
      await opened.execute("rollback");
      expect(toldOf(await sending)).toEqual([first.eventId]);
      expect(await delivering).toMatchObject({ moved: true, callbacks: [] });
      expect(await claim()).toEqual([]);
    });
  });

  describe("settleCallbacks", () => {
    async function one(): Promise<{ ref: MessageRef; eventId: string }> {
      const ref = await stored();
      const wanted = target({ status: "sent" });
      await move(ref, "submitting", [wanted]);
      return { ref, eventId: wanted.eventId };
    }

    it("settleCallbacks ends a callback, with its attempt in the log", async () => {
      const { eventId } = await one();
      await settle({ eventId });
      expect(await find(eventId)).toMatchObject({ state: "delivered", attempts: 1, doneAt: NOON + 9, log: "one\n" });
    });

    it("settleCallbacks defers a callback and all later ones of its message", async () => {
      const { ref, eventId } = await one();
      const next = target();
      await move(ref, "delivered", [next]);
      await settle(
        { eventId },
        { state: "waiting", dueAt: NOON + 5000, log: "a\n", message: { requestId: ref.requestId, n: ref.n } },
      );
      expect(await find(eventId)).toMatchObject({ state: "waiting", attempts: 1, dueAt: NOON + 5000, doneAt: null });
      expect(await find(next.eventId)).toMatchObject({ dueAt: NOON + 5000 });
      const [claimed] = await claim(UNOWNED, NOON + 5000);
      expect(claimed?.attempts).toBe(1);
      await settle({ eventId }, { attempts: 1, log: "b\n" });
      expect(await find(eventId)).toMatchObject({ state: "delivered", attempts: 2, log: "a\nb\n" });
    });

    it("settleCallbacks changes nothing for a node that lost the row, nor in a final state", async () => {
      const { eventId } = await one();
      await settle({ eventId }, { ownedBy: OTHER_NODE });
      expect(await find(eventId)).toMatchObject({ state: "waiting", log: null });
      await settle({ eventId });
      await settle({ eventId }, { state: "exhausted", ownedBy: UNOWNED });
      expect(await find(eventId)).toMatchObject({ state: "delivered" });
    });
  });

  it("a late settlement of an earlier attempt changes neither a later attempt of the same node nor what waits behind it", async () => {
    const ref = await stored();
    const [first, next] = [target({ status: "sent" }), target()];
    await move(ref, "submitting", [first]);
    await move(ref, "delivered", [next]);
    const message = { requestId: ref.requestId, n: ref.n };
    const failed = { state: "waiting", dueAt: NOON + 20, log: "one\n", message } as const;
    await settle(first, failed);
    expect(await claim(UNOWNED, NOON + 20)).toMatchObject([{ eventId: first.eventId, attempts: 1 }]);
    // The commit was not answered, and the writer repeats it with a later due time.
    await settle(first, { ...failed, dueAt: NOON + 9000 });
    expect(await find(first.eventId)).toMatchObject({ attempts: 1, dueAt: NOON + 20, log: "one\n" });
    expect(await find(next.eventId)).toMatchObject({ dueAt: NOON + 20 });
    expect(await claim(UNOWNED, NOON + 20), "the row is still owned").toEqual([]);
    await settle(first, { attempts: 1, log: "two\n" });
    expect(await find(first.eventId)).toMatchObject({ state: "delivered", attempts: 2, log: "one\ntwo\n" });
  });

  it("a settlement by a node that lost ownership does not hold back later callbacks of the message", async () => {
    const ref = await stored();
    const [first, next] = [target({ status: "sent" }), target()];
    await move(ref, "submitting", [first]);
    await move(ref, "delivered", [next]);
    const message = { requestId: ref.requestId, n: ref.n };
    await settle(first, { ownedBy: OTHER_NODE, state: "waiting", dueAt: NOON + 9000, message });
    expect(await find(first.eventId)).toMatchObject({ attempts: 0, dueAt: NOON + 5 });
    expect(await find(next.eventId)).toMatchObject({ dueAt: NOON + 5 });
  });

  it("a callback put back without an attempt is unowned, and never due earlier than before", async () => {
    const ref = await stored();
    const wanted = target();
    await move(ref, "submitting", [wanted]);
    const back = { state: "waiting", attempted: false, log: "" } as const;
    await settle(wanted, { ...back, ownedBy: OTHER_NODE, dueAt: NOON + 1 });
    expect(await claim(UNOWNED, NOON + 100)).toEqual([]);
    await settle(wanted, { ...back, dueAt: NOON + 50 });
    expect(await claim(UNOWNED, NOON + 49)).toEqual([]);
    expect(await claim(UNOWNED, NOON + 50)).toMatchObject([{ attempts: 0 }]);
    await settle(wanted, { ...back, dueAt: NOON });
    expect(await find(wanted.eventId)).toMatchObject({ dueAt: NOON + 50, log: null });
  });

  it("a sent callback is stored once, although a second route submits the message too", async () => {
    const ref = await stored();
    const sent = (): CallbackTarget => target({ status: "sent" });
    await move(ref, "submitting", []);
    expect((await move(ref, "submitted", [sent()])).callbacks).toHaveLength(1);
    await move(ref, "accepted", []);
    await move(ref, "submitting", []);
    expect(await move(ref, "submitted", [sent()])).toMatchObject({ moved: true, callbacks: [] });
  });

  it("a leaving node releases its callbacks, and a dead node with callbacks is remembered", async () => {
    const node = await store.join({ alone: false });
    const ref = await stored({ owner: UNOWNED });
    const wanted = target();
    await move(ref, "delivered", [wanted], { callbacks: { owner: node, dueAt: NOON, targets: [wanted] } });
    await store.join({ alone: true });
    expect(await store.expireNodes(DAY_MS)).toEqual([node]);
    const leaving = await store.join({ alone: false });
    expect(await store.claimCallbacks({ node: leaving, from: node, dueBy: NOON, limit: 1 })).toHaveLength(1);
    await store.leave(leaving);
    expect(await claim()).toHaveLength(1);
  });

  describe("lists and resends", () => {
    async function three(): Promise<string[]> {
      const ids: string[] = [];
      for (let day = 0; day < 3; day += 1) {
        const wanted = target({ eventId: newId(NOON + day * DAY_MS) });
        await move(await stored(), "submitting", [wanted]);
        ids.push(wanted.eventId);
      }
      return ids;
    }

    it("callbacks of an account are listed newest first, by endpoint, state and time", async () => {
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

    it("callbacks of one message are listed, each event once", async () => {
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

    it("an ended callback, or all that failed since a time, can be sent again", async () => {
      const [first = "", second = "", third = ""] = await three();
      for (const eventId of [first, second]) await settle({ eventId }, { state: "exhausted" });
      await settle({ eventId: third });
      const ref = (eventId: string) => ({ accountId: 1, eventId, endpointId: ENDPOINT });
      expect(await store.resendCallback(ref(third), NOON + 90)).toBe(true);
      expect(await claim(UNOWNED, NOON + 80)).toEqual([]);
      expect(await store.resendCallback(ref(third), NOON + 20)).toBe(true);
      expect(await store.resendCallback({ ...ref(third), accountId: 2 }, NOON + 20)).toBe(false);
      expect(await store.resendUndelivered(1, ENDPOINT, NOON + DAY_MS, NOON + 20, 10)).toBe(1);
      expect(await find(first)).toMatchObject({ state: "exhausted" });
      expect((await claim(UNOWNED, NOON + 20)).map(({ eventId }) => eventId).toSorted()).toEqual([second, third]);
    });

    it("waiting callbacks are sent again with those that failed, except attempted and held ones and those of others", async () => {
      const [failed = "", waiting = "", held = ""] = await three();
      await settle({ eventId: failed }, { state: "exhausted" });
      await settle({ eventId: waiting }, { state: "waiting", dueAt: NOON + 2 * DAY_MS });
      await settle({ eventId: held }, { state: "waiting", dueAt: HELD });
      const attempted = target();
      await move(await stored(), "submitting", [attempted]);
      expect(await store.resendUndelivered(2, ENDPOINT, 0, NOON + 20, 10)).toBe(0);
      expect(await store.resendUndelivered(1, ELSEWHERE, 0, NOON + 20, 10)).toBe(0);
      expect(await store.resendUndelivered(1, ENDPOINT, 0, NOON + 20, 10)).toBe(2);
      expect(await store.resendUndelivered(1, ENDPOINT, 0, NOON + 20, 10)).toBe(0);
      expect(await find(waiting)).toMatchObject({ state: "waiting", dueAt: NOON + 20, attempts: 0 });
      expect(await find(held)).toMatchObject({ dueAt: HELD });
      expect((await claim(UNOWNED, NOON + 20)).map(({ eventId }) => eventId).toSorted()).toEqual([failed, waiting]);
    });

    it("callbacks about some messages and inbound messages are listed, newest first, without those of other accounts", async () => {
      const [ref, other] = [await stored(), await stored()];
      const [first, second] = [target({ status: "sent" }), target()];
      await move(ref, "submitting", [first]);
      await move(ref, "delivered", [second]);
      await move(other, "submitting", [target()]);
      const about = (accountId: number) => store.listCallbacksAbout(accountId, [ref], [newId(NOON)], 10);
      const ids = (await about(1)).map(({ eventId }) => eventId);
      expect(ids).toEqual([first.eventId, second.eventId].toSorted().toReversed());
      expect(await about(2)).toEqual([]);
      expect(await store.listCallbacksAbout(1, [], [], 10)).toEqual([]);
    });

    it("a callback that a node is delivering is not sent again", async () => {
      const wanted = target();
      await move(await stored(), "submitting", [wanted]);
      const ref = { accountId: 1, eventId: wanted.eventId, endpointId: ENDPOINT };
      expect(await store.resendCallback(ref, NOON + 20)).toBe(false);
    });

    it("the health of an endpoint is stored", async () => {
      expect(await store.findHealth(1, ENDPOINT)).toBeNull();
      const health = { failingSince: NOON, lastSuccessAt: null, lastFailureAt: NOON, lastFailure: "answered 500" };
      await store.noteHealth(1, ENDPOINT, health);
      await store.noteHealth(1, ENDPOINT, { ...health, failingSince: null });
      expect(await store.findHealth(1, ENDPOINT)).toEqual({ ...health, failingSince: null });
      expect(await store.findHealth(2, ENDPOINT)).toBeNull();
    });

    it("callbacks held for a disabled endpoint are deleted at the age of ended ones", async () => {
      const [first = "", second = ""] = await three();
      for (const eventId of [first, second])
        await settle({ eventId }, { state: "waiting", dueAt: HELD, attempted: false });
      expect(await store.countWaitingOf(1, ENDPOINT)).toBe(3);
      expect(await deleteExpired(store, "callbacks", { accountId: 1, before: NOON + DAY_MS })).toEqual([1]);
      expect(await find(first)).toBeNull();
      await store.releaseHeld(2, ENDPOINT, NOON);
      await store.releaseHeld(1, ELSEWHERE, NOON);
      expect(await claim()).toEqual([]);
      await store.releaseHeld(1, ENDPOINT, NOON);
      expect((await claim()).map(({ eventId }) => eventId)).toEqual([second]);
    });

    it("an enabled endpoint gets the callbacks that a node which ended held behind another", async () => {
      const node = await store.join({ alone: false });
      const ref = await stored();
      const [first, second] = [target({ status: "sent" }), target()];
      await move(ref, "submitting", [], { callbacks: { owner: node, dueAt: NOON, targets: [first] } });
      await move(ref, "delivered", [], { callbacks: { owner: node, dueAt: NOON, targets: [second] } });
      const message = { requestId: ref.requestId, n: ref.n };
      await settle(first, { ownedBy: node, state: "waiting", dueAt: HELD, attempted: false, message });
      expect(await find(second.eventId)).toMatchObject({ dueAt: HELD });
      await store.releaseHeld(1, ENDPOINT, NOON);
      expect((await claim()).map(({ eventId }) => eventId)).toEqual([first.eventId]);
      await settle(first);
      expect((await claim(node)).map(({ eventId }) => eventId)).toEqual([second.eventId]);
    });

    it("ended callbacks are deleted from a time back in batches, pending ones never", async () => {
      const [first = "", second = ""] = await three();
      await settle({ eventId: first });
      expect(await deleteExpired(store, "callbacks", { accountId: 1, before: NOON + 2 * DAY_MS }, 1)).toEqual([
        1, 0, 0,
      ]);
      expect(await find(first)).toBeNull();
      expect(await find(second)).not.toBeNull();
    });
  });
}
