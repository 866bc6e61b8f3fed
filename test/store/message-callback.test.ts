import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { newId } from "../../src/lib/ids.ts";
import type { MessageCallback } from "../../src/model/callback.ts";
import type { MessageRef } from "../../src/model/message.ts";
import { UNOWNED, type Store } from "../../src/store/store.ts";
import type { CallbackTarget, Transition } from "../../src/store/transition.ts";
import { acceptance, NOON } from "../support/acceptances.ts";
import { ENGINES, openStore, type OpenStore } from "../support/engines.ts";

const NODE = 7;
const LINE = "1/line";
const OWN: MessageCallback = {
  endpointId: newId(NOON),
  kind: "twilio",
  credentialId: newId(NOON),
  states: ["submitted", "delivered", "undelivered"],
  url: "https://customer.example/status?order=4711",
  method: "POST",
};

describe.each(ENGINES)("the callback of a message on %s", (engine) => {
  let opened: OpenStore;
  let store: Store;
  beforeEach(async () => {
    opened = await openStore(engine);
    store = opened.store;
  });
  afterEach(() => opened.discard());

  async function stored(changes: Parameters<typeof acceptance>[0]): Promise<MessageRef> {
    const item = acceptance({ owner: NODE, carrier: LINE, timeline: "{}\n", ...changes });
    expect(await store.accept([item])).toEqual([{ kind: "stored" }]);
    return { accountId: 1, requestId: item.message.requestId, n: 1 };
  }

  const ownTarget = (status: CallbackTarget["status"]): CallbackTarget => ({
    eventId: newId(NOON),
    endpointId: null,
    kind: "state",
    status,
    channel: null,
    carrier: null,
    endOnly: false,
  });

  const expected = (callback?: MessageCallback) =>
    ({ channel: "sms", routeClass: "TRANS", recipient: "33612345678", campaignName: null, callback }) as const;
  const snapshot = { sender: "HELIO", credits: 1, createdAt: NOON };
  const step = { at: NOON + 5, owner: NODE, carrier: LINE, timeline: "{}\n" } as const;
  const plan = (status: CallbackTarget["status"]) => ({ owner: NODE, dueAt: NOON + 5, targets: [ownTarget(status)] });

  const submitted = (ref: MessageRef, known?: MessageCallback | null): Transition => ({
    ...ref,
    ...step,
    kind: "submitted",
    channel: "sms",
    carrierMessageId: `${ref.requestId} ${ref.n}`,
    callbacks: plan("submitted"),
    ...(known === null ? {} : { expected: expected(known) }),
  });
  const delivered = (ref: MessageRef, known?: MessageCallback | null): Transition =>
    known === null
      ? { ...ref, ...step, kind: "delivered", to: "delivered", callbacks: plan("delivered"), timelineAlways: true }
      : {
          ...ref,
          ...step,
          kind: "delivered",
          to: "delivered",
          callbacks: plan("delivered"),
          timelineAlways: true,
          expected: expected(known),
          snapshot,
        };

  async function apply(transition: Transition) {
    const [result] = await store.transition([transition]);
    if (!result || result instanceof Error) throw result ?? new Error("no result");
    expect(result.moved).toBe(true);
    return result.callbacks;
  }

  const rowsOf = async (ref: MessageRef) =>
    (await store.listCallbacksOfMessage(ref, 10)).map(({ endpointId, happening }) => ({
      endpointId,
      state: happening.kind === "state" ? happening.state : null,
      callback: happening.kind === "state" ? happening.message.callback : null,
    }));

  it("is stored with each recipient's message, and read back with it", async () => {
    const ref = await stored({ callback: OWN, to: ["33612345678", "33612345679"] });
    const plain = await stored({});
    expect(await store.findMessage(ref)).toMatchObject({ callback: OWN });
    expect(await store.findMessage({ ...ref, n: 2 })).toMatchObject({ callback: OWN });
    expect(await store.findMessage(plain)).not.toHaveProperty("callback");
    await opened.execute("update messages set state = 'accepted', owner = 0");
    const claimed = await store.claim({ node: NODE, from: UNOWNED, routeClass: "TRANS", dueBy: NOON + 9, limit: 9 });
    const urls = new Map(claimed.map(({ requestId, n, callback }) => [`${requestId}:${n}`, callback?.url]));
    expect(Object.fromEntries(urls)).toEqual({
      [`${ref.requestId}:1`]: OWN.url,
      [`${ref.requestId}:2`]: OWN.url,
      [`${plain.requestId}:1`]: undefined,
    });
  });

  describe.each([
    ["whose caller knows the message", OWN],
    ["whose caller does not know the message", null],
  ] as const)("a transition %s", (_, known) => {
    it("stores it in its own transaction, once per state, in the order of the states", async () => {
      const ref = await stored({ callback: OWN });
      const first = await apply(submitted(ref, known));
      const second = await apply(delivered(ref, known));
      expect([...first, ...second]).toMatchObject([
        { endpointId: OWN.endpointId, happening: { kind: "state", state: "submitted", gateway: "line" } },
        {
          endpointId: OWN.endpointId,
          happening: {
            kind: "state",
            state: "delivered",
            message: { messageId: `${ref.requestId}:1`, recipient: "33612345678", sender: "HELIO", callback: OWN },
          },
        },
      ]);
      expect(await rowsOf(ref)).toEqual([
        { endpointId: OWN.endpointId, state: "submitted", callback: OWN },
        { endpointId: OWN.endpointId, state: "delivered", callback: OWN },
      ]);
      expect((await store.listCallbacks(1, { state: "waiting" }, null, 1)).rows[0]?.happening).toEqual(
        second[0]?.happening,
      );
    });

    it("stores nothing for a state that the request did not ask for", async () => {
      const some = { ...OWN, states: ["delivered"] } as const;
      const ref = await stored({ callback: some });
      expect(await apply(submitted(ref, known && some))).toEqual([]);
      expect(await apply(delivered(ref, known && some))).toMatchObject([{ happening: { state: "delivered" } }]);
      expect(await rowsOf(ref)).toMatchObject([{ state: "delivered" }]);
    });

    it("stores nothing for a message without one", async () => {
      const ref = await stored({});
      const unknown = known === null ? null : undefined;
      expect(await apply(submitted(ref, unknown))).toEqual([]);
      expect(await apply(delivered(ref, unknown))).toEqual([]);
      expect(await rowsOf(ref)).toEqual([]);
    });
  });

  it("reports that a message is on its way, where the request asked for it", async () => {
    const ref = await stored({ callback: { ...OWN, states: ["enroute"] } });
    const other = await stored({ callback: OWN });
    const onItsWay = (each: MessageRef): Transition => ({
      ...each,
      ...step,
      kind: "reported",
      to: "enroute",
      errorCode: null,
      description: null,
      callbacks: plan("enroute"),
    });
    await apply(submitted(ref, OWN));
    await apply(submitted(other, OWN));
    expect(await apply(onItsWay(ref))).toMatchObject([{ happening: { state: "enroute" } }]);
    expect(await apply(onItsWay(other))).toEqual([]);
  });

  it("reports the requested channel and sender of a message that continued on another channel", async () => {
    const ref = await stored({ callback: OWN, channel: "rcs", sender: "bot", content: { text: "", sealed: "x" } });
    const content = { text: "Hello", encoding: "gsm7", flash: false } as const;
    const becomes = { channel: "sms", sender: "HELIO", content, segments: 1 } as const;
    await store.transition([{ ...ref, kind: "rerouted", at: NOON, owner: NODE, dueAt: NOON, tried: [], becomes }]);
    await opened.execute("update messages set state = 'submitted', submitted_at = created_at, carrier = '1/line'");
    const [callback] = await apply(delivered(ref, null));
    expect(callback?.happening).toMatchObject({ message: { channel: "rcs", sender: "bot", via: "sms" } });
  });
});
