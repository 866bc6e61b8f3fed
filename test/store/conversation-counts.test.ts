import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { newId } from "../../src/lib/ids.ts";
import { conversationIdOf } from "../../src/model/conversation.ts";
import type { InboundMessage } from "../../src/model/inbound.ts";
import type { Store } from "../../src/store/store.ts";
import { NOON } from "../support/acceptances.ts";
import { ENGINES, openStore, type OpenStore } from "../support/engines.ts";

const message = (index: number, fields: Partial<InboundMessage> = {}): InboundMessage => ({
  accountId: 1,
  id: newId(NOON + index),
  channel: "sms",
  from: "15550100100",
  to: "HELIOG",
  content: { kind: "text", text: `text ${index}` },
  answers: null,
  at: NOON + index,
  ...fields,
});

describe.each(ENGINES)("the unread count of a conversation on %s", (engine) => {
  let opened: OpenStore;
  let store: Store;
  beforeEach(async () => {
    opened = await openStore(engine);
    store = opened.store;
  });
  afterEach(() => opened.discard());

  const unread = async (of: InboundMessage): Promise<number | undefined> =>
    (await store.findConversation({ accountId: 1, id: conversationIdOf(of) }))?.unread;

  it("counts each message once, although batches repeat it at the same time", async () => {
    const messages = Array.from({ length: 10 }, (_, index) => message(index));
    const others = Array.from({ length: 10 }, (_, index) => message(index, { from: "15550100101" }));
    const batches = Array.from({ length: 6 }, (_, index) => [
      ...messages.slice(0, 5 + index),
      ...others.slice(0, 5 + index),
      ...messages.slice(0, 2),
    ]);
    await Promise.all(batches.map((batch, index) => store.storeInbound(index % 2 === 0 ? batch : batch.toReversed())));
    const [first, other] = [message(0), message(0, { from: "15550100101" })];
    expect([await unread(first), await unread(other)]).toEqual([10, 10]);
    await store.storeInbound(messages);
    expect(await unread(first)).toBe(10);
  });

  it("keeps what came after the user has read", async () => {
    const first = message(0);
    await store.storeInbound([first, message(1)]);
    await store.storeInbound([message(2)]);
    const ref = { accountId: 1, id: conversationIdOf(first) };
    await store.changeConversation(ref, { read: 2 });
    expect(await store.findConversation(ref)).toMatchObject({ unread: 1, lastAt: NOON + 2 });
    await store.changeConversation(ref, { read: 1 });
    expect(await store.countUnreadConversations(1, false, 100)).toBe(0);
  });

  it("keeps the time of the newest message when an older one comes later", async () => {
    const first = message(5);
    await store.storeInbound([first]);
    await store.storeInbound([message(1)]);
    const ref = { accountId: 1, id: conversationIdOf(first) };
    expect(await store.findConversation(ref)).toMatchObject({ unread: 2, lastAt: NOON + 5 });
    const conversation = await store.findConversation(ref);
    const last = await store.findLastInbound(conversation ? [conversation] : []);
    expect(last.get(ref.id)).toEqual(first);
  });

  it("keeps channels, senders, accounts and test traffic apart", async () => {
    const apart = [{ channel: "rcs" }, { to: "OTHER" }, { accountId: 2 }, { test: true }] as const;
    await store.storeInbound([message(0), ...apart.map((fields, index) => message(index + 1, fields))]);
    expect(await unread(message(0))).toBe(1);
    const { rows } = await store.listConversations(1, { test: false }, null, 10);
    expect(rows).toHaveLength(3);
    expect((await store.listConversations(1, { test: true }, null, 10)).rows).toHaveLength(1);
    expect((await store.listConversations(2, { test: false }, null, 10)).rows).toHaveLength(1);
  });
});
