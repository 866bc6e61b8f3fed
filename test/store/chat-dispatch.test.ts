import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { newId } from "../../src/lib/ids.ts";
import type { ChatContent } from "../../src/model/chatapp.ts";
import type { Message } from "../../src/model/message.ts";
import { ENGINES } from "../support/engines.ts";
import { TestPipeline } from "../support/test-pipeline.ts";

describe.each(ENGINES)("rechecks before a chat-app message is sent on %s", (engine) => {
  let pipeline: TestPipeline;
  beforeEach(async () => {
    pipeline = await TestPipeline.open(engine);
  });
  afterEach(() => pipeline.close());

  const acceptChat = (content: ChatContent): Promise<Message> =>
    pipeline.accept("TRANS", 3_600_000, { channel: "chatapp", sender: "+15550100199", content });
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

  test("a message waits for its media check without holding a slot, and is sent in the end", async () => {
    pipeline.media = null;
    const message = await acceptChat(withFile);
    await pipeline.dispatch(message);
    expect(await pipeline.read(message)).toMatchObject({ state: "accepted", dueAt: message.dueAt + 1000 });
    for (let second = 0; second < 6; second += 1) {
      expect(pipeline.carrier.submitted).toEqual([]);
      pipeline.clock.advance(1000);
      for (const claimed of await pipeline.claim()) await pipeline.dispatch(claimed);
    }
    expect(pipeline.carrier.submitted).toHaveLength(1);
  });

  test("an unsuitable media file fails the message", async () => {
    pipeline.media = { kind: "too large", bytes: 9_000_000, bytesMax: 5 * 1024 * 1024 };
    const message = await acceptChat(withFile);
    await pipeline.dispatch(message);
    expect(await pipeline.read(message)).toMatchObject({ state: "rejected", errorCode: "MEDIA_TOO_LARGE" });
    expect(pipeline.carrier.submitted).toEqual([]);
  });

  test("a session message is not sent once the user's last message is a day old", async () => {
    const at = pipeline.clock.now();
    const inbound = { accountId: 1, channel: "chatapp", from: "15550100100", to: "+15550100199" } as const;
    await pipeline.store.storeInbound([
      { ...inbound, id: newId(at), content: { kind: "text", text: "Hello?" }, answers: null, at },
    ]);
    const soon = await acceptChat({ kind: "text", text: "We are on it." });
    const late = await acceptChat({ kind: "text", text: "Still on it." });
    pipeline.clock.advance(60_000);
    await pipeline.deps.membership.heartbeat();
    await pipeline.dispatch(soon);
    pipeline.clock.advance(86_400_000);
    await pipeline.deps.membership.heartbeat();
    await pipeline.dispatch({ ...late, expiresAt: pipeline.clock.now() + 1000 });
    expect(pipeline.carrier.submitted.map(({ requestId }) => requestId)).toEqual([soon.requestId]);
    expect(await pipeline.read(late)).toMatchObject({ state: "rejected", errorCode: "SESSION_CLOSED" });
  });
});
