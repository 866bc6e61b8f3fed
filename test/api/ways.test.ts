import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ENGINES } from "../support/engines.ts";
import { startMovedClockServer, type MovedClockServer } from "../support/moved-clock-server.ts";
import { openSink } from "../support/sink.ts";
import type { Answer, Envelope } from "../support/test-server.ts";

const RCS = { channel: "rcs", botId: "ways-bot", templateName: "ways-rcs" };
const CHAT = { channel: "chatapp", from: "+15550100199", templateName: "ways_chat" };
const SMS = { channel: "sms", sender: "HELIOG", text: "As a text." };

describe.each(ENGINES)("POST /v1/messages on %s", (engine) => {
  let server: MovedClockServer;
  beforeAll(async () => {
    server = await startMovedClockServer(engine);
  });
  afterAll(() => server.close());

  const post = (fields: object = {}, headers = {}): Promise<Answer<Envelope>> =>
    server.request(
      "POST",
      "/v1/messages",
      { to: "15550100100", type: "TRANS", ways: [RCS, CHAT, SMS], moveOnAfterSeconds: 30, ...fields },
      headers,
    );
  const idOf = ({ body }: Answer<Envelope>): string => body.data[0]?.messageId ?? "";
  const faultOf = ({ status, body: { error } }: Answer<Envelope>) => [
    status,
    error?.code,
    ...(error?.details.map(({ parameter }) => parameter) ?? []),
  ];

  test("the answer is the send envelope with one record, and the first way is sent", async () => {
    const answer = await post();
    const { id } = answer.body;
    expect(answer).toMatchObject({ status: 200, body: { message: "Message Sent Successfully!", error: null } });
    expect(answer.body).toMatchObject({ totalCount: 1, data: [{ recipient: "15550100100", messageId: `${id}:1` }] });
    await server.travel(5000);
    expect(await server.message(idOf(answer))).toMatchObject({ channel: "rcs", status: "Delivered", credits: 1 });
  });

  test("a number that is on SMS only gets the text, under one id, with one charge and one timeline", async () => {
    const id = idOf(await post({ to: "15550109009" }));
    await server.travel(5000);
    const message = await server.settled(id);
    expect(message).toMatchObject({ channel: "sms", status: "Delivered", text: "As a text.", credits: 1 });
    const details = message.timeline.filter(({ event }) => event === "rerouted").map(({ detail }) => detail);
    expect(details).toMatchObject([
      expect.stringContaining("as a chat-app message"),
      expect.stringContaining("as a text message"),
    ]);
    expect(await server.request("GET", "/v1/messages?recipient=15550109009")).toMatchObject({
      body: { data: [{ messageId: id }] },
    });
  });

  test("a chat-app way may be a session message, and is left out unless the recipient wrote within 24 hours", async () => {
    const { from } = CHAT;
    const buttons = [{ type: "reply", reply: { id: "y", title: "Yes" } }];
    const interactive = { type: "button", body: { text: "Shall we come?" }, action: { buttons } };
    const ways = [{ channel: "chatapp", from, interactive }, SMS];
    const to = "15550100141";
    const before = idOf(await post({ to, ways }));
    await server.travel(5000);
    expect(await server.settled(before)).toMatchObject({ channel: "sms", text: "As a text.", status: "Delivered" });
    const alone = await post({ to, ways: [ways[0]] });
    expect(faultOf(alone)).toEqual([403, "SESSION_CLOSED", "ways[0].type"]);
    const wrote = { to: from, channel: "chatapp", text: "Hello?" };
    expect((await server.request("POST", `/api/simulator/phones/${to}/reply`, wrote)).status).toBe(200);
    const within = idOf(await post({ to, ways }));
    await server.travel(5000);
    expect(await server.message(within)).toMatchObject({ channel: "chatapp", text: "Shall we come?" });
    const wrong = await post({ to, ways: [{ channel: "chatapp", from, text: { body: "" } }, SMS] });
    expect(faultOf(wrong)).toEqual([400, "INVALID_REQUEST", "ways[0].text.body"]);
    const both = await post({ to, ways: [{ ...CHAT, interactive }, SMS] });
    expect(faultOf(both)).toEqual([400, "INVALID_REQUEST", "ways[0].interactive"]);
  });

  test("a silent way is left after moveOnAfterSeconds, and the ways end with the last one", async () => {
    const id = idOf(await post({ to: "15550119004" }));
    await server.travel(20_000);
    expect(await server.message(id)).toMatchObject({ channel: "rcs", status: "Pending" });
    await server.travel(15_000);
    expect(await server.message(id)).toMatchObject({ channel: "chatapp", status: "Pending" });
    await server.travel(35_000);
    expect(await server.message(id)).toMatchObject({ channel: "sms", status: "Pending" });
  });

  test("the dearest way is the price", async () => {
    const text = "x".repeat(161);
    const id = idOf(await post({ ways: [RCS, { ...SMS, text }] }));
    expect(await server.message(id)).toMatchObject({ credits: 2 });
  });

  test("sendAt, campaignName and Idempotency-Key are those of every send", async () => {
    const sendAt = server.clock.now() + 600_000;
    const headers = { "idempotency-key": `ways ${engine}` };
    const first = await post({ sendAt, campaignName: "ways" }, headers);
    expect((await post({ sendAt, campaignName: "ways" }, headers)).body).toEqual(first.body);
    expect(await server.message(idOf(first))).toMatchObject({
      state: "scheduled",
      dueAt: sendAt,
      campaignName: "ways",
    });
  });

  test("faults of all ways are reported at once with their paths, and nothing is learned", async () => {
    const before = await server.request<{ data: unknown[] }>("GET", "/api/bots");
    const ways = [
      { channel: "rcs", botId: "bot that nobody knows" },
      { ...CHAT, templateName: "No" },
      { ...SMS, text: "" },
    ];
    expect(faultOf(await post({ ways }))).toEqual([
      400,
      "INVALID_REQUEST",
      "ways[0].templateName",
      "ways[1].templateName",
      "ways[2].text",
    ]);
    expect((await server.request<{ data: unknown[] }>("GET", "/api/bots")).body.data).toHaveLength(
      before.body.data.length,
    );
  });

  test.each<[string, object, unknown[]]>([
    ["no ways", { ways: [] }, [400, "INVALID_REQUEST", "ways"]],
    ["two ways on one channel", { ways: [SMS, { ...SMS }] }, [400, "INVALID_REQUEST", "ways[1].channel"]],
    ["an unknown channel", { ways: [{ channel: "fax" }] }, [400, "INVALID_REQUEST", "ways[0].channel"]],
    ["a fallback within a way", { ways: [{ ...RCS, fallback: SMS }] }, [400, "INVALID_REQUEST", "ways[0].fallback"]],
    ["a field of another channel", { ways: [{ ...RCS, text: "Hi" }] }, [400, "INVALID_REQUEST", "ways[0].text"]],
    ["a bad number", { to: "12" }, [400, "INVALID_RECIPIENT", "to"]],
    ["too short a wait", { moveOnAfterSeconds: 1 }, [400, "INVALID_REQUEST", "moveOnAfterSeconds"]],
    ["type OTP", { type: "OTP" }, [400, "INVALID_REQUEST", "type"]],
    [
      "a text that is too long",
      { ways: [RCS, { ...SMS, text: "x".repeat(2000) }] },
      [400, "MESSAGE_TOO_LONG", "ways[1].text"],
    ],
  ])("%s is refused by its path", async (_, fields, fault) => {
    const [status, code, ...parameters] = faultOf(await post(fields));
    expect([code, ...parameters]).toEqual(fault.slice(1));
    expect(status).toBeGreaterThanOrEqual(400);
    expect(status).toBeLessThan(500);
  });

  test("a key needs the scope of every channel", async () => {
    const { body } = await server.request<{ key: string }>("POST", "/api/keys", {
      name: "Texts",
      mode: "live",
      scopes: ["sms"],
    });
    const refused = await post({}, { apikey: body.key });
    expect(refused).toMatchObject({ status: 403, body: { error: { code: "INSUFFICIENT_SCOPE" } } });
    expect((await post({ ways: [SMS] }, { apikey: body.key })).status).toBe(200);
  });

  test("a marketing template cannot go as TRANS", async () => {
    const template = { channel: "chatapp", name: "ways_offer", category: "marketing", language: "en", body: "Sale!" };
    expect((await server.request("POST", "/api/templates", template)).status).toBe(201);
    const ways = [{ ...CHAT, templateName: "ways_offer" }, SMS];
    expect(faultOf(await post({ ways }))).toEqual([400, "INVALID_REQUEST", "ways[0].templateName"]);
    expect((await post({ ways, type: "PROMO" })).status).toBe(200);
  });

  test("webhooks of each way receive its events, and those of the first way also the final state", async () => {
    const sink = await openSink();
    try {
      for (const channel of ["rcs", "chatapp"])
        await server.request("POST", "/api/webhooks", {
          name: `ways ${channel}`,
          channel,
          url: `${sink.url}/${channel}`,
          events: ["message_status"],
        });
      await post({ to: "15550129009", ways: [CHAT, SMS] });
      const expected: unknown = [
        "/chatapp",
        expect.objectContaining({ statuses: expect.objectContaining({ status: "delivered" }), deliveryChannel: "sms" }),
      ];
      const received = async (): Promise<unknown[]> => {
        await server.travel(5000);
        return sink.received.map(({ path, body }) => [path, body]);
      };
      await expect.poll(received).toContainEqual(expected);
    } finally {
      await sink.close();
    }
  });
});
