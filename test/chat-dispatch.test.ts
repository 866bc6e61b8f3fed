import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { newId } from "../src/lib/ids.ts";
import type { ChatContent } from "../src/model/chatapp.ts";
import type { Message } from "../src/model/message.ts";
import { ENGINES } from "./support/engines.ts";
import { Workshop } from "./support/workshop.ts";

describe.each(ENGINES)("what is asked once more before a chat-app message goes on %s", (engine) => {
  let shop: Workshop;
  beforeEach(async () => {
    shop = await Workshop.open(engine);
  });
  afterEach(() => shop.close());

  const acceptChat = (content: ChatContent): Promise<Message> =>
    shop.accept("TRANS", 3_600_000, { channel: "chatapp", sender: "+15550100199", content });
  const withFile: ChatContent = {
    kind: "template",
    templateName: "photo",
    language: "en",
    header: { type: "image", link: "https://shop.example/a.png" },
    text: "Look",
    footer: null,
    buttons: [],
    params: [],
  };

  test("a message waits for what is found behind its link without holding a place, and in the end passes", async () => {
    shop.media = null;
    const message = await acceptChat(withFile);
    await shop.dispatch(message);
    expect(await shop.read(message)).toMatchObject({ state: "accepted", dueAt: message.dueAt + 1000 });
    for (let second = 0; second < 6; second += 1) {
      expect(shop.carrier.submitted).toEqual([]);
      shop.clock.advance(1000);
      for (const claimed of await shop.claim()) await shop.dispatch(claimed);
    }
    expect(shop.carrier.submitted).toHaveLength(1);
  });

  test("a file that turns out unfit fails the message", async () => {
    shop.media = { kind: "too large", bytes: 9_000_000 };
    const message = await acceptChat(withFile);
    await shop.dispatch(message);
    expect(await shop.read(message)).toMatchObject({ state: "rejected", errorCode: "MEDIA_TOO_LARGE" });
    expect(shop.carrier.submitted).toEqual([]);
  });

  test("words of the business's own are not sent once the user's last message is a day old", async () => {
    const at = shop.clock.now();
    const inbound = { accountId: 1, channel: "chatapp", from: "15550100100", to: "+15550100199" } as const;
    await shop.store.storeInbound([
      { ...inbound, id: newId(at), content: { kind: "text", text: "Hello?" }, answers: null, at },
    ]);
    const soon = await acceptChat({ kind: "text", text: "We are on it." });
    const late = await acceptChat({ kind: "text", text: "Still on it." });
    shop.clock.advance(60_000);
    await shop.needs.membership.beat();
    await shop.dispatch(soon);
    shop.clock.advance(86_400_000);
    await shop.needs.membership.beat();
    await shop.dispatch({ ...late, expiresAt: shop.clock.now() + 1000 });
    expect(shop.carrier.submitted.map(({ requestId }) => requestId)).toEqual([soon.requestId]);
    expect(await shop.read(late)).toMatchObject({ state: "rejected", errorCode: "SESSION_CLOSED" });
  });
});
