import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { newId } from "../../src/lib/ids.ts";
import type { Callback } from "../../src/model/callback.ts";
import { HELD } from "../../src/store/callbacks.ts";
import type { SmppBind } from "../../src/store/smpp-binds.ts";
import type { Store } from "../../src/store/store.ts";
import type { SubmittedKey, SubmittedPart, SubmittedText } from "../../src/store/submitted-parts.ts";
import { NOON } from "../support/acceptances.ts";
import { ENGINES, openStore, type OpenStore } from "../support/engines.ts";
import { deleteExpired } from "../support/sweeps.ts";

const CREDENTIAL = newId(NOON);

describe.each(ENGINES)("the SMPP server in the store on %s", (engine) => {
  let opened: OpenStore;
  let store: Store;
  beforeEach(async () => {
    opened = await openStore(engine);
    store = opened.store;
  });
  afterEach(() => opened.discard());

  describe("parts of a submitted text", () => {
    const key: SubmittedKey = {
      accountId: 1,
      credentialId: CREDENTIAL,
      source: "SHOP",
      destination: "15550100100",
      reference: "7",
      total: 2,
    };
    const part = (index: number, text: string): SubmittedPart => ({
      id: newId(NOON + index),
      index,
      octets: text,
      digest: `${index} ${text}`,
      dataCoding: 0,
      registeredDelivery: index,
      repeats: null,
    });
    const keep = (given: SubmittedPart, at = NOON) =>
      store.keepSubmittedPart(key, given, { fields: '{"a":1}', at, repeatsSince: NOON });
    const listWaiting = (expiredBefore: number) => store.listSubmittedTexts({ before: 0, expiredBefore }, 10);
    const textsOf = ({ parts }: SubmittedText): string[] => parts.map(({ octets }) => octets);

    it("all parts are returned in order with each of them", async () => {
      const second = part(2, "world");
      expect((await keep(second, NOON + 5)).text).toMatchObject({ fields: '{"a":1}', firstAt: NOON + 5 });
      const { text } = await keep(part(1, "Hello "));
      expect(textsOf(text)).toEqual(["Hello ", "world"]);
      expect(text).toMatchObject({ ...key, firstAt: NOON });
      expect(text.parts[1]).toEqual(second);
    });

    it("a repeated part keeps its first id", async () => {
      const first = part(1, "a");
      await keep(first);
      expect((await keep({ ...first, id: newId(NOON + 9) })).part).toEqual(first);
    });

    it("another text under the same reference leaves the earlier parts on their own", async () => {
      await keep(part(1, "a"));
      const { text } = await keep(part(1, "b"));
      expect(textsOf(text)).toEqual(["b"]);
      const waiting = await listWaiting(NOON + 1);
      expect(new Set(waiting.flatMap(textsOf))).toEqual(new Set(["a", "b"]));
      expect(waiting).toHaveLength(2);
    });

    it("an ended text keeps its ids and no octets, and its reference is free", async () => {
      const [first, second] = [part(1, "a"), part(2, "b")];
      await keep(first);
      const { text } = await keep(second);
      const requestId = newId(NOON);
      await store.endSubmittedText(text, requestId, NOON + 60);
      expect(await store.findSubmittedRequest(1, first.id)).toBe(requestId);
      expect(await store.findSubmittedRequest(1, second.id)).toBe(requestId);
      expect(await store.findSubmittedRequest(2, first.id)).toBeNull();
      expect(await listWaiting(NOON + 100)).toEqual([]);
      expect(textsOf((await keep(part(1, "a"))).text)).toEqual(["a"]);
    });

    it("a repeated part of an accepted text is recognised, every time", async () => {
      const [first, second] = [part(1, "a"), part(2, "b")];
      await keep(first);
      const { text } = await keep(second);
      await store.endSubmittedText(text, newId(NOON), NOON + 60);
      const again = { ...second, id: newId(NOON + 70) };
      expect((await keep(again, NOON + 70)).part).toEqual({ ...again, repeats: second.id });
      const whole = (await keep({ ...first, id: newId(NOON + 71) }, NOON + 71)).text;
      await store.endSubmittedText(whole, newId(NOON), NOON + 80);
      expect((await keep({ ...second, id: newId(NOON + 90) }, NOON + 90)).part.repeats).toBe(second.id);
    });

    it("a part repeated while another transaction ends its text repeats the ended part", async () => {
      const [first, last] = [part(1, "a"), part(2, "b")];
      await keep(first);
      await keep(last);
      await opened.execute("begin");
      await opened.execute(`update submitted_parts
        set reference = reference || ' ended', octets = '', done_at = ${NOON}, request_id = '${newId(NOON)}'`);
      const kept = keep({ ...last, id: newId(NOON + 1) });
      await opened.untilBlocked();
      await opened.execute("commit");
      expect((await kept).part.repeats).toBe(last.id);
    });

    it("a part repeated while another transaction stores it and ends its text repeats the ended part", async () => {
      const [first, last] = [part(1, "a"), part(2, "b")];
      await keep(first);
      const columns = "account_id, credential_id, source, destination, reference, total, data_coding, at, fields";
      const isFirst = `part_id = '${first.id}'`;
      await opened.execute("begin");
      await opened.execute(`insert into submitted_parts (${columns}, part, part_id, octets, digest, registered_delivery)
        select ${columns}, 2, '${last.id}', 'b', '${last.digest}', 2 from submitted_parts where ${isFirst}`);
      const kept = keep({ ...last, id: newId(NOON + 1) });
      await opened.untilBlocked();
      await opened.execute(`update submitted_parts
        set reference = reference || ' ended', octets = '', done_at = ${NOON}, request_id = '${newId(NOON)}'`);
      await opened.execute("commit");
      expect((await kept).part.repeats).toBe(last.id);
    });

    it("parts repeated while their text is completed get their first ids", async () => {
      for (let round = 0; round < 20; round += 1) {
        const texts = { ...key, reference: `race ${round}` };
        const keepOf = (index: number) =>
          store.keepSubmittedPart(texts, part(index, `${round} ${index}`), {
            fields: "{}",
            at: NOON,
            repeatsSince: NOON,
          });
        const first = await keepOf(1);
        const { part: last, text } = await keepOf(2);
        const [again, lastAgain] = await Promise.all([
          keepOf(1),
          keepOf(2),
          store.endSubmittedText(text, newId(NOON), NOON),
        ]);
        const answered = [again, lastAgain].map((each) => each.part.repeats ?? each.part.id);
        expect(answered).toEqual([first.part.id, last.id]);
      }
    });

    it("other octets, a text that was given up and a time long ago make no repetition", async () => {
      const first = part(1, "a");
      const { text } = await keep(first);
      await store.endSubmittedText(text, null, NOON + 60);
      const { text: fresh, part: kept } = await keep({ ...first, id: newId(NOON + 70) });
      expect(kept.repeats).toBeNull();
      await store.endSubmittedText(fresh, newId(NOON), NOON - 1);
      const late = await keep({ ...first, id: newId(NOON + 80) });
      expect(late.part.repeats).toBeNull();
      await store.endSubmittedText(late.text, newId(NOON), NOON + 90);
      expect((await keep({ ...part(1, "other"), id: newId(NOON + 95) })).part.repeats).toBeNull();
    });

    it("texts that wait are listed by the time of a part", async () => {
      await keep(part(1, "a"), NOON + 10);
      expect(await listWaiting(NOON + 10)).toEqual([]);
      expect(await listWaiting(NOON + 11)).toHaveLength(1);
    });

    it("texts that miss parts do not hide one that is complete", async () => {
      for (let index = 0; index < 12; index += 1)
        await store.keepSubmittedPart({ ...key, reference: `alone ${index}` }, part(1, "a"), {
          fields: "{}",
          at: NOON,
          repeatsSince: NOON,
        });
      await keep(part(1, "a"), NOON + 1);
      await keep(part(2, "b"), NOON + 2);
      const complete = await store.listSubmittedTexts({ before: NOON + 3, expiredBefore: NOON }, 10);
      expect(complete.map(textsOf)).toEqual([["a", "b"]]);
      expect(await store.listSubmittedTexts({ before: NOON + 2, expiredBefore: NOON }, 10)).toEqual([]);
    });

    it("the end of a text leaves the next text under its reference waiting", async () => {
      await keep(part(1, "a"));
      const { text } = await keep(part(2, "b"));
      const next = part(1, "next");
      await keep(next);
      await store.endSubmittedText(text, newId(NOON), NOON + 60);
      expect(textsOf((await keep(part(2, "text"))).text)).toEqual(["next", "text"]);
      expect(await store.findSubmittedRequest(1, text.parts[0]?.id ?? "")).not.toBeNull();
      expect(await store.findSubmittedRequest(1, next.id)).toBeNull();
    });

    it("ids of ended texts are deleted by age, and waiting texts are not", async () => {
      const first = part(1, "a");
      const { text } = await keep(first);
      await store.endSubmittedText(text, newId(NOON), NOON + 5);
      await keep(part(2, "waits"));
      await deleteExpired(store, "submittedParts", { before: NOON + 5 });
      expect(await store.findSubmittedRequest(1, first.id)).not.toBeNull();
      await deleteExpired(store, "submittedParts", { before: NOON + 6 });
      expect(await store.findSubmittedRequest(1, first.id)).toBeNull();
      expect(await listWaiting(NOON + 1)).toHaveLength(1);
    });
  });

  describe("binds", () => {
    const bind = (node: number, more: Partial<SmppBind> = {}): SmppBind => ({
      accountId: 1,
      id: newId(NOON),
      credentialId: CREDENTIAL,
      node,
      kind: "transceiver",
      address: "192.0.2.7",
      secure: true,
      boundAt: NOON,
      counters: "{}",
      trace: null,
      ...more,
    });

    it("a system id has at most its number of binds, on all nodes together", async () => {
      const [one, two] = [await store.join({ alone: false }), await store.join({ alone: false })];
      const first = bind(one);
      expect(await store.openBind(first, 2)).toBe(true);
      expect(await store.openBind(bind(two, { boundAt: NOON + 1 }), 2)).toBe(true);
      expect(await store.openBind(bind(one, { boundAt: NOON + 2 }), 2)).toBe(false);
      expect(await store.openBind(bind(one, { credentialId: newId(NOON) }), 1)).toBe(true);
      await store.closeBind(1, first.id);
      expect(await store.openBind(bind(one, { boundAt: NOON + 3 }), 2)).toBe(true);
    });

    it("binds of nodes that have ended do not count, are not listed, and are removed", async () => {
      const [one, two] = [await store.join({ alone: false }), await store.join({ alone: false })];
      await store.openBind(bind(one), 1);
      await store.leave(one);
      expect(await store.listBinds(1)).toEqual([]);
      const open = bind(two, { boundAt: NOON + 1 });
      expect(await store.openBind(open, 1)).toBe(true);
      await store.removeDeadBinds();
      expect(await store.listBinds(1)).toEqual([open]);
      expect(await store.listBinds(2)).toEqual([]);
    });

    it("the node of a bind receives requests for it, and its report is listed", async () => {
      const node = await store.join({ alone: false });
      const open = bind(node);
      await store.openBind(open, 1);
      const { accountId, id, boundAt } = open;
      const asked = { accountId, id, boundAt, isClosing: false, traceUntil: 0 };
      expect(await store.listNodeBinds(node)).toEqual([asked]);
      expect(await store.askBind(1, open.id, { traceUntil: NOON + 5 })).toBe(true);
      expect(await store.listNodeBinds(node)).toEqual([{ ...asked, traceUntil: NOON + 5 }]);
      await store.reportBinds([{ accountId: 1, id: open.id, counters: '{"submits":1}', trace: "[]" }]);
      expect(await store.findBind(1, open.id)).toMatchObject({ counters: '{"submits":1}', trace: "[]" });
      expect(await store.askBind(1, open.id, { close: true })).toBe(true);
      expect(await store.listNodeBinds(node)).toEqual([{ ...asked, isClosing: true, traceUntil: NOON + 5 }]);
      expect(await store.askBind(2, open.id, { close: true })).toBe(false);
      expect(await store.findBind(2, open.id)).toBeNull();
    });
  });

  describe("callbacks held for a client that is away", () => {
    const happening = (n: number): Callback["happening"] => ({
      kind: "verification",
      at: NOON,
      verification: {
        id: newId(NOON + n),
        config: "c",
        number: "15550100100",
        state: "verified",
        checks: 1,
        test: false,
      },
    });
    const callback = (n: number, more: Partial<Callback> = {}): Callback => ({
      accountId: 1,
      eventId: newId(NOON + n),
      endpointId: CREDENTIAL,
      happening: happening(n),
      attempts: 0,
      ...more,
    });
    const claimHeld = (node: number, limit = 10) =>
      store.claimHeld({ node, accountId: 1, endpointId: CREDENTIAL, at: NOON + 50, limit });

    it("a node claims those of one endpoint, oldest first, once", async () => {
      const node = await store.join({ alone: false });
      const other = callback(3, { endpointId: newId(NOON) });
      const held = [callback(1), callback(2)];
      await store.storeCallbacks([...held, other], HELD);
      expect((await claimHeld(node, 1)).map(({ eventId }) => eventId)).toEqual([held[0]?.eventId]);
      expect((await claimHeld(node)).map(({ eventId }) => eventId)).toEqual([held[1]?.eventId]);
      expect(await claimHeld(node)).toEqual([]);
    });

    it("of many endpoints, those with held callbacks are found in one query", async () => {
      const [mine, others] = [newId(NOON), newId(NOON)];
      await store.storeCallbacks([callback(1), callback(2), callback(3, { endpointId: others })], HELD);
      await store.storeCallbacks([callback(4, { endpointId: mine })], NOON);
      const endpoint = (endpointId: string, accountId = 1) => ({ accountId, endpointId });
      expect(await store.listHeld([endpoint(mine), endpoint(CREDENTIAL)])).toEqual([endpoint(CREDENTIAL)]);
      expect(await store.listHeld([endpoint(CREDENTIAL, 2)])).toEqual([]);
      const node = await store.join({ alone: false });
      await claimHeld(node);
      expect(await store.listHeld([endpoint(CREDENTIAL)])).toEqual([]);
    });

    it("one that is due is left to the ordinary claim", async () => {
      const node = await store.join({ alone: false });
      await store.storeCallbacks([callback(1)], NOON);
      expect(await claimHeld(node)).toEqual([]);
    });

    it("those of a node that ended are claimed, and those of a living one are left to it", async () => {
      const [one, two] = [await store.join({ alone: false }), await store.join({ alone: false })];
      await store.storeCallbacks([callback(1)], HELD);
      expect(await claimHeld(one)).toHaveLength(1);
      // As a later one of a message is left, when the one before it is held while this node has both in memory.
      await opened.execute(`update callbacks set due_at = ${HELD}`);
      expect(await claimHeld(two)).toEqual([]);
      await opened.execute(`update nodes set dead = 1 where id = ${one}`);
      expect(await claimHeld(two)).toHaveLength(1);
    });

    it("a later one of the same message waits for the earlier one", async () => {
      const node = await store.join({ alone: false });
      const of = happening(1);
      const [first, second] = [callback(1, { happening: of }), callback(2, { happening: of })];
      await store.storeCallbacks([first, second], HELD);
      expect((await claimHeld(node)).map(({ eventId }) => eventId)).toEqual([first.eventId]);
      await store.settleCallbacks([
        { ...first, ownedBy: node, state: "delivered", at: NOON, dueAt: NOON, message: null, attempted: true, log: "" },
      ]);
      expect((await claimHeld(node)).map(({ eventId }) => eventId)).toEqual([second.eventId]);
    });
  });
});
