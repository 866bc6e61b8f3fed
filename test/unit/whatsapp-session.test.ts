import { describe, expect, test } from "vitest";
import { composeChat } from "../../src/channels/chatapp/compose.ts";
import { composedFor } from "../../src/channels/draft.ts";
import { readChat } from "../../src/channels/chatapp/read.ts";
import { tappables } from "../../src/carriers/simulator/tap.ts";
import { readMarkOf } from "../../src/carriers/whatsapp/mark-read.ts";
import { requestOf } from "../../src/carriers/whatsapp/submit.ts";
import { isEmoji } from "../../src/model/emoji.ts";
import { mediaOf, textOf } from "../../src/model/message.ts";
import { Problem } from "../../src/model/problem.ts";
import { faultsIn } from "../support/fake-whatsapp-checks.ts";
import { messageTo } from "../support/whatsapp-trial.ts";

const REQUEST_ID = "019b5f0a-7c00-7000-8000-000000000001";
const WAMID = "wamid.HBgLMTY1MDM4Nzk0MzkVAgARGBJDQjZCMzlEQUE4OTJBMTE4RTUA";
const ADDRESSED = { from: "+15550783881", to: "919876543210" };
const RULES = { recipientsMax: 1000, now: 1_767_225_600_000 };

const read = (body: object) => readChat({ ...ADDRESSED, ...body }, RULES, { numbers: "lenient", defaultRegion: null });

const contentOf = (body: object, platformId: string | null = WAMID) => {
  const draft = read(body);
  const about = draft.kind === "text" ? draft.about : undefined;
  return composedFor(composeChat(draft, null, about ? { id: about.id, platformId } : null), 0).content;
};

/** The request to the platform for a body of `POST /v1/chatapp`. */
function requestFor(body: object, platformId: string | null = WAMID): object {
  const content = contentOf(body, platformId);
  const request = requestOf(messageTo(ADDRESSED.to, { requestId: REQUEST_ID, content }), null);
  expect("code" in request ? [] : faultsIn(JSON.stringify(request))).toEqual([]);
  return request;
}

function refused(body: object): { code: string; parameters: string[] } {
  try {
    read(body);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return { code: error.code, parameters: error.faults.map(({ parameter }) => parameter) };
  }
  throw new Error("nothing was refused");
}

const COMMON = {
  messaging_product: "whatsapp",
  recipient_type: "individual",
  to: ADDRESSED.to,
  biz_opaque_callback_data: `${REQUEST_ID}:1`,
};

const BUTTONS = {
  type: "button",
  header: { type: "image", image: { link: "https://shop.example/plant.png" } },
  body: { text: "Keep your appointment?" },
  footer: { text: "Lucky Shrub" },
  action: {
    buttons: [
      { type: "reply", reply: { id: "keep", title: "Keep it" } },
      { type: "reply", reply: { id: "change", title: "Change it" } },
    ],
  },
};
const LIST = {
  type: "list",
  header: { type: "text", text: "Shipping" },
  body: { text: "Which way do you prefer?" },
  footer: { text: "Prices with tax" },
  action: {
    button: "Ways",
    sections: [
      { title: "Fast", rows: [{ id: "express", title: "Express", description: "Next day" }] },
      { title: "Cheap", rows: [{ id: "letter", title: "Letter" }] },
    ],
  },
};
const LINK = {
  type: "cta_url",
  header: { type: "document", document: { link: "https://shop.example/menu.pdf", filename: "Menu.pdf" } },
  body: { text: "See the free dates." },
  action: { name: "cta_url", parameters: { display_text: "See dates", url: "https://shop.example/dates?ref=1" } },
};
const CONTACT = {
  name: { formatted_name: "Barbara J. Johnson", first_name: "Barbara", last_name: "Johnson" },
  birthday: "1999-01-23",
  phones: [{ phone: "+16505559999", type: "HOME", wa_id: "16505559999" }],
  emails: [{ email: "barbara@shrub.example", type: "WORK" }],
  urls: [{ url: "https://shrub.example", type: "WORK" }],
  addresses: [{ street: "1 Lucky Way", city: "Menlo Park", state: "CA", zip: "94025", country_code: "US" }],
  org: { company: "Lucky Shrub", department: "Legal", title: "Counsel" },
};

/** The document of the platform that each body was checked against, below /documentation/business-messaging/whatsapp/messages. */
const GOLDEN: readonly [document: string, body: { type: string } & Record<string, unknown>][] = [
  ["text-messages", { type: "text", text: { body: "See https://shop.example", preview_url: true } }],
  ["image-messages", { type: "image", image: { link: "https://shop.example/a.jpg", caption: "The plant" } }],
  ["video-messages", { type: "video", video: { link: "https://shop.example/a.mp4", caption: "How to" } }],
  [
    "document-messages",
    { type: "document", document: { link: "https://shop.example/a.pdf", caption: "Invoice", filename: "May.pdf" } },
  ],
  ["audio-messages", { type: "audio", audio: { link: "https://shop.example/a.ogg", voice: true } }],
  ["sticker-messages", { type: "sticker", sticker: { link: "https://shop.example/a.webp" } }],
  [
    "location-messages",
    {
      type: "location",
      location: { latitude: 37.44216251868683, longitude: -122.16153582049394, name: "Office", address: "101 Ave" },
    },
  ],
  ["contacts-messages", { type: "contacts", contacts: [CONTACT] }],
  ["interactive-reply-buttons-messages", { type: "interactive", interactive: BUTTONS }],
  ["interactive-list-messages", { type: "interactive", interactive: LIST }],
  ["interactive-cta-url-messages", { type: "interactive", interactive: LINK }],
];

describe("a session message on WhatsApp", () => {
  test.each(GOLDEN)("is sent as the page %s has it", (_, body) => {
    expect(requestFor(body)).toEqual({ ...COMMON, ...body });
  });

  test("a reaction names its message by the platform's id, as the page reaction-messages has it", () => {
    const reaction = { message_id: `${REQUEST_ID}:2`, emoji: "👍🏽" };
    expect(requestFor({ type: "reaction", reaction })).toEqual({
      ...COMMON,
      type: "reaction",
      reaction: { message_id: WAMID, emoji: "👍🏽" },
    });
    expect(requestFor({ type: "reaction", reaction: { ...reaction, emoji: "" } })).toMatchObject({
      reaction: { emoji: "" },
    });
  });

  test.each(GOLDEN)("of the kind of %s can reply to a message, as the page contextual-replies has it", (_, body) => {
    expect(requestFor({ ...body, context: { message_id: `${REQUEST_ID}:2` } })).toEqual({
      ...COMMON,
      ...body,
      context: { message_id: WAMID },
    });
  });

  test("a message about one without an id on the platform is refused before it is sent", () => {
    const about = { context: { message_id: REQUEST_ID } };
    expect(requestFor({ type: "text", text: { body: "Yes" }, ...about }, null)).toMatchObject({
      code: "NO_PLATFORM_ID",
    });
    const reaction = { type: "reaction", reaction: { message_id: REQUEST_ID, emoji: "👍" } };
    expect(requestFor(reaction, null)).toMatchObject({ code: "NO_PLATFORM_ID" });
  });

  test("a document without a name gets that of its link", () => {
    expect(
      requestFor({ type: "document", document: { link: "https://shop.example/Invoice%20May.pdf" } }),
    ).toMatchObject({
      document: { filename: "Invoice May.pdf" },
    });
  });

  test("a field that the platform does not know is not passed on, at any depth", () => {
    const interactive = { ...LIST, colour: 1, action: { ...LIST.action, colour: 1 } };
    expect(requestFor({ type: "interactive", interactive })).toEqual({
      ...COMMON,
      type: "interactive",
      interactive: LIST,
    });
  });

  test.each([
    [false, {}],
    [true, { typing_indicator: { type: "text" } }],
  ])(
    "a read mark with typing %s is as the pages mark-message-as-read and typing-indicators have it",
    (typing, more) => {
      const mark = readMarkOf(WAMID, typing);
      expect(mark).toEqual({ messaging_product: "whatsapp", status: "read", message_id: WAMID, ...more });
      expect(faultsIn(JSON.stringify(mark))).toEqual([]);
    },
  );
});

describe("a session message in a request", () => {
  const interactive = (changes: object) => ({ type: "interactive", interactive: { ...BUTTONS, ...changes } });
  const buttons = (...replies: object[]) =>
    interactive({ action: { buttons: replies.map((reply) => ({ type: "reply", reply })) } });
  const rows = (count: number) => Array.from({ length: count }, (__, n) => ({ id: `row ${n}`, title: `Row ${n}` }));
  const list = (sections: object[]) => ({
    type: "interactive",
    interactive: { ...LIST, action: { button: "Ways", sections } },
  });

  test.each([
    ["no content", { type: "image" }, "image"],
    ["no link", { type: "image", image: {} }, "image.link"],
    ["a link that is none", { type: "video", video: { link: "ftp://shop.example/a.mp4" } }, "video.link"],
    ["a caption that is too long", { type: "image", image: { link: "https://a.example/a.png", caption: "x".repeat(1025) } }, "image.caption"],
    ["a latitude beyond the pole", { type: "location", location: { latitude: 91, longitude: 0 } }, "location.latitude"],
    ["no contact", { type: "contacts", contacts: [] }, "contacts"],
    ["a contact with nothing but its whole name", { type: "contacts", contacts: [{ name: { formatted_name: "A" } }] }, "contacts[0].name"],
    ["contacts that are too long in all", { type: "contacts", contacts: Array.from({ length: 200 }, () => CONTACT) }, "contacts"],
    ["a birthday that no calendar has", { type: "contacts", contacts: [{ ...CONTACT, birthday: "1999-02-30" }] }, "contacts[0].birthday"],
    ["an interactive message of another type", interactive({ type: "product" }), "interactive.type"],
    ["four buttons", buttons(...["a", "b", "c", "d"].map((id) => ({ id, title: id }))), "interactive.action.buttons"],
    ["two buttons with one id", buttons({ id: "a", title: "A" }, { id: "a", title: "B" }), "interactive.action.buttons"],
    ["a label that is too long", buttons({ id: "a", title: "x".repeat(21) }), "interactive.action.buttons[0].reply.title"],
    ["a header without its part", interactive({ header: { type: "video" } }), "interactive.header.video"],
    ["eleven rows", list([{ title: "A", rows: rows(10) }, { title: "B", rows: rows(1) }]), "interactive.action.sections"],
    ["two sections without titles", list([{ rows: rows(1) }, { rows: [{ id: "z", title: "Z" }] }]), "interactive.action.sections"],
    ["two rows with one id", list([{ rows: [...rows(1), ...rows(1)] }]), "interactive.action.sections"],
    ["a list with a picture", { type: "interactive", interactive: { ...LIST, header: BUTTONS.header } }, "interactive.header.type"],
    ["a reaction of two emoji", { type: "reaction", reaction: { message_id: WAMID, emoji: "👍👍" } }, "reaction.emoji"],
    ["a reply to nothing", { type: "text", text: { body: "Yes" }, context: {} }, "context.message_id"],
    ["content of two types", { type: "text", text: { body: "Yes" }, image: { link: "https://a.example/a.png" } }, "image"],
    ["a template with the content of a session", { type: "template", templateName: "a", sticker: {} }, "sticker"],
  ])("%s is refused, and the field is named", (_, body, parameter) => {
    expect(refused(body)).toEqual({ code: "INVALID_REQUEST", parameters: [parameter] });
  }); // prettier-ignore

  test("all faults are reported at once", () => {
    const body = { text: "x".repeat(1025) };
    const { parameters } = refused({ ...interactive({ body, footer: {} }), from: "1", to: "x" });
    expect(parameters.toSorted()).toEqual(["from", "interactive.body.text", "interactive.footer.text", "to"]);
  });

  test("a type in other letters is one fault", () => {
    const body = { type: "Image", image: { link: "https://a.example/a.png" } };
    expect(refused(body)).toEqual({ code: "UNSUPPORTED_TYPE", parameters: ["type"] });
  });

  test.each([
    [{ type: "image", image: { link: "https://a.example/a.gif" } }, "image.link"],
    [{ type: "sticker", sticker: { link: "https://a.example/a.png" } }, "sticker.link"],
    [{ type: "audio", audio: { link: "https://a.example/a.wav" } }, "audio.link"],
    [
      { type: "interactive", interactive: { ...LINK, header: { type: "image", image: { link: "https://a.example/a.pdf" } } } },
      "interactive.header.image.link",
    ],
  ])("a file with the extension of another kind is refused: %j", (body, parameter) => {
    expect(refused(body)).toEqual({ code: "MEDIA_TYPE_UNSUPPORTED", parameters: [parameter] });
  }); // prettier-ignore

  test("several recipients get one content; a reply and a reaction have one recipient", () => {
    const many = { to: undefined, recipients: [{ to: "919876543210" }, { to: "919876543211" }] };
    expect(read({ type: "location", location: { latitude: 1, longitude: 2 }, ...many }).recipients).toHaveLength(2);
    const context = { message_id: WAMID };
    expect(refused({ type: "text", text: { body: "Yes" }, context, ...many }).parameters).toEqual(["recipients"]);
    const reaction = { type: "reaction", reaction: { message_id: WAMID, emoji: "👍" }, ...many };
    expect(refused(reaction).parameters).toEqual(["recipients"]);
  });
});

describe("the content of a session message", () => {
  test.each([
    [{ type: "image", image: { link: "https://a.example/a.png", caption: "Look" } }, "Look"],
    [{ type: "sticker", sticker: { link: "https://a.example/a.webp" } }, ""],
    [{ type: "location", location: { latitude: 1.5, longitude: 2 } }, "1.5, 2"],
    [{ type: "location", location: { latitude: 1, longitude: 2, name: "Shop", address: "Main St" } }, "Shop, Main St"],
    [{ type: "contacts", contacts: [CONTACT, CONTACT] }, "Barbara J. Johnson\nBarbara J. Johnson"],
    [{ type: "interactive", interactive: LIST }, "Which way do you prefer?"],
    [{ type: "reaction", reaction: { message_id: WAMID, emoji: "👍" } }, "👍"],
  ])("has the words that a list of texts shows: %j", (body, text) => {
    expect(contentOf(body)).toMatchObject({ kind: "text", text });
  });

  test("two files without words are not the same text", () => {
    const sticker = (name: string) =>
      textOf(contentOf({ type: "sticker", sticker: { link: `https://a.example/${name}.webp` } }));
    expect(sticker("a")).not.toBe(sticker("b"));
  });

  test.each([
    [
      { type: "audio", audio: { link: "https://a.example/a.ogg" } },
      { type: "audio", link: "https://a.example/a.ogg" },
    ],
    [
      { type: "interactive", interactive: BUTTONS },
      { type: "image", link: "https://shop.example/plant.png" },
    ],
    [{ type: "interactive", interactive: LIST }, null],
    [{ type: "text", text: { body: "Yes" } }, null],
  ])("has the file that is looked at before it is sent: %j", (body, file) => {
    expect(mediaOf(contentOf(body))).toEqual(file);
  });

  test("a phone can choose every button and row, and open the link", () => {
    const choices = (interactive: object) =>
      tappables(contentOf({ type: "interactive", interactive })).map(({ text, sent }) => [text, sent.data, sent.type]);
    expect(choices(BUTTONS)).toEqual([
      ["Keep it", "keep", "REPLY"],
      ["Change it", "change", "REPLY"],
    ]);
    expect(choices(LIST)).toEqual([
      ["Express", "express", "REPLY"],
      ["Letter", "letter", "REPLY"],
    ]);
    expect(choices(LINK)).toEqual([["See dates", "https://shop.example/dates?ref=1", "ACTION"]]);
  });
});

test.each(["👍", "👍🏽", "❤", "❤️", "🇮🇳", "👨‍👩‍👧", "1️⃣"])("%s is one emoji", (emoji) => {
  expect(isEmoji(emoji)).toBe(true);
});

test.each(["", "a", "1", "👍👍", "👍 ", "🇮", "\n"])("%j is no emoji", (text) => {
  expect(isEmoji(text)).toBe(false);
});
