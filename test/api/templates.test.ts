import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ENGINES } from "../support/engines.ts";
import { eventually } from "../support/eventually.ts";
import { startTestServer, type Answer, type ErrorBody, type TestServer } from "../support/test-server.ts";

interface TemplateBody {
  id: string;
  name: string;
  channel: string;
  origin: string;
  [field: string]: unknown;
}

interface Page {
  data: TemplateBody[];
  nextCursor: string | null;
}

const CHAT = { channel: "chatapp", body: "Hello {{1}}" };
const RCS = { channel: "rcs", kind: "text", text: "Hello {{1}}" };
const REPLY = { type: "reply", text: "Yes" };
const CARD = { title: "A", description: "B", fileUrl: "https://shop.example/a.jpg", suggestions: [] };

/** One template of each channel: what makes it, what it shows beside that, and a change. */
const CHANNELS: [channel: string, body: object, shown: object, change: object][] = [
  [
    "sms",
    { text: "Hello {#var#}" },
    { variables: 1, dltContentId: null, dltEntityId: null },
    { dltContentId: "1107161234567890123" },
  ],
  [
    "chatapp",
    {
      body: "Hello {{1}}, {{2}}",
      header: { type: "text", text: "Order {{1}}" },
      buttons: [{ type: "url", text: "Open", url: "https://shop.example/" }],
    },
    {
      language: "en",
      category: "utility",
      status: "approved",
      variables: 2,
      footer: null,
      offer: null,
      cards: [],
      languages: [],
      platform: null,
    },
    { footer: "Bye", category: "marketing", language: "pt_BR" },
  ],
  [
    "rcs",
    { kind: "rich", text: "Hello {{1}}", suggestions: [{ ...REPLY, data: "yes" }] },
    { variables: 1, cards: [], status: "approved" },
    { status: "paused" },
  ],
];

describe.each(ENGINES)("templates on %s", (engine) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer(engine);
  });
  afterAll(() => server.close());

  const make = (body: object): Promise<Answer<TemplateBody>> => server.request("POST", "/api/templates", body);
  const change = (id: string, body: object): Promise<Answer<TemplateBody>> =>
    server.request("PATCH", `/api/templates/${id}`, body);
  const remove = (id: string): Promise<Answer<TemplateBody>> => server.request("DELETE", `/api/templates/${id}`);
  const list = async (query: string): Promise<Page> =>
    (await server.request<Page>("GET", `/api/templates?${query}`)).body;
  const refusal = ({ status, body }: Answer<unknown>): [number, string, ...string[]] => {
    const { code, details } = (body as { error: ErrorBody }).error;
    return [status, code, ...details.map(({ parameter }) => parameter)];
  };
  const refused = (...parameters: string[]): [number, string, ...string[]] => [400, "INVALID_REQUEST", ...parameters];

  test.each(CHANNELS)(
    "templates of %s are created, read, changed and removed",
    async (channel, body, shown, changes) => {
      const made = await make({ channel, name: "one_of_them", ...body });
      expect(made).toMatchObject({ status: 201 });
      const { id, createdAt } = made.body;
      expect(made.body).toEqual({
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        name: "one_of_them",
        channel,
        ...body,
        ...shown,
        origin: "authored",
        createdAt: expect.any(Number),
        updatedAt: createdAt,
      });
      expect((await server.request("GET", `/api/templates/${id}`)).body).toEqual(made.body);
      const changed = await change(id, { ...changes, channel });
      expect(changed.body).toEqual({ ...made.body, ...changes, updatedAt: expect.any(Number) });
      expect((await remove(id)).body).toEqual(changed.body);
      expect((await server.request("GET", `/api/templates/${id}`)).status).toBe(404);
    },
  );

  test("a template is for SMS unless it names a channel, and an unknown channel is refused", async () => {
    const { id, channel } = (await make({ name: "channelless", text: "Hello" })).body;
    expect(channel).toBe("sms");
    await remove(id);
    for (const odd of ["voice", "SMS", "", 7, null, ["sms"]])
      expect([odd, ...refusal(await make({ name: "odd", text: "Hello", channel: odd }))]).toEqual([
        odd,
        ...refused("channel"),
      ]);
  });

  test("a template name is unique per channel", async () => {
    for (const body of [{ text: "Hello" }, CHAT, RCS]) {
      const { status, body: made } = await make({ ...body, name: "same" });
      expect(status).toBe(201);
      const again = await make({ ...body, name: "same" });
      expect(refusal(again)).toEqual([409, "NAME_TAKEN", "name"]);
      expect((again.body as unknown as { error: ErrorBody }).error.message).toContain(`channel ${made.channel}`);
    }
    const { data } = await list("name=same");
    expect(data.map(({ channel }) => channel)).toEqual(["chatapp", "rcs", "sms"]);
    for (const { id } of data) await remove(id);
  });

  test("a template keeps its channel", async () => {
    const { id } = (await make({ ...RCS, name: "steady" })).body;
    expect(refusal(await change(id, { channel: "sms" }))).toEqual(refused("channel"));
    expect((await change(id, { channel: "rcs" })).status).toBe(200);
    await remove(id);
  });

  test("a field of another channel is refused", async () => {
    const answer = await make({ name: "mixed", body: "Hello", buttons: [] });
    expect(refusal(answer)).toEqual(refused("text", "body", "buttons"));
    expect((answer.body as unknown as { error: ErrorBody }).error.details[1]?.message).toContain("chatapp");
    expect(refusal(await make({ ...CHAT, name: "mixed", text: "Hello", suggestions: [] }))).toEqual(
      refused("text", "suggestions"),
    );
    const { id } = (await make({ ...RCS, name: "unmixed", extra: 1 })).body;
    expect(refusal(await change(id, { body: "Hello" }))).toEqual(refused("body"));
    await remove(id);
  });

  describe("in a list", () => {
    const ids: string[] = [];
    beforeAll(async () => {
      for (const name of ["listed_b", "listed_a", "listed", "listed:sms"])
        for (const body of [{ text: "Hello" }, CHAT, RCS]) {
          const { status, body: made } = await make({ ...body, name });
          if (status === 201) ids.push(made.id);
        }
    });
    afterAll(async () => {
      for (const id of ids) await remove(id);
    });
    const ours = (page: Page): string[] =>
      page.data.filter(({ id }) => ids.includes(id)).map(({ name, channel }) => `${name} ${channel}`);
    const ALL = [
      "listed chatapp",
      "listed rcs",
      "listed sms",
      "listed:sms rcs",
      "listed:sms sms",
      "listed_a chatapp",
      "listed_a rcs",
      "listed_a sms",
      "listed_b chatapp",
      "listed_b rcs",
      "listed_b sms",
    ];

    test("a list of templates is sorted by name and channel, over all channels", async () => {
      expect(ours(await list("limit=200"))).toEqual(ALL);
    });

    test.each([1, 2, 3, 7])("a list of templates contains each once in pages of %i", async (limit) => {
      const found: string[] = [];
      let cursor: string | null = "";
      while (cursor !== null) {
        const page: Page = await list(`limit=${limit}${cursor && `&cursor=${encodeURIComponent(cursor)}`}`);
        expect(page.data.length).toBeLessThanOrEqual(limit);
        found.push(...ours(page));
        cursor = page.nextCursor;
      }
      expect(found).toEqual(ALL);
    });

    test("a list of templates is filtered by channel, name, or both", async () => {
      expect(ours(await list("limit=200&channel=rcs"))).toEqual(ALL.filter((each) => each.endsWith("rcs")));
      expect(ours(await list("name=listed_a"))).toEqual(ALL.slice(5, 8));
      expect(ours(await list("name=listed_a&channel=sms"))).toEqual(["listed_a sms"]);
      expect(ours(await list("name=listed_a&cursor=listed_a:chatapp"))).toEqual(ALL.slice(6, 8));
      expect(refusal(await server.request("GET", "/api/templates?channel=voice&limit=0"))).toEqual(
        refused("limit", "channel"),
      );
    });
  });

  test.each(["Order", "order-shipped", "order shipped", "ördër", "", "a".repeat(513), 7, null])(
    "a chat-app template cannot have the name %j, which the platform refuses",
    async (name) => {
      expect(refusal(await make({ ...CHAT, name })).slice(0, 3)).toEqual(refused("name"));
    },
  );

  test("a chat-app template has a name of up to 512 characters", async () => {
    const name = "a_1".repeat(170);
    const { status, body } = await make({ ...CHAT, name });
    expect([status, body.name]).toEqual([201, name]);
    expect((await list(`name=${name}`)).data).toHaveLength(1);
    await remove(body.id);
  });

  test.each<[object, ...string[]]>([
    [{ body: undefined }, "body"],
    [{ body: null }, "body"],
    [{ body: "" }, "body"],
    [{ body: "a".repeat(1025) }, "body"],
    [{ body: "{#var#}" }, "body"],
    [{ body: "{{1}} {{3}}" }, "body"],
    [{ language: "english" }, "language"],
    [{ category: "news" }, "category"],
    [{ status: "sent" }, "status"],
    [{ header: "Hello" }, "header"],
    [{ header: {} }, "header.type"],
    [{ header: { type: "audio" } }, "header.type"],
    [{ header: { type: "text" } }, "header.text"],
    [{ header: { type: "text", text: "a".repeat(61) } }, "header.text"],
    [{ header: { type: "text", text: "{{1}} {{2}}" } }, "header.text"],
    [{ header: { type: "text", text: "A", link: "https://shop.example/a.jpg" } }, "header.link"],
    [{ header: { type: "image", link: "shop.example/a.jpg" } }, "header.link"],
    [{ header: { type: "image", link: "https://shop.example/a.mp4" } }, "header.link"],
    [{ header: { type: "image", text: "A" } }, "header.text"],
    [{ footer: "" }, "footer"],
    [{ footer: "Order {{1}}" }, "footer"],
    [{ buttons: {} }, "buttons"],
    [{ buttons: Array.from({ length: 11 }, () => REPLY) }, "buttons"],
    [{ buttons: [REPLY, { type: "url", text: "Open" }] }, "buttons[1].url"],
    [{ buttons: [{ type: "url", text: "Open", url: "https://shop.example/{{1}}/a" }] }, "buttons[0].url"],
    [{ buttons: [{ type: "call", text: "Call" }] }, "buttons[0].number"],
    [{ buttons: [{ type: "call", text: "Call", number: "12" }] }, "buttons[0].number"],
    [{ buttons: [{ ...REPLY, url: "https://shop.example/" }] }, "buttons[0].url"],
    [{ buttons: [{ type: "reply" }] }, "buttons[0].text"],
    [{ buttons: [REPLY, { type: "reply", text: "a".repeat(26) }] }, "buttons[1].text"],
    [{ buttons: [{ type: "tap", text: "Yes" }] }, "buttons[0].type"],
    [{ body: "{{2}}", footer: "\n", header: { type: "text", text: "{{1}} {{2}}" } }, "header.text", "body", "footer"],
  ])("a chat-app template with %j is refused", async (fields, ...parameters) => {
    expect(refusal(await make({ ...CHAT, name: "bad", ...fields }))).toEqual(refused(...parameters));
  });

  const rich = (suggestion: object): object => ({ kind: "rich", suggestions: [REPLY, suggestion] });
  const carousel = (card: object): object => ({ kind: "carousel", text: null, cards: [CARD, card] });
  const onCard = (suggestion: object): object => carousel({ ...CARD, suggestions: [suggestion] });

  test.each<[object, ...string[]]>([
    [{ kind: undefined }, "kind"],
    [{ kind: "poster" }, "kind"],
    [{ text: undefined }, "text"],
    [{ text: " " }, "text"],
    [{ text: "{#var#}" }, "text"],
    [{ text: "a".repeat(3073) }, "text"],
    [{ status: "sent" }, "status"],
    [{ suggestions: [REPLY] }, "suggestions"],
    [{ kind: "rich" }, "suggestions"],
    [{ kind: "rich", suggestions: Array.from({ length: 12 }, () => REPLY) }, "suggestions"],
    [{ cards: [CARD] }, "cards"],
    [{ kind: "card" }, "text", "cards"],
    [{ kind: "card", text: null, cards: [CARD, CARD] }, "cards"],
    [{ kind: "carousel", text: null, cards: [CARD] }, "cards"],
    [{ kind: "card", text: null, cards: [CARD], suggestions: [REPLY] }, "suggestions"],
    [carousel({ ...CARD, fileUrl: undefined }), "cards[1].fileUrl"],
    [carousel({ ...CARD, fileUrl: null }), "cards[1].fileUrl"],
    [carousel({ ...CARD, fileUrl: "shop.example/a.jpg" }), "cards[1].fileUrl"],
    [carousel({ ...CARD, title: "{{1}}" }), "cards[1].title"],
    [carousel({ ...CARD, description: "a".repeat(2001) }), "cards[1].description"],
    [carousel({ ...CARD, suggestions: Array.from({ length: 5 }, () => REPLY) }), "cards[1].suggestions"],
    [onCard({ type: "url", text: "Open" }), "cards[1].suggestions[0].url"],
    [
      onCard({ type: "url", text: "Open", url: "https://a.example", webview: "wide" }),
      "cards[1].suggestions[0].webview",
    ],
    [onCard({ type: "compose", text: "Text us" }), "cards[1].suggestions[0].number"],
    [onCard({ type: "compose", text: "Text us", number: "+15550100199" }), "cards[1].suggestions[0].message"],
    [
      onCard({ type: "compose", text: "Text us", number: "+15550100199", message: "Hi", recording: "audio" }),
      "cards[1].suggestions[0].message",
    ],
    [
      onCard({ type: "compose", text: "Tell us", number: "+15550100199", recording: "smell" }),
      "cards[1].suggestions[0].recording",
    ],
    [carousel({ ...CARD, height: "tall" }), "cards[1].height"],
    [carousel({ ...CARD, orientation: "horizontal", imageSide: "left" }), "cards[1].orientation"],
    [{ kind: "card", text: null, cards: [{ ...CARD, orientation: "horizontal" }] }, "cards[0].imageSide"],
    [{ kind: "card", text: null, cards: [{ ...CARD, imageSide: "left" }] }, "cards[0].imageSide"],
    [{ kind: "card", text: null, cards: [{ ...CARD, thumbnailUrl: "a.jpg" }] }, "cards[0].thumbnailUrl"],
    [onCard({ type: "dial", text: "Call", number: "15550100199" }), "cards[1].suggestions[0].number"],
    [rich({ type: "reply" }), "suggestions[1].text"],
    [rich({ ...REPLY, text: "a".repeat(26) }), "suggestions[1].text"],
    [rich({ ...REPLY, data: "" }), "suggestions[1].data"],
    [rich({ type: "jump", text: "Jump" }), "suggestions[1].type"],
    [rich({ type: "viewLocation", text: "See", latitude: 91 }), "suggestions[1].latitude", "suggestions[1].longitude"],
    [rich({ type: "viewLocation", text: "See" }), "suggestions[1].latitude", "suggestions[1].longitude"],
    [
      rich({ type: "calendar", text: "Note" }),
      "suggestions[1].title",
      "suggestions[1].startAt",
      "suggestions[1].endAt",
    ],
    [rich({ type: "calendar", text: "Note", title: "A", startAt: 2, endAt: 1 }), "suggestions[1].endAt"],
  ])("an RCS template with %j is refused", async (fields, ...parameters) => {
    expect(refusal(await make({ ...RCS, name: "bad", ...fields }))).toEqual(refused(...parameters));
  });

  test("an RCS template accepts times and derives omitted fields", async () => {
    const event = {
      type: "calendar",
      text: "Note",
      title: "A",
      startAt: "2030-01-31T18:00Z",
      endAt: 1_896_200_000_000,
    };
    const { status, body } = await make({ ...RCS, name: "event", ...rich(event) });
    expect(status).toBe(201);
    expect(body["suggestions"]).toEqual([
      { ...REPLY, data: "Yes" },
      { ...event, data: "Note", startAt: Date.UTC(2030, 0, 31, 18), description: "" },
    ]);
    await remove(body.id);
  });

  test("a change replaces a nested object as a whole", async () => {
    const header = { type: "image", link: "https://shop.example/a.jpg" };
    const { id } = (await make({ ...CHAT, name: "whole", header })).body;
    expect((await change(id, { header: { type: "video" } })).body["header"]).toEqual({ type: "video", link: null });
    expect((await change(id, { header: { type: "text", text: "Hi" } })).body["header"]).toEqual({
      type: "text",
      text: "Hi",
    });
    expect((await change(id, { header: null })).body["header"]).toBeNull();
    await remove(id);
  });

  describe("that were learned", () => {
    const chat = { from: "+15550100199", to: "15550100100", type: "template", templateName: "unheard_of" };
    const rcs = { number: "+15550100100", botId: "heliograph", type: "TRANS", templateName: "unheard-of" };
    const learned = async (name: string): Promise<TemplateBody> =>
      eventually(
        async () => (await list(`name=${name}`)).data[0] as TemplateBody,
        (found) => found !== undefined,
      );

    test("a learned chat-app template needs body and header text before it can be enforced", async () => {
      const components = { header: { type: "text", text: "Hi" }, body: { params: ["a"] } };
      expect((await server.request("POST", "/v1/chatapp", { ...chat, components })).status).toBe(200);
      const template = await learned("unheard_of");
      expect(template).toMatchObject({
        origin: "learned",
        channel: "chatapp",
        header: { type: "text", text: null },
        body: null,
        variables: 1,
      });
      expect(refusal(await change(template.id, { footer: "Bye" }))).toEqual(refused("body", "header.text"));
      const known = { header: { type: "text", text: "{{1}}" }, body: "Hello {{1}}" };
      expect((await change(template.id, known)).body).toMatchObject({ origin: "authored", ...known, variables: 1 });
      expect(refusal(await server.request("POST", "/v1/chatapp", chat))).toEqual([
        422,
        "TEMPLATE_KIND_MISMATCH",
        "components.header",
        "components.body.params",
      ]);
      await remove(template.id);
    });

    test("a learned RCS template needs texts or images before it can be enforced", async () => {
      expect((await server.request("POST", "/v1/rcs", { ...rcs, content: [{ params: ["a"] }] })).status).toBe(200);
      const text = await learned("unheard-of");
      expect(text).toMatchObject({ origin: "learned", channel: "rcs", kind: "text", text: null, variables: 1 });
      expect(refusal(await change(text.id, {}))).toEqual(refused("text"));
      expect((await change(text.id, { text: "Hello {{1}}" })).body).toMatchObject({ origin: "authored", variables: 1 });

      const content = [{ fileUrl: "https://shop.example/a.jpg" }, { fileUrl: "https://shop.example/b.jpg" }];
      await server.request("POST", "/v1/rcs", { ...rcs, templateName: "unseen", content });
      const cards = await learned("unseen");
      expect(cards).toMatchObject({ kind: "carousel", cards: [{ fileUrl: null }, { fileUrl: null }] });
      expect(refusal(await change(cards.id, { status: "paused" }))).toEqual(
        refused("cards[0].fileUrl", "cards[1].fileUrl"),
      );
      expect((await change(cards.id, { cards: [CARD, CARD] })).status).toBe(200);
      for (const { id } of [text, cards]) await remove(id);
    });
  });

  test("a template that is not approved cannot be sent, and can once it is", async () => {
    const chat = (await make({ ...CHAT, name: "held" })).body;
    const rcs = (await make({ ...RCS, name: "held" })).body;
    const sends = async (): Promise<number[]> => [
      (
        await server.request("POST", "/v1/chatapp", {
          from: "+15550100199",
          to: "15550100100",
          type: "template",
          templateName: "held",
          components: { body: { params: ["a"] } },
        })
      ).status,
      (
        await server.request("POST", "/v1/rcs", {
          number: "+15550100100",
          botId: "heliograph",
          type: "TRANS",
          templateName: "held",
          content: [{ params: ["a"] }],
        })
      ).status,
    ];
    expect(await sends()).toEqual([200, 200]);
    for (const status of ["draft", "paused"]) {
      for (const { id } of [chat, rcs]) await change(id, { status });
      expect([status, ...(await sends())]).toEqual([status, 404, 404]);
    }
    for (const { id } of [chat, rcs]) await change(id, { status: "approved" });
    expect(await sends()).toEqual([200, 200]);
    for (const { id } of [chat, rcs]) await remove(id);
  });

  test("a template is accepted again as it is returned", async () => {
    const { data } = await list("limit=200");
    expect(data.length).toBeGreaterThan(10);
    for (const template of data.filter(({ origin }) => origin === "authored")) {
      const { id, origin: _origin, createdAt: _created, updatedAt: _updated, variables, ...fields } = template;
      expect((await remove(id)).status).toBe(200);
      expect((await make(fields)).body).toMatchObject({ ...fields, variables });
    }
  });
});
