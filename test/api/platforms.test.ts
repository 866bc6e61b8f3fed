import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { systemClock } from "../../src/lib/clock.ts";
import { Smsc } from "../../src/smsc/smsc.ts";
import { ENGINES } from "../support/engines.ts";
import { eventually } from "../support/eventually.ts";
import { ACCOUNT, FakeGateway } from "../support/fake-gateway.ts";
import { FakeRbm, keyFile, RBM_CLIENT_TOKEN, signedCall } from "../support/fake-rbm.ts";
import { callOf, FAKE_DEFAULTS, openFakeWhatsapp, type FakeWhatsapp } from "../support/fake-whatsapp.ts";
import { lead, type LedCarrier } from "../support/lead-carrier.ts";
import { startTestServer, type Envelope, type TestServer } from "../support/test-server.ts";
import { KANNEL_USER, startKannel } from "../support/kannel.ts";

/** End to end: from the API through a platform's own protocol and back by its webhooks. */

const VERIFY_TOKEN = "a word of our own";

const post = (url: string, body: Buffer | string, headers: Record<string, string>): Promise<Response> =>
  fetch(url, { method: "POST", body: typeof body === "string" ? body : new Uint8Array(body), headers });

describe.each(ENGINES)("carriers behind HTTP APIs on %s", (engine) => {
  let server: TestServer;
  let whatsapp: FakeWhatsapp;
  let rbm: FakeRbm;
  let gateway: FakeGateway;
  let chat: LedCarrier;
  let rcs: LedCarrier;

  beforeAll(async () => {
    server = await startTestServer(engine);
    whatsapp = await openFakeWhatsapp({
      deliver: async ({ body, headers }) => (await post(chat.callbackUrl, body, headers)).status,
      templates: [
        {
          name: "seen_over_there",
          language: "en",
          status: "APPROVED",
          category: "UTILITY",
          components: [{ type: "BODY", text: "Hello {{1}}" }],
        },
      ],
    });
    rbm = await FakeRbm.open({ agents: ["heliograph"] });
    gateway = await FakeGateway.open();
    const { token, appSecret, phoneNumberIds, businessAccountId } = FAKE_DEFAULTS;
    const [phoneNumberId] = phoneNumberIds;
    const line = {
      baseUrl: whatsapp.url,
      token,
      appSecret,
      verifyToken: VERIFY_TOKEN,
      phoneNumberId,
      businessAccountId,
    };
    chat = await lead(server, "whatsapp", "chatapp", line);
    rcs = await lead(server, "rbm", "rcs", {
      baseUrl: rbm.url,
      serviceAccount: keyFile(rbm.tokenUrl),
      clientToken: RBM_CLIENT_TOKEN,
    });
  });
  afterAll(async () => {
    await server.close();
    await Promise.all([whatsapp.close(), rbm.close(), gateway.close()]);
  });

  const idOf = ({ data }: Envelope): string => data[0]?.messageId ?? "";
  const inState = async (messageId: string, state: string): Promise<unknown> =>
    eventually(
      () => server.message(messageId),
      (message) => message.state === state,
    );

  describe("WhatsApp", () => {
    const send = async (to: string): Promise<string> => {
      const sent = await server.request<Envelope>("POST", "/v1/chatapp", {
        from: "+15550100199",
        to,
        type: "template",
        templateName: "order_shipped",
        components: { body: { params: ["Ada", "4711"] } },
      });
      expect(sent).toMatchObject({ status: 200 });
      return idOf(sent.body);
    };

    test("a template message is sent, and delivered when the platform reports it", async () => {
      const messageId = await send("15550109000");
      await inState(messageId, "submitted");
      await whatsapp.report();
      expect(await server.settled(messageId)).toMatchObject({ status: "Delivered" });
      expect(whatsapp.faults).toEqual([]);
      expect(whatsapp.taken.at(-1)?.body).toMatchObject({ biz_opaque_callback_data: messageId });
    });

    test("an unsigned webhook is refused and has no effect", async () => {
      const messageId = await send("15550109000");
      await inState(messageId, "submitted");
      const status = {
        id: "wamid.other",
        status: "delivered",
        timestamp: "1767225600",
        biz_opaque_callback_data: messageId,
      };
      const call = whatsapp.sign(callOf({ statuses: [status] }));
      const altered = Buffer.from(call.body.toString("utf8").replace("1767225600", "1767225601"));
      expect((await post(chat.callbackUrl, altered, call.headers)).status).toBe(401);
      expect((await post(chat.callbackUrl, call.body, {})).status).toBe(401);
      expect(await server.message(messageId)).toMatchObject({ state: "submitted" });
      expect((await post(chat.callbackUrl, call.body, call.headers)).status).toBe(200);
      expect((await post(chat.callbackUrl, call.body, call.headers)).status).toBe(200);
      expect(await server.settled(messageId)).toMatchObject({ status: "Delivered" });
    });

    test("an inbound message is received once, however often the platform repeats it", async () => {
      const text = {
        from: "15550109000",
        id: "wamid.in1",
        timestamp: "1767225600",
        type: "text",
        text: { body: "Hi!" },
      };
      const call = whatsapp.sign(callOf({ contacts: [{ wa_id: "15550109000" }], messages: [text] }));
      for (let time = 0; time < 2; time += 1)
        expect((await post(chat.callbackUrl, call.body, call.headers)).status).toBe(200);
      const { body } = await server.request<{ data: { from: string }[] }>("GET", "/v1/inbound?channel=chatapp");
      expect(body.data.filter(({ from }) => from.endsWith("15550109000"))).toHaveLength(1);
    });

    test("a reply names the user's message by the platform's id, and so does a read mark", async () => {
      const number = `+${FAKE_DEFAULTS.displayNumber}`;
      expect((await server.request("POST", "/api/numbers", { name: number })).status).toBe(201);
      const question = {
        from: "15550109000",
        id: "wamid.in2",
        timestamp: String(Math.floor(Date.now() / 1000)),
        type: "text",
        text: { body: "When?" },
        referral: { source_type: "ad", headline: "Autumn sale" },
      };
      const call = whatsapp.sign(callOf({ messages: [question] }));
      expect((await post(chat.callbackUrl, call.body, call.headers)).status).toBe(200);
      const { body } = await server.request<{ data: { id: string; details: object }[] }>(
        "GET",
        `/v1/inbound?channel=chatapp&to=${encodeURIComponent(number)}&limit=1`,
      );
      expect(body.data).toMatchObject([{ text: "When?", details: { referral: { headline: "Autumn sale" } } }]);
      const id = body.data[0]?.id ?? "";
      const reply = await server.request<Envelope>("POST", "/v1/chatapp", {
        from: number,
        to: "15550109000",
        type: "location",
        location: { latitude: 48.85, longitude: 2.29 },
        context: { message_id: id },
      });
      expect(reply).toMatchObject({ status: 200 });
      await inState(idOf(reply.body), "submitted");
      expect(whatsapp.taken.at(-1)?.body).toMatchObject({
        type: "location",
        location: { latitude: 48.85, longitude: 2.29 },
        context: { message_id: "wamid.in2" },
      });
      expect((await server.request("POST", `/v1/inbound/${id}/read`, { typing: true })).status).toBe(200);
      expect(whatsapp.marks).toMatchObject([{ message_id: "wamid.in2", typing_indicator: { type: "text" } }]);
      expect(whatsapp.faults).toEqual([]);
    });

    test("a template is submitted, and a rejection shows the platform's reason and stops sends", async () => {
      const made = await server.request<{ id: string }>("POST", "/api/templates", {
        channel: "chatapp",
        name: "asked_for",
        body: "Hello {{1}}",
      });
      const path = `/api/templates/${made.body.id}`;
      const submit = (body: object) => server.request<Envelope>("POST", `${path}/submit`, body);
      expect((await submit({ carrier: "nobody" })).body.error).toMatchObject({ parameter: "carrier" });
      expect((await submit({ carrier: "whatsapp" })).body.error).toMatchObject({ parameter: "params" });
      whatsapp.next({ kind: "error", code: 100, details: "The name is taken" });
      expect(await submit({ carrier: "whatsapp", params: ["Ada"] })).toMatchObject({
        status: 422,
        body: { error: { code: "TEMPLATE_REFUSED", message: "The platform refused the template: The name is taken." } },
      });
      const submitted = await submit({ carrier: "whatsapp", params: ["Ada"] });
      expect(submitted).toMatchObject({ status: 200, body: { status: "draft", platform: { status: "PENDING" } } });
      const change = {
        field: "message_template_status_update",
        value: {
          event: "REJECTED",
          message_template_name: "asked_for",
          message_template_language: "en",
          reason: "PROMOTIONAL",
        },
      };
      const call = whatsapp.sign({ entry: [{ id: FAKE_DEFAULTS.businessAccountId, changes: [change] }] });
      expect((await post(chat.callbackUrl, call.body, call.headers)).status).toBe(200);
      const reason = "PROMOTIONAL: it advertises in a category that may not";
      expect((await server.request("GET", path)).body).toMatchObject({
        status: "draft",
        platform: { status: "REJECTED", reason },
      });
      const sent = await server.request<Envelope>("POST", "/v1/chatapp", {
        from: "+15550100199",
        to: "15550109000",
        type: "template",
        templateName: "asked_for",
        components: { body: { params: ["Ada"] } },
      });
      expect(sent.body.error).toMatchObject({ code: "TEMPLATE_NOT_FOUND", message: expect.any(String) });
      expect(JSON.stringify(sent.body.error)).toContain(reason);
    });

    test("the handshake is answered only for the right verify token", async () => {
      const ask = (token: string): Promise<Response> =>
        fetch(
          `${chat.callbackUrl}?hub.mode=subscribe&hub.challenge=4711&hub.verify_token=${encodeURIComponent(token)}`,
        );
      const right = await ask(VERIFY_TOKEN);
      expect([right.status, await right.text()]).toEqual([200, "4711"]);
      expect((await ask("another word")).status).toBe(403);
    });

    test("its templates are synchronised to the account", async () => {
      const { body } = await server.request("POST", `/api/carriers/${chat.id}/templates`);
      expect(body).toMatchObject({ made: ["seen_over_there"], unread: [] });
      expect((await server.request("POST", `/api/carriers/${chat.id}/templates`)).body).toMatchObject({
        made: [],
        changed: [],
      });
      const { body: found } = await server.request<{ data: object[] }>(
        "GET",
        "/api/templates?channel=chatapp&name=seen_over_there",
      );
      expect(found.data).toMatchObject([{ body: "Hello {{1}}", status: "approved", origin: "authored" }]);
      expect(found.data[0]).not.toHaveProperty("businessAccountId");
    });

    test("a connection test shows whether the token is valid, and a message is sent", async () => {
      const tried = (body: object) => server.request("POST", `/api/carriers/${chat.id}/test`, body);
      expect((await tried({})).body).toMatchObject({ outcome: "bound" });
      expect((await tried({ whatsapp: { token: "wrong" } })).body).toMatchObject({ outcome: "refused" });
      const sent = await server.request("POST", `/api/carriers/${chat.id}/send`, {
        from: "+15550100199",
        to: "15550109000",
        type: "template",
        templateName: "order_shipped",
        components: { body: { params: ["Ada", "4711"] } },
      });
      expect(sent.body).toMatchObject({ outcome: "taken", carrierMessageId: expect.stringContaining("wamid") });
    });
  });

  describe("RCS for Business", () => {
    const send = async (number: string, more: object = {}): Promise<string> => {
      const sent = await server.request<Envelope>("POST", "/v1/rcs", {
        number: `+${number}`,
        botId: "heliograph",
        type: "TRANS",
        templateName: "order-shipped",
        content: [{ params: ["Ada", "4711"] }],
        ...more,
      });
      expect(sent).toMatchObject({ status: 200 });
      return idOf(sent.body);
    };
    const callBack = (call: { body: Buffer; headers: object }): Promise<Response> =>
      post(rcs.callbackUrl, call.body, call.headers as Record<string, string>);

    test("a template message is sent, and delivered when the platform reports it", async () => {
      const messageId = await send("15550109000");
      await inState(messageId, "submitted");
      await rbm.sendEvents(async (call) => {
        const answer = await callBack(call);
        return { status: answer.status as 200, text: await answer.text() };
      });
      expect(await server.settled(messageId)).toMatchObject({ status: "Delivered" });
      expect(rbm.faults).toEqual([]);
    });

    test("a phone without RCS gets the SMS fallback at once, under the same id", async () => {
      await server.request("POST", "/api/senders", { name: "SHOP" });
      const fallback = { type: "sms", sender: "SHOP", text: "On its way", afterSeconds: 600 };
      const messageId = await send("15550109009", { fallback });
      expect(await server.settled(messageId)).toMatchObject({ status: "Delivered", channel: "sms" });
    });

    test("the handshake is answered only for the right token, and unsigned webhooks are refused", async () => {
      const shake = (clientToken: string): Promise<Response> =>
        post(rcs.callbackUrl, JSON.stringify({ clientToken, secret: "echo this" }), {
          "content-type": "application/json",
        });
      const right = await shake(RBM_CLIENT_TOKEN);
      expect([right.status, await right.text()]).toEqual([200, "echo this"]);
      expect((await shake("a-guess-of-the-token")).status).toBe(401);
      const text = {
        senderPhoneNumber: "+15550109000",
        messageId: "Mx1",
        sendTime: "2026-01-01T00:00:00Z",
        agentId: "heliograph",
        text: "Hi",
      };
      expect((await callBack(signedCall(text, "a-guess-of-the-token"))).status).toBe(401);
      const count = async (): Promise<number> =>
        (await server.request<{ data: object[] }>("GET", "/v1/inbound?channel=rcs")).body.data.length;
      expect(await count()).toBe(0);
      for (let time = 0; time < 2; time += 1) expect((await callBack(signedCall(text))).status).toBe(200);
      expect(await count()).toBe(1);
    });

    test("an unsubscribe event adds the number to the opt-out list", async () => {
      const event = {
        senderPhoneNumber: "+15550109123",
        eventType: "UNSUBSCRIBE",
        eventId: "E1",
        agentId: "heliograph",
      };
      expect((await callBack(signedCall(event))).status).toBe(200);
      expect((await server.request("GET", "/api/optouts/15550109123")).status).toBe(200);
    });

    test("a connection test shows whether the key is valid", async () => {
      expect((await server.request("POST", `/api/carriers/${rcs.id}/test`, {})).body).toMatchObject({
        outcome: "bound",
      });
    });
  });

  describe("an SMS provider with an HTTP API", () => {
    test("a message is sent in the provider's format, and delivered by its webhook", async () => {
      const line = {
        preset: "twilio",
        baseUrl: gateway.url,
        values: { accountSid: ACCOUNT.name },
        secrets: { authToken: ACCOUNT.secret },
      };
      await lead(server, "http", "sms", line);
      await server.request("POST", "/api/senders", { name: "HTTPSMS" });
      const sent = await server.send({ sender: "HTTPSMS", to: "15550109000", text: "Hello & welcome = 100%" });
      expect(await server.settled(idOf(sent.body))).toMatchObject({ status: "Delivered" });
      expect([gateway.faults, gateway.taken.at(-1)?.text]).toEqual([[], "Hello & welcome = 100%"]);
    });
  });

  test("an unknown webhook URL is 404", async () => {
    const url = chat.callbackUrl.replace(/[^/]*$/, "00000000-0000-7000-8000-000000000000");
    expect((await post(url, "{}", { "content-type": "application/json" })).status).toBe(404);
    for (const method of ["DELETE", "HEAD"]) expect((await fetch(chat.callbackUrl, { method })).status).toBe(405);
  });

  test("secrets are neither shown nor exported", async () => {
    const shown = JSON.stringify([
      (await server.request("GET", "/api/carriers")).body,
      (await server.request("GET", "/api/config")).body,
      (await server.request("GET", "/api/audit")).body,
    ]);
    const { token, appSecret } = FAKE_DEFAULTS;
    for (const secret of [token, appSecret, VERIFY_TOKEN, RBM_CLIENT_TOKEN, ACCOUNT.secret, "PRIVATE KEY"])
      expect(shown).not.toContain(secret);
  });
});

describe("Kannel in the loop", () => {
  test("API, HTTP carrier, Kannel, SMPP, receipt, dlr-url, Delivered", async () => {
    const login = { systemId: "kannel", password: "secret" };
    const smsc = await Smsc.open({
      host: "127.0.0.1",
      port: 0,
      clock: systemClock,
      behavior: { ...login, delayMs: 50 },
    });
    const kannel = await startKannel({ smsc: { port: smsc.port, ...login } });
    const server = await startTestServer("sqlite");
    try {
      const { username, password } = KANNEL_USER;
      const line = { preset: "kannel", baseUrl: kannel.baseUrl, values: { username }, secrets: { password } };
      await lead(server, "http", "sms", line);
      await server.request("POST", "/api/senders", { name: "KANNEL" });
      for (const text of ["Hello", "नमस्ते ✓", "long ".repeat(80)]) {
        const sent = await server.send({ sender: "KANNEL", to: "15550109000", text });
        expect(await server.settled(sent.body.data[0]?.messageId ?? "")).toMatchObject({ status: "Delivered" });
      }
    } finally {
      await server.close();
      await kannel.stop();
      await smsc.close();
    }
  });
});
