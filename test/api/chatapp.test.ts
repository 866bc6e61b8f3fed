import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { newId } from "../../src/lib/ids.ts";
import type { ChatContent, ChatTemplate } from "../../src/model/chatapp.ts";
import { ENGINES } from "../support/engines.ts";
import { eventually } from "../support/eventually.ts";
import { startTestServer, type Answer, type Envelope, type TestServer } from "../support/test-server.ts";

const DAY_MS = 86_400_000;
const ORDINARY = { from: "+15550100199", to: "15550100100", templateName: "anything_at_all", type: "template" };

/** The chat app at its endpoint and on the phone; what a body must look like in every detail is in `chatapp-read.test.ts`. */
describe.each(ENGINES)("POST /v1/chatapp on %s", (engine) => {
  let server: TestServer;
  let files: MediaServer;
  beforeAll(async () => {
    server = await startTestServer(engine);
    files = await openMediaServer();
  });
  afterAll(async () => {
    await server.close();
    await files.close();
  });

  const post = (fields: object = {}, headers = {}): Promise<Answer<Envelope>> =>
    server.request("POST", "/v1/chatapp", { ...ORDINARY, ...fields }, headers);
  const idOf = ({ body }: Answer<Envelope>): string => body.data[0]?.messageId ?? "";
  const readMessage = (messageId: string) =>
    eventually(
      () => server.message(messageId),
      ({ state }) => state === "read",
    );
  /** Content of a message on the phone, by its id. */
  async function onPhone(messageId: string, number = ORDINARY.to): Promise<ChatContent | undefined> {
    const { rows } = await server.app.store.listPhoneMessages(1, number, null, 200);
    return rows.find((row) => row.messageId === messageId)?.content as ChatContent | undefined;
  }
  async function author(name: string, fields: Partial<ChatTemplate> = {}): Promise<void> {
    const template = { body: "Hello {{1}}", category: "utility", ...fields };
    const { status, body } = await server.request("POST", "/api/templates", { channel: "chatapp", name, ...template });
    expect({ status, body }).toMatchObject({ status: 201 });
  }
  test("a template in several languages is sent in that of each recipient", async () => {
    const languages = ["pt_BR", "pt", "fr"].map((language) => ({ language, body: `{{1}} in ${language}` }));
    await author("in_languages", { body: "{{1}} in en", languages } as object);
    const contacts = { 15550100131: "pt-br", 15550100132: "pt_PT", 15550100133: "de", 15550100134: "fr" };
    for (const [number, language] of Object.entries(contacts))
      expect((await server.request("PUT", `/v1/contacts/${number}`, { attributes: { language } })).status).toBe(200);
    const { to: _, ...bulk } = {
      ...ORDINARY,
      templateName: "in_languages",
      components: { body: { params: ["Hello"] } },
    };
    const textsOf = async (body: object): Promise<string[]> => {
      const answer = await server.request<Envelope>("POST", "/v1/chatapp", body);
      expect(answer.status).toBe(200);
      return Promise.all(answer.body.data.map(async ({ messageId }) => (await server.message(messageId)).text));
    };
    const recipients = [...Object.keys(contacts), "15550100135"].map((to) => ({ to }));
    expect(await textsOf({ ...bulk, recipients })).toEqual(
      ["pt_BR", "pt", "en", "fr", "en"].map((language) => `Hello in ${language}`),
    );
    expect(await textsOf({ ...bulk, language: "fr", to: "15550100131" })).toEqual(["Hello in fr"]);
    const own = [{ to: "15550100131" }, { to: "15550100132", language: "fr" }];
    expect(await textsOf({ ...bulk, language: "pt", recipients: own })).toEqual(["Hello in pt", "Hello in fr"]);
    const { settings } = { settings: { defaultLanguage: "pt_BR" } };
    expect((await server.request("PATCH", "/api/account", settings)).status).toBe(200);
    expect(await textsOf({ ...bulk, recipients })).toEqual(
      ["pt_BR", "pt", "en", "fr", "pt_BR"].map((language) => `Hello in ${language}`),
    );
    expect((await server.request("PATCH", "/api/account", { defaultLanguage: null })).status).toBe(200);
  });

  test("the phone shows a place, an offer and cards, and answers a button of a card", async () => {
    const button = { type: "reply", text: "Keep it" } as const;
    await author("with_cards", {
      category: "marketing",
      cards: ["a", "b"].map(() => ({ header: { type: "image" }, buttons: [button] })),
    } as object);
    const image = { type: "image", image: { link: "https://shop.example/a.jpg" } };
    const cards = [{ header: image }, { header: image, buttons: [{ index: 0, payload: "keep-b" }] }];
    const sent = await post({ templateName: "with_cards", components: { body: { params: ["Ada"] }, cards } });
    expect(sent.status).toBe(200);
    const messageId = idOf(sent);
    await readMessage(messageId);
    expect(await onPhone(messageId)).toMatchObject({ text: "Hello Ada", cards: [{ text: null }, { text: null }] });
    const tap = { messageId, text: "Keep it", card: 2 };
    expect((await server.request("POST", `/api/simulator/phones/${ORDINARY.to}/tap`, tap)).body).toMatchObject({
      suggestionResponse: { postBack: { data: "keep-b" } },
    });
  });

  /** The recipient writes to the business. */
  const hear = (from: string, at: number): Promise<void> =>
    server.app.store.storeInbound([
      {
        accountId: 1,
        id: newId(at),
        channel: "chatapp",
        from,
        to: ORDINARY.from,
        content: { kind: "text", text: "Hello?" },
        answers: null,
        at,
      },
    ]);

  const KINDS: [string, object, object][] = [
    ["1, no header, no variables", {}, { header: null, text: "anything_at_all", params: [] }],
    [
      "2, no header, with variables",
      { components: { body: { params: ["Ada", "4711"] } } },
      { header: null, text: "anything_at_all: Ada, 4711", params: ["Ada", "4711"] },
    ],
    [
      "3, text header with variables",
      { components: { header: { type: "text", text: "News" }, body: { params: ["Ada"] } } },
      { header: { type: "text", text: "News" }, params: ["Ada"] },
    ],
    ...(["image", "video", "document"] as const).map((type, index): [string, object, object] => {
      const link = `https://shop.example/file.${{ image: "png", video: "mp4", document: "pdf" }[type]}`;
      return [
        `${index + 4}, ${type} header with variables`,
        { components: { header: { type, [type]: { link } }, body: { params: ["Ada"] } } },
        { header: { type, link }, params: ["Ada"] },
      ];
    }),
  ];

  test.each(KINDS)("kind %s works on a fresh start with any names", async (_kind, fields, shown) => {
    const sent = await post(fields);
    const { id } = sent.body;
    expect(sent).toMatchObject({ status: 200, body: { message: "Message Sent Successfully!", error: null } });
    expect(sent.body).toMatchObject({ data: [{ recipient: "15550100100", messageId: `${id}:1` }], totalCount: 1 });
    const messageId = idOf(sent);
    expect(await readMessage(messageId)).toMatchObject({ status: "Delivered", channel: "chatapp", credits: 1 });
    expect(await onPhone(messageId)).toMatchObject({ kind: "template", templateName: "anything_at_all", ...shown });
  });

  test("the response has one recipient record, without a plus", async () => {
    const { body } = await post({ to: "+1 555 010 0100" });
    expect(body).toMatchObject({ totalCount: 1, data: [{ recipient: "15550100100" }] });
  });

  test("the key header may be spelled apiKey, as in this channel's documents", async () => {
    const { status } = await server.request("POST", "/v1/chatapp", ORDINARY, { apikey: "", apiKey: server.key });
    expect(status).toBe(401);
    const response = await fetch(`${server.url}/v1/chatapp`, {
      method: "POST",
      headers: { apiKey: server.key, "content-type": "application/json" },
      body: JSON.stringify(ORDINARY),
    });
    expect(response.status).toBe(200);
  });

  test("a message is read after it is delivered and keeps its delivery time", async () => {
    const message = await readMessage(idOf(await post()));
    expect(message.timeline.map(({ event }) => event)).toEqual(["accepted", "sent", "delivered", "read"]);
    expect(message.doneAt).toBeLessThan(message.timeline.at(-1)?.at ?? 0);
  });

  test("a number that is not on the chat app is Failed with the platform's reason", async () => {
    const failed = await server.settled(idOf(await post({ to: "15550109009" })));
    expect(failed).toMatchObject({ status: "Failed", state: "rejected", errCode: "009" });
  });

  test("a repeated Idempotency-Key gets the first response, separately per path", async () => {
    const headers = { "idempotency-key": `chat-${engine}` };
    const first = await post({}, headers);
    const second = await post({}, headers);
    expect(second.body).toEqual(first.body);
    expect(second.headers.get("idempotent-replayed")).toBe("true");
    expect((await server.send({}, headers)).body.id).not.toBe(first.body.id);
  });

  test("a refused request stores nothing", async () => {
    const { status, body } = await post({ campaignName: "refused", components: { body: { params: [null] } } });
    expect({ status, error: body.error }).toMatchObject({
      status: 400,
      error: { code: "INVALID_REQUEST", parameter: "components.body.params[0]" },
    });
    const { body: list } = await server.request<{ data: unknown[] }>("GET", "/v1/messages?campaignName=refused");
    expect(list.data).toEqual([]);
  });

  test("its messages belong to campaigns and are listed by channel and template", async () => {
    const messageId = idOf(await post({ campaignName: "autumn" }));
    const { body } = await server.request<{ data: { messageId: string; channel: string; templateName: string }[] }>(
      "GET",
      "/v1/messages?channel=chatapp&campaignName=autumn",
    );
    expect(body.data).toMatchObject([{ messageId, channel: "chatapp", templateName: expect.any(String) }]);
    const { templateName } = body.data[0] ?? { templateName: "" };
    const byTemplate = async (name: string): Promise<string[]> =>
      (
        await server.request<typeof body>(
          "GET",
          `/v1/messages?campaignName=autumn&templateName=${encodeURIComponent(name)}`,
        )
      ).body.data.map((message) => message.messageId);
    expect(await byTemplate(templateName)).toEqual([messageId]);
    expect(await byTemplate(`${templateName}_2`)).toEqual([]);
  });

  describe("the stored template determines", () => {
    test("the sent body with its values, footer and buttons", async () => {
      const buttons = [
        { type: "reply", text: "Thanks" },
        { type: "url", text: "Track", url: "https://shop.example/track" },
        { type: "call", text: "Call us", number: "+15550100198" },
      ] as const;
      await author("full", { body: "{{2}} for {{1}}, {{1}}", footer: "Reply STOP to end", buttons });
      const messageId = idOf(await post({ templateName: "full", components: { body: { params: ["{{2}}", "One"] } } }));
      await server.settled(messageId);
      expect(await onPhone(messageId)).toMatchObject({
        text: "One for {{2}}, {{2}}",
        footer: "Reply STOP to end",
        buttons,
      });
    });

    test("the number of values, else 422", async () => {
      await author("one_value");
      for (const components of [undefined, { body: { params: [] } }, { body: { params: ["a", "b"] } }]) {
        const { status, body } = await post({ templateName: "one_value", components });
        expect({ status, error: body.error }).toMatchObject({
          status: 422,
          error: { code: "PARAMS_MISMATCH", parameter: "components.body.params" },
        });
      }
    });

    test("the type of its header, else 422", async () => {
      await author("with_image", { header: { type: "image", link: null } });
      const text = { header: { type: "text", text: "News" }, body: { params: ["Ada"] } };
      for (const components of [{ body: { params: ["Ada"] } }, text]) {
        const { status, body } = await post({ templateName: "with_image", components });
        expect({ status, error: body.error }).toMatchObject({
          status: 422,
          error: { code: "TEMPLATE_KIND_MISMATCH", parameter: "components.header" },
        });
      }
    });

    test.each(["draft", "paused"] as const)("by its status %s that nothing is sent", async (status) => {
      await author(`is_${status}`, { status, body: "Hello" });
      const refused = await post({ templateName: `is_${status}` });
      expect({ ...refused, headers: null }).toMatchObject({
        status: 404,
        body: { error: { code: "TEMPLATE_NOT_FOUND", parameter: "templateName" } },
      });
    });

    test("priority and policies: marketing obeys the opt-out list, utility does not", async () => {
      const number = "15550100177";
      await author("sale", { category: "marketing", body: "Sale!" });
      await author("receipt", { category: "utility", body: "Paid." });
      await author("login_code", { category: "authentication", body: "{{1}}" });
      await server.request("POST", "/api/optouts", { number });
      const refused = await post({ to: number, templateName: "sale" });
      expect({ ...refused, headers: null }).toMatchObject({
        status: 403,
        body: { error: { code: "RECIPIENT_OPTED_OUT", parameter: "to" } },
      });
      const utility = idOf(await post({ to: number, templateName: "receipt" }));
      const code = { to: number, templateName: "login_code", components: { body: { params: ["482913"] } } };
      const password = idOf(await post(code));
      expect(await server.message(utility)).toMatchObject({ type: "TRANS" });
      expect(await server.message(password)).toMatchObject({ type: "OTP" });
    });
  });

  describe("learning", () => {
    test("a learned template follows the latest request", async () => {
      const of = (params: string[]) => ({ templateName: "follows", components: { body: { params } } });
      expect((await post(of(["a"]))).status).toBe(200);
      expect((await post(of(["a", "b"]))).status).toBe(200);
      const { body } = await server.request<{ data: object[] }>("GET", "/api/templates?channel=chatapp&name=follows");
      expect(body.data).toMatchObject([{ origin: "learned", variables: 2 }]);
    });

    test("the content of a learned template has the length limit of a text", async () => {
      const params = Array.from({ length: 50 }, () => "x".repeat(100));
      const { status, body } = await post({ templateName: "long", components: { body: { params } } });
      expect({ status, error: body.error }).toMatchObject({
        status: 400,
        error: { code: "MESSAGE_TOO_LONG", parameter: "components.body.params" },
      });
    });

    test("with strict records, unknown templates are 404 and unknown numbers 403", async () => {
      await server.request("PATCH", "/api/account", { records: "strict" });
      try {
        const unknown = await post({ from: "+15550100188" });
        expect(unknown.body.error).toMatchObject({ code: "SENDER_NOT_REGISTERED", parameter: "from" });
        expect(unknown.status).toBe(403);
        const { status } = await server.request("POST", "/api/numbers", { name: "+15550100188" });
        expect(status).toBe(201);
        const template = await post({ from: "+15550100188", templateName: "never_seen" });
        expect(template.body.error).toMatchObject({ code: "TEMPLATE_NOT_FOUND", parameter: "templateName" });
        expect(template.status).toBe(404);
      } finally {
        await server.request("PATCH", "/api/account", { records: "learn" });
      }
    });
  });

  describe("a session message (type text)", () => {
    const words = { type: "text", templateName: undefined, text: { body: "We are on it." } };

    test("is refused to a user who has never written", async () => {
      const refused = await post({ ...words, to: "15550100161" });
      expect(refused.status).toBe(403);
      expect(refused.body.error).toMatchObject({ code: "SESSION_CLOSED", parameter: "type" });
    });

    test("is sent within 24 hours of the user's last message", async () => {
      await hear("15550100162", Date.now() - DAY_MS + 60_000);
      const messageId = idOf(await post({ ...words, to: "15550100162" }));
      await server.settled(messageId);
      expect(await onPhone(messageId, "15550100162")).toEqual({ kind: "text", text: "We are on it." });
    });

    test("is refused after 24 hours, and from another number of the business", async () => {
      await hear("15550100163", Date.now() - DAY_MS - 1000);
      expect((await post({ ...words, to: "15550100163" })).body.error?.code).toBe("SESSION_CLOSED");
      const elsewhere = await post({ ...words, to: "15550100162", from: "+15550100177" });
      expect(elsewhere.body.error?.code).toBe("SESSION_CLOSED");
    });
  });

  describe("a session message of another kind", () => {
    const to = "15550100164";
    const LIST = {
      type: "interactive",
      interactive: {
        type: "list",
        body: { text: "Which day suits you?" },
        action: { button: "Days", sections: [{ rows: [{ id: "mon", title: "Monday", description: "8 to 12" }] }] },
      },
    };
    type View = { id: string; messageId: string | null; readAt: number | null } & Record<string, unknown>;
    const phone = (verb: string, body: object): Promise<Answer<View>> =>
      server.request("POST", `/api/simulator/phones/${to}/${verb}`, body);
    const send = (fields: object): Promise<Answer<Envelope>> =>
      server.request("POST", "/v1/chatapp", { from: ORDINARY.from, to, ...fields });
    let inboundId = "";
    beforeAll(async () => {
      inboundId = (await phone("reply", { to: ORDINARY.from, channel: "chatapp", text: "When?" })).body.id;
    });

    test("is shown on the phone and in the message, and its choice comes back as an answer", async () => {
      const sent = await send({ ...LIST, context: { message_id: inboundId } });
      expect(sent).toMatchObject({ status: 200 });
      const messageId = idOf(sent);
      await server.settled(messageId);
      const { body: shown } = await server.request<{ data: object }>(
        "GET",
        `/api/simulator/messages/wait?to=${to}&messageId=${messageId}`,
      );
      expect(shown.data).toMatchObject({ text: "Which day suits you?", session: LIST, about: inboundId });
      expect(await server.message(messageId)).toMatchObject({ templateName: null, session: LIST, about: inboundId });
      const choice = await phone("tap", { messageId, text: "Monday" });
      expect(choice.body).toMatchObject({
        messageId,
        suggestionResponse: { plainText: "Monday", postBack: { data: "mon" }, type: "REPLY" },
        details: { kind: "list_reply", description: "8 to 12" },
      });
    });

    test("may react to a message of the conversation, and to no other", async () => {
      const about = idOf(await send(LIST));
      await server.settled(about);
      const reaction = (id: string): object => ({ type: "reaction", reaction: { message_id: id, emoji: "👍" } });
      const sent = await send(reaction(about));
      expect(sent).toMatchObject({ status: 200 });
      await server.settled(idOf(sent));
      expect(await onPhone(idOf(sent), to)).toMatchObject({ text: "👍", reference: { id: about } });
      const elsewhere = idOf(await post());
      await server.settled(elsewhere);
      for (const id of [elsewhere, newId(Date.now()), `${newId(Date.now())}:1`, "anything"])
        expect((await send(reaction(id))).body.error).toMatchObject({
          code: "INVALID_REQUEST",
          parameter: "reaction.message_id",
        });
    });

    test("is refused without an open session, as a text is", async () => {
      const refused = await send({ ...LIST, to: "15550100161" });
      expect(refused.body.error).toMatchObject({ code: "SESSION_CLOSED", parameter: "type" });
    });

    test("has a file of the right kind", async () => {
      const link = files.link("note.ogg", { type: "image/png", bytes: 100 });
      const refused = await send({ type: "audio", audio: { link } });
      expect(refused).toMatchObject({
        status: 422,
        body: { error: { code: "MEDIA_TYPE_UNSUPPORTED", parameter: "audio.link" } },
      });
    });

    test("an inbound message is marked as read once, and keeps the time", async () => {
      const marked = await server.request<View>("POST", `/v1/inbound/${inboundId}/read`, { typing: true });
      expect(marked).toMatchObject({ status: 200, body: { id: inboundId, text: "When?" } });
      expect(marked.body.readAt).toBeGreaterThan(0);
      const again = await server.request<View>("POST", `/v1/inbound/${inboundId}/read`, {});
      expect(again.body).toEqual(marked.body);
      expect((await server.request("GET", `/v1/inbound/${inboundId}`)).body).toEqual(marked.body);
    });

    test("an inbound message whose carrier has no read marks is a 409, and an unknown one a 404", async () => {
      const at = Date.now();
      await hear(to, at);
      const { body } = await server.request<{ data: View[] }>("GET", `/v1/inbound?from=${to}&channel=chatapp`);
      const unmarked = body.data.find(({ text }) => text === "Hello?");
      const answer = await server.request<Envelope>("POST", `/v1/inbound/${unmarked?.id}/read`, {});
      expect(answer).toMatchObject({ status: 409, body: { error: { code: "NOT_MARKED" } } });
      expect((await server.request("POST", `/v1/inbound/${newId(at)}/read`, {})).status).toBe(404);
    });
  });

  describe("media links", () => {
    const image = (link: string) => ({
      components: { header: { type: "image", image: { link } }, body: { params: [] } },
    });

    test("a file of the wrong content type is 422, whatever its name", async () => {
      const refused = await post(image(files.link("lie.png", { type: "text/html", bytes: 100 })));
      expect(refused.status).toBe(422);
      expect(refused.body.error).toMatchObject({
        code: "MEDIA_TYPE_UNSUPPORTED",
        parameter: "components.header.image.link",
      });
    });

    test("an image of more than 5 MB is 422, and one of exactly 5 MB is sent", async () => {
      const max = 5 * 1024 * 1024;
      const refused = await post(image(files.link("large.png", { type: "image/png", bytes: max + 1 })));
      expect({ status: refused.status, code: refused.body.error?.code }).toEqual({
        status: 422,
        code: "MEDIA_TOO_LARGE",
      });
      expect((await post(image(files.link("fits.png", { type: "image/png", bytes: max })))).status).toBe(200);
    });

    test("the message is accepted if the media server hangs, is missing or sends no size", async () => {
      for (const link of [
        files.link("hangs.png", "silence"),
        "http://127.0.0.1:1/gone.png",
        files.link("sizeless.png", { type: "image/png", bytes: null }),
      ]) {
        const sent = await post(image(link));
        expect(sent.status).toBe(200);
        expect(await server.settled(idOf(sent))).toMatchObject({ status: "Delivered" });
      }
    });

    test("a media check that ends after the response fails the message before it is sent", async () => {
      const answer = files.later("slow.png");
      const sent = await post(image(answer.link));
      expect(sent.status).toBe(200);
      answer.give({ type: "text/html", bytes: 100 });
      const failed = await server.settled(idOf(sent));
      expect(failed).toMatchObject({ status: "Failed", state: "rejected", errCode: "MEDIA_TYPE_UNSUPPORTED" });
      expect(await onPhone(idOf(sent))).toBeUndefined();
    });

    test("an unsuitable file is cached: the second request is refused without a new check", async () => {
      const link = files.link("twice.png", { type: "video/mp4", bytes: 100 });
      expect((await post(image(link))).status).toBe(422);
      const looks = files.looks("twice.png");
      expect((await post(image(link))).status).toBe(422);
      expect(files.looks("twice.png")).toBe(looks);
    });
  });
});

interface Told {
  type: string;
  bytes: number | null;
}

/** A server that says of its files what a test wants. */
interface MediaServer {
  link(name: string, told: Told | "silence"): string;
  /** A file about which nothing is said until the test does. */
  later(name: string): { link: string; give(told: Told): void };
  looks(name: string): number;
  close(): Promise<void>;
}

async function openMediaServer(): Promise<MediaServer> {
  const files = new Map<string, Told | "silence">();
  const waiting = new Map<string, ServerResponse[]>();
  const looks = new Map<string, number>();
  const tell = (response: ServerResponse, { type, bytes }: Told): void => {
    response.writeHead(200, { "content-type": type, ...(bytes === null ? {} : { "content-length": bytes }) });
    response.end();
  };
  const server: Server = createServer((request, response) => {
    const name = (request.url ?? "").slice(1);
    looks.set(name, (looks.get(name) ?? 0) + 1);
    const told = files.get(name);
    if (told && told !== "silence") tell(response, told);
    else waiting.set(name, [...(waiting.get(name) ?? []), response]);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const linkTo = (name: string): string => `http://127.0.0.1:${port}/${name}`;
  return {
    link(name, told) {
      files.set(name, told);
      return linkTo(name);
    },
    later: (name) => ({
      link: linkTo(name),
      give(told) {
        files.set(name, told);
        for (const response of waiting.get(name) ?? []) tell(response, told);
      },
    }),
    looks: (name) => looks.get(name) ?? 0,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
