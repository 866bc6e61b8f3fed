import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { RcsContent, RcsTemplate } from "../../src/model/rcs.ts";
import { ENGINES } from "../support/engines.ts";
import { eventually } from "../support/eventually.ts";
import { openSink } from "../support/sink.ts";
import { startTestServer, type Answer, type Envelope, type TestServer } from "../support/test-server.ts";

const ORDINARY = { number: "+15550100100", templateName: "anything at all", botId: "any-bot", type: "TRANS" };
const IMAGES = ["https://shop.example/a.jpg", "https://shop.example/b.jpg"];
const CARD = { title: "Coat", description: "Warm", fileUrl: "https://shop.example/coat.jpg", suggestions: [] };
const SUGGESTIONS = [
  { type: "reply", text: "Yes", data: "yes" },
  { type: "url", text: "Shop", data: "shop", url: "https://shop.example/" },
  { type: "dial", text: "Call", data: "call", number: "+15550100198" },
] as const;

/** RCS at its endpoint and on the phone; what a body must look like in every detail is in `rcs-read.test.ts`. */
describe.each(ENGINES)("POST /v1/rcs on %s", (engine) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer(engine);
  });
  afterAll(() => server.close());

  const post = (fields: object = {}, headers = {}): Promise<Answer<Envelope>> =>
    server.request("POST", "/v1/rcs", { ...ORDINARY, ...fields }, headers);
  const idOf = ({ body }: Answer<Envelope>): string => body.data[0]?.messageId ?? "";
  const readMessage = (messageId: string) =>
    eventually(
      () => server.message(messageId),
      ({ state }) => state === "read",
    );
  async function onPhone(messageId: string, number = "15550100100"): Promise<RcsContent | undefined> {
    const { rows } = await server.app.store.listPhoneMessages(1, number, null, 200);
    return rows.find((row) => row.messageId === messageId)?.content as RcsContent | undefined;
  }
  async function author(name: string, fields: Partial<RcsTemplate>): Promise<void> {
    const { status, body } = await server.request("POST", "/api/templates", { channel: "rcs", name, ...fields });
    expect({ status, body }).toMatchObject({ status: 201 });
  }

  const KINDS: [string, Partial<RcsTemplate>, object, Partial<RcsContent>][] = [
    ["1, plain text", { kind: "text", text: "Open!" }, {}, { text: "Open!", suggestions: [], cards: [] }],
    [
      "2, rich text",
      { kind: "rich", text: "Happy?", suggestions: SUGGESTIONS },
      {},
      { text: "Happy?", suggestions: SUGGESTIONS },
    ],
    [
      "3, text with variables",
      { kind: "text", text: "{{2}} for {{1}}" },
      { content: [{ params: ["{{2}}", "One"] }] },
      { text: "One for {{2}}" },
    ],
    ["4, standalone, template image kept", { kind: "card", cards: [CARD] }, {}, { cards: [CARD] }],
    [
      "5, standalone, image replaced",
      { kind: "card", cards: [CARD] },
      { content: [{ fileUrl: IMAGES[0] }] },
      { cards: [{ ...CARD, fileUrl: IMAGES[0] ?? "" }] },
    ],
    [
      "6, carousel, images replaced",
      { kind: "carousel", cards: [CARD, CARD] },
      { content: IMAGES.map((fileUrl) => ({ fileUrl })) },
      { cards: IMAGES.map((fileUrl) => ({ ...CARD, fileUrl })) },
    ],
    ["7, carousel, images kept", { kind: "carousel", cards: [CARD, CARD] }, {}, { cards: [CARD, CARD] }],
  ];

  test.each(KINDS)("kind %s is shown on the phone as in its template", async (kind, template, fields, shown) => {
    const templateName = `kind ${kind}`;
    await author(templateName, template);
    const messageId = idOf(await post({ ...fields, templateName }));
    expect(await readMessage(messageId)).toMatchObject({ status: "Delivered", channel: "rcs", sender: "any-bot" });
    expect(await onPhone(messageId)).toMatchObject({ kind: template.kind, templateName, botId: "any-bot", ...shown });
  });

  test.each([
    ["no content", {}],
    ["params", { content: [{ params: ["Ada"] }] }],
    ["one fileUrl", { content: [{ fileUrl: IMAGES[0] }] }],
    ["a fileUrl per card", { content: IMAGES.map((fileUrl) => ({ fileUrl })) }],
  ])("with %s works on a fresh start with any names", async (kind, fields) => {
    const sent = await post({ templateName: `never seen: ${kind}`, botId: `bot of ${kind}`, ...fields });
    expect(sent.status).toBe(200);
    expect(await server.settled(idOf(sent))).toMatchObject({ status: "Delivered" });
  });

  test("the recipient is echoed with its plus, whichever of the two fields has it", async () => {
    const { id, ...rest } = (await post({ number: undefined, from: "+15550100100" })).body;
    expect(rest).toEqual({
      data: [{ recipient: "+15550100100", messageId: `${id}:1` }],
      totalCount: 1,
      message: "Message Sent Successfully!",
      error: null,
    });
    const { status, body } = await post({ from: "+15550100101" });
    expect({ status, parameters: body.error?.details.map(({ parameter }) => parameter) }).toEqual({
      status: 400,
      parameters: ["number", "from"],
    });
  });

  test("a number without its plus is refused", async () => {
    const { status, body } = await post({ number: "15550100100" });
    expect({ status, code: body.error?.code, parameter: body.error?.parameter }).toEqual({
      status: 400,
      code: "INVALID_RECIPIENT",
      parameter: "number",
    });
  });

  test("type is TRANS or PROMO; promotions obey the opt-out list", async () => {
    const number = "15550100178";
    await server.request("POST", "/api/optouts", { number });
    const refused = await post({ number: `+${number}`, type: "PROMO" });
    expect(refused.status).toBe(403);
    expect(refused.body.error).toMatchObject({ code: "RECIPIENT_OPTED_OUT", parameter: "number" });
    expect((await post({ number: `+${number}` })).status).toBe(200);
    expect((await post({ type: "OTP" })).body.error).toMatchObject({ code: "INVALID_REQUEST", parameter: "type" });
  });

  test("it goes from sent to delivered to read, and failed only before delivered", async () => {
    const message = await readMessage(idOf(await post()));
    expect(message.timeline.map(({ event }) => event)).toEqual(["accepted", "sent", "delivered", "read"]);
    const failed = await server.settled(idOf(await post({ number: "+15550109001" })));
    expect(failed).toMatchObject({ status: "Failed", state: "undelivered" });
    expect(failed.timeline.map(({ event }) => event)).toEqual(["accepted", "sent", "failed"]);
  });

  test("a carousel needs one fileUrl per card, a text one value per placeholder", async () => {
    await author("two cards", { kind: "carousel", cards: [CARD, CARD] });
    await author("two values", { kind: "text", text: "{{1}} {{2}}" });
    const images = [...IMAGES, ...IMAGES].map((fileUrl) => ({ fileUrl }));
    for (const [templateName, content] of [
      ["two cards", images.slice(0, 1)],
      ["two cards", images.slice(0, 3)],
      ["two values", [{ params: ["one"] }]],
      ["two values", undefined],
    ] as const) {
      const { status, body } = await post({ templateName, content });
      expect({ status, code: body.error?.code }).toEqual({ status: 422, code: "PARAMS_MISMATCH" });
    }
    for (const [templateName, content] of [
      ["two cards", [{ params: ["one"] }]],
      ["two values", images.slice(0, 1)],
    ] as const) {
      const { status, body } = await post({ templateName, content });
      expect({ status, code: body.error?.code }).toEqual({ status: 422, code: "TEMPLATE_KIND_MISMATCH" });
    }
  });

  test.each(["draft", "paused"] as const)("a template that is %s is not sent", async (status) => {
    await author(`is ${status}`, { kind: "text", text: "Hello", status });
    const { status: code, body } = await post({ templateName: `is ${status}` });
    expect({ code, error: body.error }).toMatchObject({ code: 404, error: { code: "TEMPLATE_NOT_FOUND" } });
  });

  test("a request without content does not change a learned template", async () => {
    const templateName = "shown once";
    await post({ templateName, content: IMAGES.map((fileUrl) => ({ fileUrl })) });
    await post({ templateName });
    const { body } = await server.request<{ data: { cards: object[] }[] }>(
      "GET",
      `/api/templates?channel=rcs&name=shown+once`,
    );
    expect(body.data[0]?.cards).toHaveLength(2);
  });

  test("the content of a learned template has the length limit of a text", async () => {
    const content = [{ params: ["x".repeat(2000), "y".repeat(2000)] }];
    const { status, body } = await post({ templateName: "long", content });
    expect({ status, code: body.error?.code }).toEqual({ status: 400, code: "MESSAGE_TOO_LONG" });
  });

  test("with strict records, unknown bots and templates are 404", async () => {
    await server.request("PATCH", "/api/account", { records: "strict" });
    try {
      const unknown = await post({ botId: "never seen bot" });
      expect({ status: unknown.status, error: unknown.body.error }).toMatchObject({
        status: 404,
        error: { code: "BOT_NOT_FOUND", parameter: "botId" },
      });
      expect((await server.request("POST", "/api/bots", { name: "known bot", title: "Shop" })).status).toBe(201);
      const template = await post({ botId: "known bot", templateName: "nor this" });
      expect({ status: template.status, error: template.body.error }).toMatchObject({
        status: 404,
        error: { code: "TEMPLATE_NOT_FOUND", parameter: "templateName" },
      });
    } finally {
      await server.request("PATCH", "/api/account", { records: "learn" });
    }
  });

  describe("with a fallback", () => {
    interface Ended {
      messageId: string;
      statuses: { status: string };
    }
    const fallback = { type: "sms", sender: "SHOP", text: "Your order is on its way." };

    test("a number that is not on RCS gets the text, under the same messageId", async () => {
      const messageId = idOf(await post({ number: "+15550109009", fallback }));
      const message = await server.settled(messageId);
      expect(message).toMatchObject({ status: "Delivered", channel: "sms", sender: "SHOP", text: fallback.text });
      expect(message.timeline.map(({ event }) => event)).toContain("rerouted");
      expect(await onPhone(messageId, "15550109009")).toMatchObject({ text: fallback.text, encoding: "gsm7" });
    });

    test("the RCS webhook gets the final status of the message, with the channel that delivered it", async () => {
      const rcs = await openSink();
      const webhook = { name: "ends of messages", channel: "rcs", url: rcs.url, events: ["message_status"] };
      const created = await server.request<{ id: string }>("POST", "/api/webhooks", webhook);
      expect(created.status).toBe(201);
      const messageId = idOf(await post({ number: "+15550109009", fallback }));
      expect(await server.settled(messageId)).toMatchObject({ status: "Delivered", channel: "sms" });
      // Delivered by RCS, the end has no other channel to name.
      const plainId = idOf(await post());
      await readMessage(plainId);
      const ends = await eventually(
        () => rcs.received.map(({ body }) => body as Ended),
        (bodies) => bodies.some((body) => body.messageId === plainId && body.statuses.status === "read"),
      );
      for (const end of ends.filter(({ messageId: id }) => id === plainId))
        expect(end).not.toHaveProperty("deliveryChannel");
      const finals = await eventually(
        () => rcs.received.map(({ body }) => body as Ended).filter(({ messageId: id }) => id === messageId),
        (bodies) => bodies.some(({ statuses }) => statuses.status === "delivered"),
      );
      expect(finals.filter(({ statuses }) => statuses.status !== "sent")).toMatchObject([
        {
          channel: "rcs",
          event: "message_status",
          botId: "any-bot",
          statuses: { status: "delivered" },
          deliveryChannel: "sms",
        },
      ]);
      const removed = await server.request("DELETE", `/api/webhooks/${created.body.id}`);
      expect(removed.status).toBe(200);
      await rcs.close();
    });

    test("without one it is Failed", async () => {
      const failed = await server.settled(idOf(await post({ number: "+15550109009" })));
      expect(failed).toMatchObject({ status: "Failed", channel: "rcs", errCode: "009" });
    });

    test("costs as much as the more expensive channel", async () => {
      const text = "x".repeat(200);
      const message = await server.message(idOf(await post({ fallback: { ...fallback, text } })));
      expect(message).toMatchObject({ credits: 2, channel: "rcs" });
    });

    test("may be an SMS template; its faults are reported at once under its own field", async () => {
      const byId = { type: "sms", sender: "SHOP", templateId: "welcome", custom: ["Ada", "4711"] };
      expect((await post({ fallback: byId })).status).toBe(200);
      const wrong = await post({ fallback: { ...byId, custom: ["Ada"] } });
      expect({ status: wrong.status, error: wrong.body.error }).toMatchObject({
        status: 422,
        error: { code: "PARAMS_MISMATCH", parameter: "fallback.custom" },
      });
      const long = await post({ fallback: { ...fallback, text: "x".repeat(1601) } });
      expect({ status: long.status, error: long.body.error }).toMatchObject({
        status: 400,
        error: { code: "MESSAGE_TOO_LONG", parameter: "fallback.text" },
      });
    });
  });
});
