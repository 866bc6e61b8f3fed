import { describe, expect, test } from "vitest";
import { composeChat } from "../../src/channels/chatapp/compose.ts";
import { composedFor } from "../../src/channels/draft.ts";
import { readChat } from "../../src/channels/chatapp/read.ts";
import { readTemplate as readPlatformTemplate } from "../../src/carriers/whatsapp/read-template.ts";
import { requestOf } from "../../src/carriers/whatsapp/submit.ts";
import { writeTemplate } from "../../src/carriers/whatsapp/write-template.ts";
import type { ChatContent, ChatTemplate, TemplateSubmission } from "../../src/model/chatapp.ts";
import { Problem } from "../../src/model/problem.ts";
import { chatTemplate } from "../../src/records/types/chat-template.ts";
import { faultsIn } from "../support/fake-whatsapp-checks.ts";
import { templateFaultsIn } from "../support/fake-whatsapp-templates.ts";
import { readTemplate } from "../support/read-template.ts";
import { messageTo } from "../support/whatsapp-trial.ts";

const NOW = 1_767_225_600_000;
const ENDS = NOW + 3_600_000;
const TO = "919876543210";

const written = (fields: object): ChatTemplate => {
  const { template, faults } = readTemplate(chatTemplate, fields);
  expect(faults).toEqual([]);
  if (!template) throw new Error("no template");
  return template;
};
const faultsOf = (fields: object): string[] =>
  readTemplate(chatTemplate, fields).faults.map(({ parameter }) => parameter);

const read = (fields: object) =>
  readChat(
    { from: "+15550783881", to: TO, type: "template", templateName: "t", ...fields },
    { recipientsMax: 1000, now: NOW },
    { numbers: "lenient", defaultRegion: null },
  );
const contentOf = (content: ChatTemplate, components: object): ChatContent =>
  composedFor(composeChat(read({ components }), { name: "t", origin: "authored", content }), 0).content;

/** The components of the request to the platform. */
function sent(content: ChatTemplate, components: object): unknown {
  const request = requestOf(messageTo(TO, { content: contentOf(content, components) }), content);
  expect(faultsIn(JSON.stringify(request))).toEqual([]);
  return "template" in request ? request.template.components : null;
}

function submitted(content: ChatTemplate, examples: Partial<TemplateSubmission>): unknown {
  const body = writeTemplate("t", content, { params: [], buttons: {}, ...examples });
  expect(templateFaultsIn(JSON.stringify(body), true)).toEqual([]);
  return "components" in body ? body.components : null;
}

/** The template as the platform lists it after its approval. */
const listed = (content: ChatTemplate, components: unknown) =>
  readPlatformTemplate({
    id: "1",
    name: "t",
    language: content.language,
    status: "APPROVED",
    category: content.category.toUpperCase(),
    components,
  });
const PLATFORM = { platform: { id: "1", status: "APPROVED", reason: null, quality: null } };

function refused(run: () => unknown): { code: string; parameters: string[] } {
  try {
    run();
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return { code: error.code, parameters: error.faults.map(({ parameter }) => parameter) };
  }
  throw new Error("nothing was refused");
}

describe("a template in several languages", () => {
  const content: ChatTemplate = {
    ...written({ language: "en", body: "Order {{1}}" }),
    languages: [written({ language: "pt_BR", body: "Pedido {{1}}: {{2}}" })],
  };
  const named = { name: "t", origin: "authored", content } as const;
  const components = { body: { params: ["4711"] } };

  test("is sent in its own language to a contact whose language needs other values", () => {
    const composed = composedFor(
      composeChat(read({ components }), named, null, () => "pt-BR"),
      0,
    );
    expect(composed.content).toMatchObject({ language: "en", text: "Order 4711" });
  });

  test("is refused in a language of the request that needs other values", () => {
    const refusal = refused(() => composeChat(read({ components, language: "pt_BR" }), named));
    expect(refusal).toEqual({ code: "PARAMS_MISMATCH", parameters: ["components.body.params"] });
  });
});

const SHOP = { latitude: 51.4545, longitude: -2.5879, name: "The Shop", address: "Harbour Street 1" };

/** Checked against the platform's page utility-templates/location-templates. */
describe("a template with a location above its text", () => {
  const content = written({ header: { type: "location" }, body: "Your parcel is at our shop." });
  const header = { type: "location", location: SHOP };

  test("is sent with the place of each request, whose degrees are strings", () => {
    expect(sent(content, { header, body: { params: [] } })).toEqual([
      {
        type: "header",
        parameters: [{ type: "location", location: { ...SHOP, latitude: "51.4545", longitude: "-2.5879" } }],
      },
    ]);
  });

  test("is submitted without a place, and read back from the platform's list", () => {
    const components = [
      { type: "HEADER", format: "LOCATION" },
      { type: "BODY", text: "Your parcel is at our shop." },
    ];
    expect(submitted(content, {})).toEqual(components);
    expect(listed(content, components)).toEqual({ name: "t", content: { ...content, ...PLATFORM } });
  });

  test.each([
    [{ type: "location" }, "components.header.location"],
    [
      { type: "location", location: { latitude: 91, longitude: 0, name: "a", address: "b" } },
      "components.header.location.latitude",
    ],
    [{ type: "location", location: { latitude: 1, longitude: 0, name: "a" } }, "components.header.location.address"],
    [{ ...header, text: "Shop" }, "components.header.text"],
  ])("refuses the header %j", (wrong, parameter) => {
    expect(refused(() => read({ components: { header: wrong, body: { params: [] } } })).parameters).toContain(
      parameter,
    );
  });

  test("refuses another header, and is no template for codes", () => {
    const image = { type: "image", image: { link: "https://shop.example/a.jpg" } };
    expect(refused(() => contentOf(content, { header: image, body: { params: [] } }))).toEqual({
      code: "TEMPLATE_KIND_MISMATCH",
      parameters: ["components.header"],
    });
    expect(faultsOf({ category: "authentication", header: { type: "location" }, body: "Code" })).toEqual([
      "header.type",
    ]);
    expect(faultsOf({ header: { type: "location", text: "Shop" }, body: "Hello" })).toEqual(["header.text"]);
  });
});

const CODE = { type: "copyCode", text: "Copy offer code" };
const LINK = { type: "url", text: "Shop", url: "https://shop.example/{{1}}" };
const OFFER = {
  category: "marketing",
  header: { type: "image" },
  offer: { text: "Ends soon" },
  body: "Hello {{1}}, a fifth off.",
  buttons: [CODE, LINK],
};
const IMAGE = { type: "image", image: { link: "https://shop.example/a.jpg" } };

/** Checked against the platform's page marketing-templates/limited-time-offer-templates. */
describe("a limited-time offer", () => {
  const content = written(OFFER);
  const components = {
    header: IMAGE,
    body: { params: ["Ada"] },
    offer: { expiresAt: ENDS },
    buttons: [
      { index: 0, code: "AUTUMN20" },
      { index: 1, text: "autumn" },
    ],
  };

  test("is sent with its end in epoch milliseconds", () => {
    expect(sent(content, components)).toEqual([
      { type: "header", parameters: [IMAGE] },
      { type: "body", parameters: [{ type: "text", text: "Ada" }] },
      {
        type: "limited_time_offer",
        parameters: [{ type: "limited_time_offer", limited_time_offer: { expiration_time_ms: ENDS } }],
      },
      {
        type: "button",
        sub_type: "copy_code",
        index: "0",
        parameters: [{ type: "coupon_code", coupon_code: "AUTUMN20" }],
      },
      { type: "button", sub_type: "url", index: "1", parameters: [{ type: "text", text: "autumn" }] },
    ]);
  });

  test("takes its end with a zone too, and shows it on the phone", () => {
    const ends = new Date(ENDS).toISOString();
    expect(contentOf(content, { ...components, offer: { expiresAt: ends } })).toMatchObject({
      offer: { text: "Ends soon", expiresAt: ENDS },
    });
  });

  test("is submitted with its words, and read back from the platform's list", () => {
    const given = [
      { type: "HEADER", format: "IMAGE", example: { header_handle: ["4::aW"] } },
      { type: "LIMITED_TIME_OFFER", limited_time_offer: { text: "Ends soon", has_expiration: true } },
      { type: "BODY", text: "Hello {{1}}, a fifth off.", example: { body_text: [["Ada"]] } },
      {
        type: "BUTTONS",
        buttons: [
          { type: "COPY_CODE", example: "AUTUMN20" },
          { type: "URL", text: "Shop", url: LINK.url, example: ["https://shop.example/autumn"] },
        ],
      },
    ];
    const examples = { header: "4::aW", params: ["Ada"], buttons: { 0: "AUTUMN20", 1: "autumn" } };
    expect(submitted(content, examples)).toEqual(given);
    expect(listed(content, given)).toEqual({ name: "t", content: { ...content, ...PLATFORM } });
  });

  test.each([
    [{ ...components, offer: undefined }, "components.offer"],
    [{ ...components, cards: [{ header: IMAGE }, { header: IMAGE }] }, "components.cards"],
  ])("does not fit %#", (given, parameter) => {
    expect(refused(() => contentOf(content, given))).toEqual({
      code: "TEMPLATE_KIND_MISMATCH",
      parameters: [parameter],
    });
  });

  test.each([[NOW], ["2026-01-01"], [new Date(NOW).toISOString()], ["2099-02-31T10:00:00Z"]])(
    "refuses the end %s",
    (expiresAt) => {
      const given = { ...components, offer: { expiresAt } };
      expect(refused(() => read({ components: given })).parameters).toEqual(["components.offer.expiresAt"]);
    },
  );

  test("is refused by a template without an offer that ends", () => {
    const plain = written({ ...OFFER, offer: { text: "Soon", expires: false } });
    expect(refused(() => contentOf(plain, components)).parameters).toEqual(["components.offer"]);
    expect(sent(plain, { ...components, offer: undefined })).toHaveLength(4);
  });

  test.each<[object, string[]]>([
    [{ category: "utility" }, ["offer"]],
    [{ header: { type: "text", text: "Offer" } }, ["header.type"]],
    [{ footer: "Bye" }, ["footer"]],
    [{ body: "x".repeat(601) }, ["body"]],
    [{ buttons: [LINK] }, ["buttons"]],
    [{ buttons: [LINK, CODE] }, ["buttons"]],
    [{ offer: { text: "x".repeat(17) } }, ["offer.text"]],
    [{ offer: { text: "Soon", expires: false }, buttons: [LINK] }, []],
  ])("is written as the platform takes it: %j", (change, parameters) => {
    expect(faultsOf({ ...OFFER, ...change })).toEqual(parameters);
  });
});

const card = (name: string, more: object = {}): object => ({
  header: { type: "image" },
  body: `Our ${name} coat for {{1}}.`,
  buttons: [
    { type: "reply", text: "Keep it" },
    { type: "url", text: "Look", url: `https://shop.example/${name}/{{1}}` },
  ],
  ...more,
});
const CAROUSEL = { category: "marketing", body: "New coats, {{1}}.", cards: [card("wool"), card("rain")] };
const cardValues = (name: string, more: object = {}): object => ({
  header: IMAGE,
  body: { params: ["Ada"] },
  buttons: [
    { index: 0, payload: `keep-${name}` },
    { index: 1, text: "7" },
  ],
  ...more,
});

/** Checked against the platform's page marketing-templates/media-card-carousel-templates. */
describe("a carousel", () => {
  const content = written(CAROUSEL);
  const components = { body: { params: ["Ada"] }, cards: [cardValues("wool"), cardValues("rain")] };
  const sentCard = (index: number, name: string): object => ({
    card_index: index,
    components: [
      { type: "header", parameters: [IMAGE] },
      { type: "body", parameters: [{ type: "text", text: "Ada" }] },
      {
        type: "button",
        sub_type: "quick_reply",
        index: "0",
        parameters: [{ type: "payload", payload: `keep-${name}` }],
      },
      { type: "button", sub_type: "url", index: "1", parameters: [{ type: "text", text: "7" }] },
    ],
  });

  test("is sent with the file, the values and the buttons of each card", () => {
    expect(sent(content, components)).toEqual([
      { type: "body", parameters: [{ type: "text", text: "Ada" }] },
      { type: "carousel", cards: [sentCard(0, "wool"), sentCard(1, "rain")] },
    ]);
  });

  test("is shown with its texts and addresses filled in", () => {
    expect(contentOf(content, components)).toMatchObject({
      text: "New coats, Ada.",
      cards: [
        { text: "Our wool coat for Ada.", buttons: [{ value: "keep-wool" }, { url: "https://shop.example/wool/7" }] },
        { text: "Our rain coat for Ada." },
      ],
    });
  });

  test("is submitted with the examples of each card, and read back from the platform's list", () => {
    const given = (name: string, handle: string): object => ({
      components: [
        { type: "HEADER", format: "IMAGE", example: { header_handle: [handle] } },
        { type: "BODY", text: `Our ${name} coat for {{1}}.`, example: { body_text: [["Ada"]] } },
        {
          type: "BUTTONS",
          buttons: [
            { type: "QUICK_REPLY", text: "Keep it" },
            {
              type: "URL",
              text: "Look",
              url: `https://shop.example/${name}/{{1}}`,
              example: [`https://shop.example/${name}/7`],
            },
          ],
        },
      ],
    });
    const all = [
      { type: "BODY", text: "New coats, {{1}}.", example: { body_text: [["Ada"]] } },
      { type: "CAROUSEL", cards: [given("wool", "4::a"), given("rain", "4::b")] },
    ];
    const examples = ["4::a", "4::b"].map((header) => ({ header, params: ["Ada"], buttons: { 1: "7" } }));
    expect(submitted(content, { params: ["Ada"], cards: examples })).toEqual(all);
    expect(listed(content, all)).toEqual({ name: "t", content: { ...content, ...PLATFORM } });
  });

  test("names each missing example of its cards", () => {
    const submission = {
      params: ["Ada"],
      buttons: {},
      cards: [{ header: "4::a", params: ["Ada"], buttons: { 1: "7" } }],
    };
    expect(refused(() => writeTemplate("t", content, submission)).parameters).toEqual([
      "cards[1].header",
      "cards[1].params",
      "cards[1].buttons.1",
    ]);
  });

  test("with products of a catalogue is not read, with the reason", () => {
    const product = {
      components: [
        { type: "HEADER", format: "PRODUCT" },
        { type: "BUTTONS", buttons: [] },
      ],
    };
    expect(
      listed(content, [
        { type: "BODY", text: "Hello" },
        { type: "CAROUSEL", cards: [product] },
      ]),
    ).toMatchObject({
      reason: expect.stringContaining("PRODUCT") as string,
    });
  });

  test.each<[string, object, string, string[]]>([
    ["no cards", { cards: undefined }, "TEMPLATE_KIND_MISMATCH", ["components.cards"]],
    [
      "a card too many",
      { cards: [cardValues("a"), cardValues("b"), cardValues("c")] },
      "PARAMS_MISMATCH",
      ["components.cards"],
    ],
    [
      "another file and too few values",
      {
        cards: [
          cardValues("a"),
          cardValues("b", {
            header: { type: "video", video: { link: "https://shop.example/a.mp4" } },
            body: undefined,
          }),
        ],
      },
      "PARAMS_MISMATCH",
      ["components.cards[1].header", "components.cards[1].body.params"],
    ],
    [
      "a button without its value",
      { cards: [cardValues("a", { buttons: [] }), cardValues("b")] },
      "PARAMS_MISMATCH",
      ["components.cards[0].buttons"],
    ],
  ])("refuses %s", (_, change, code, parameters) => {
    expect(refused(() => contentOf(content, { ...components, ...change }))).toEqual({ code, parameters });
  });

  test.each<[string, object, string]>([
    ["a text above a card", { header: { type: "text", text: "Coat" } }, "components.cards[0].header.type"],
    ["no file", { header: { type: "image" } }, "components.cards[0].header.image"],
    ["params and values", { body: { params: [], values: {} } }, "components.cards[0].body.values"],
    [
      "a document",
      { header: { type: "image", image: { link: "https://shop.example/a.pdf" } } },
      "components.cards[0].header.image.link",
    ],
  ])("refuses %s", (_, change, parameter) => {
    const given = { ...components, cards: [cardValues("a", change), cardValues("b")] };
    expect(refused(() => read({ components: given })).parameters).toContain(parameter);
  });

  test.each<[object, string[]]>([
    [{ category: "utility" }, ["cards"]],
    [{ cards: [card("a")] }, ["cards"]],
    [{ footer: "Bye", buttons: [CODE], header: { type: "image" } }, ["header", "footer", "buttons"]],
    [{ cards: [card("a"), card("b", { header: { type: "video" } })] }, ["cards[1]"]],
    [{ cards: [card("a"), card("b", { body: "x".repeat(161) })] }, ["cards[1].body"]],
    [{ cards: [card("a"), card("b", { buttons: [] })] }, ["cards[1].buttons"]],
    [
      { cards: [card("a", { buttons: [CODE] }), card("b", { buttons: [CODE] })] },
      ["cards[0].buttons", "cards[1].buttons"],
    ],
  ])("is written as the platform takes it: %j", (change, parameters) => {
    expect(faultsOf({ ...CAROUSEL, ...change })).toEqual(parameters);
  });
});

test("a form is submitted by its id, and the catalogue without one", () => {
  const content = written({
    body: "Book a table or look around.",
    buttons: [
      { type: "flow", text: "Book" },
      { type: "catalog", text: "View catalog" },
    ],
  });
  expect(submitted(content, { buttons: { 0: "1103" } })).toContainEqual({
    type: "BUTTONS",
    buttons: [
      { type: "FLOW", text: "Book", flow_id: "1103" },
      { type: "CATALOG", text: "View catalog" },
    ],
  });
  expect(refused(() => submitted(content, {})).parameters).toEqual(["buttons.0"]);
});
