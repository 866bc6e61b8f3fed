import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { DEFAULT_SETTINGS } from "../../src/model/account.ts";
import type { SendChannel } from "../../src/model/message.ts";
import { ENGINES } from "../support/engines.ts";
import { KEYWORD_RULE } from "../support/keyword-rule.ts";
import { startTestServer, type MessageBody, type PhoneMessageBody, type TestServer } from "../support/test-server.ts";
import { eventually } from "../support/eventually.ts";

const SENDERS = { sms: "HELIOG", rcs: "shop-bot", chatapp: "+15550100199" } as const;
const RULE = { ...KEYWORD_RULE, numbers: null, countries: null, language: "fr", stopWords: null };

describe.each(ENGINES)("automatic replies to keywords on %s", (engine) => {
  let server: TestServer;
  let last = 0;
  beforeAll(async () => {
    server = await startTestServer(engine);
    await server.request("PATCH", "/api/account", { keywordRules: [RULE] });
  });
  afterAll(() => server.close());

  const someone = (): string => `1202557${String((last += 1)).padStart(4, "0")}`;
  const say = (number: string, channel: SendChannel, text: string, headers = {}) =>
    server.request("POST", `/api/simulator/phones/${number}/reply`, { to: SENDERS[channel], channel, text }, headers);
  /** The texts that lie on a phone, once there are as many as expected. */
  const onPhone = (number: string, count: number): Promise<PhoneMessageBody[]> =>
    eventually(
      () => server.onPhone(number),
      (messages) => messages.length >= count,
    );

  test.each(["sms", "rcs", "chatapp"] as const)(
    "a STOP on %s is confirmed by a message like any other, although the number is opted out",
    async (channel) => {
      const number = someone();
      expect((await say(number, channel, "STOP")).status).toBe(200);
      const [reply] = await onPhone(number, 1);
      expect(reply).toMatchObject({ sender: SENDERS[channel], channel, text: RULE.stopReply });
      const messageId = reply?.messageId ?? "";
      expect((await server.settled(messageId)).status).toBe("Delivered");
      const { body } = await server.request<MessageBody>("GET", `/api/messages/${messageId}`);
      expect(JSON.stringify(body.timeline)).toContain("Reply to the keyword STOP (fr)");
      expect((await server.request("GET", `/api/optouts/${number}`)).status).toBe(200);
    },
  );

  test("HELP is answered for a number that is opted out, and a promotion to it is still refused", async () => {
    const number = someone();
    await say(number, "sms", "STOP");
    await say(number, "sms", "aide");
    expect((await onPhone(number, 2)).map(({ text }) => text)).toEqual(
      expect.arrayContaining([RULE.stopReply, RULE.helpReply]),
    );
    expect((await server.send({ to: number, type: "PROMO" })).status).toBe(403);
  });

  test("a reply that credits do not cover is left out, and the STOP counts", async () => {
    const number = someone();
    await server.request("PATCH", "/api/account", { credits: "metered" });
    try {
      expect((await say(number, "sms", "STOP")).status).toBe(200);
      expect((await server.request("GET", `/api/optouts/${number}`)).status).toBe(200);
      expect(await server.onPhone(number)).toEqual([]);
    } finally {
      // Only an owner who is logged in may do this.
      await server.asOwner("PATCH", "/api/account", { credits: DEFAULT_SETTINGS.credits });
    }
  });

  test("the reply to the phone of a test key is a test message, without effect on live traffic", async () => {
    const number = someone();
    expect((await say(number, "sms", "STOP", { apikey: server.testKey })).status).toBe(200);
    const [reply] = await onPhone(number, 1);
    expect((await server.request("GET", `/api/optouts/${number}`)).status).toBe(404);
    const path = `/v1/messages/${reply?.messageId}`;
    expect((await server.request("GET", path, undefined, { apikey: server.testKey })).status).toBe(200);
  });
});
