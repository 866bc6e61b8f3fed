import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { rcsTemplate } from "../../src/records/types/rcs-template.ts";
import { readTemplate } from "../support/read-template.ts";
import { composeRcs as composeEach, shapeOfRcs } from "../../src/channels/rcs/compose.ts";
import { composedFor } from "../../src/channels/draft.ts";
import { readRcs, type RcsDraft } from "../../src/channels/rcs/read.ts";
import { Problem } from "../../src/model/problem.ts";
import {
  suggestionResponse,
  type RcsCard,
  type RcsContent,
  type RcsTemplate,
  type Suggestion,
} from "../../src/model/rcs.ts";
import { repetitions } from "../support/repetitions.ts";

const RULES = { recipientsMax: 1000, now: 1_767_225_600_000 };
const LENIENT = { numbers: "lenient" } as const;
const ordinary = { number: "+919876543210", templateName: "order_update", botId: "bot-1", type: "TRANS" };
const IMAGES = ["https://cdn.example/1.png", "https://cdn.example/2.png", "https://cdn.example/3.png"];
const [IMAGE = ""] = IMAGES;
const replaced = (...fileUrls: string[]) => fileUrls.map((fileUrl) => ({ fileUrl }));

const read = (changes: object = {}): RcsDraft => readRcs({ ...ordinary, ...changes }, RULES, LENIENT);

/** The result, or the Problem that was thrown; any other error is thrown again. */
function outcomeOf<T>(run: () => T): T | Problem {
  try {
    return run();
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
}

function problemOf(run: () => unknown): Problem {
  const outcome = outcomeOf(run);
  if (outcome instanceof Problem) return outcome;
  throw new Error("expected a Problem");
}

/** The code and the parameters of a refusal, in order. */
function refused(changes: object | (() => unknown)): string[] {
  const { code, faults } = problemOf(typeof changes === "function" ? (changes as () => unknown) : () => read(changes));
  return [code, ...faults.map(({ parameter }) => parameter)];
}

const hintFor = (parameter: string, changes: object): string =>
  problemOf(() => read(changes)).faults.find((fault) => fault.parameter === parameter)?.message ?? "";

const card = (changes: Partial<RcsCard> = {}): RcsCard => ({
  title: "Shoes",
  description: "On sale",
  fileUrl: "https://shop.example/kept.png",
  suggestions: [],
  ...changes,
});
const reply: Suggestion = { type: "reply", text: "Yes", data: "yes" };

function template(changes: Partial<RcsTemplate>): RcsTemplate {
  return { kind: "text", text: null, variables: 0, suggestions: [], cards: [], status: "approved", ...changes };
}
const TEXT = template({ text: "Your order is on its way." });
const RICH = template({ kind: "rich", text: "Did it arrive?", suggestions: [reply] });
const VARIABLES = template({ text: "Hello {{1}}, order {{2}} is yours, {{1}}.", variables: 2 });
const CARD = template({ kind: "card", cards: [card({ suggestions: [reply] })] });
const CAROUSEL = template({ kind: "carousel", cards: ["A", "B", "C"].map((title) => card({ title })) });

const composeRcs = (...args: Parameters<typeof composeEach>): RcsContent =>
  composedFor(composeEach(...args), 0).content;
const authored = (content: RcsTemplate) => ({ origin: "authored", content }) as const;
const compose = (content: RcsTemplate, changes: object = {}) => composeRcs(read(changes), authored(content));

describe("an RCS request", () => {
  describe("number", () => {
    test("is kept as digits and echoed with its leading plus", () => {
      expect(read().recipients).toEqual([{ number: "919876543210", written: null, failure: null }]);
    });

    test.each(["+91 98765 43210", "+91-98765-43210", "+91 (98765) 43210", " (+91) 98765.43210 "])(
      "may be written as %j",
      (number) => {
        expect(read({ number }).recipients[0]?.number).toBe("919876543210");
      },
    );

    test("is required", () => {
      expect(refused({ number: undefined })).toEqual(["INVALID_REQUEST", "number"]);
    });

    test("is not accepted as null, number, list, object or nothing", () => {
      for (const number of [null, 919876543210, ["+919876543210"], {}, true, "", "  "])
        expect(refused({ number })).toEqual(["INVALID_REQUEST", "number"]);
    });

    test("needs its leading plus", () => {
      expect(refused({ number: "919876543210" })).toEqual(["INVALID_RECIPIENT", "number"]);
      expect(hintFor("number", { number: "919876543210" })).toContain("a plus");
    });

    test.each(["+", "+abc", "+0123456789", "+123456", "+1234567890123456", "++919876543210", "91+9876543210", "abc"])(
      "%s is malformed",
      (number) => {
        expect(refused({ number })).toEqual(["INVALID_RECIPIENT", "number"]);
      },
    );

    test("one number only is taken", () => {
      expect(refused({ number: "+919876543210,+919876543211" })).toEqual(["INVALID_RECIPIENT", "number"]);
    });

    test("that no country could have given out is refused only where the account is strict", () => {
      const body = { ...ordinary, number: "+9112345" };
      expect(readRcs(body, RULES, LENIENT).recipients[0]?.number).toBe("9112345");
      expect(refused(() => readRcs(body, RULES, { numbers: "strict" }))).toEqual(["INVALID_RECIPIENT", "number"]);
      expect(readRcs(ordinary, RULES, { numbers: "strict" }).recipients[0]?.number).toBe("919876543210");
    });

    test("is also accepted as from, and faults then name from", () => {
      expect(read({ number: undefined, from: "+919876543210" })).toEqual(read());
      expect(refused({ number: undefined, from: "919876543210" })).toEqual(["INVALID_RECIPIENT", "from"]);
      expect(refused({ number: undefined, from: 7 })).toEqual(["INVALID_REQUEST", "from"]);
    });

    test("and from may both be there with the same number, however it is written", () => {
      expect(read({ from: ordinary.number })).toEqual(read());
      expect(read({ from: "+91 98765-43210" })).toEqual(read());
    });

    test("and from that differ are refused, and both are named", () => {
      for (const from of ["+919876543211", "nonsense", "", null, 7])
        expect(refused({ from })).toEqual(["INVALID_REQUEST", "number", "from"]);
      expect(refused({ number: "abc", from: "xyz" })).toEqual(["INVALID_REQUEST", "number", "from"]);
    });

    test("and from that are the same nonsense are one fault", () => {
      expect(refused({ number: "abc", from: "abc" })).toEqual(["INVALID_RECIPIENT", "number"]);
    });
  });

  describe.each(["templateName", "botId"])("%s", (field) => {
    test("is required", () => {
      expect(refused({ [field]: undefined })).toEqual(["INVALID_REQUEST", field]);
    });

    test("is a string of 1 to 100 characters of plain text", () => {
      for (const value of ["x", "x".repeat(100), "order update/2", "आदेश"])
        expect(Object.values(read({ [field]: value }))).toContain(value);
      for (const value of ["", "  ", "x".repeat(101), "a\nb", "a\0b", "\ud83d", null, 7, ["x"], {}])
        expect(refused({ [field]: value })).toEqual(["INVALID_REQUEST", field]);
    });
  });

  describe("type", () => {
    test.each(["TRANS", "PROMO"])("%s is accepted", (type) => {
      expect(read({ type }).routeClass).toBe(type);
    });

    test("is required, and nothing else is accepted", () => {
      for (const type of [undefined, null, "", "SERVICE", "trans", 1, ["TRANS"]])
        expect(refused({ type })).toEqual(["INVALID_REQUEST", "type"]);
      expect(hintFor("type", { type: "promo " })).toContain("write it as PROMO");
    });

    test("OTP is refused with a hint what to do instead", () => {
      expect(refused({ type: "OTP" })).toEqual(["INVALID_REQUEST", "type"]);
      expect(hintFor("type", { type: "OTP" })).toContain("as TRANS, or as an SMS");
    });
  });

  describe("campaignName", () => {
    test("may be left out", () => {
      expect(read().campaignName).toBeNull();
    });

    test("is a string of 1 to 100 characters", () => {
      expect(read({ campaignName: "c".repeat(100) }).campaignName).toBe("c".repeat(100));
      for (const campaignName of ["", "c".repeat(101), "a\tb", null, 7])
        expect(refused({ campaignName })).toEqual(["INVALID_REQUEST", "campaignName"]);
    });
  });

  describe("content", () => {
    test("may be left out or be empty, and the template is then sent as it is", () => {
      expect(read().content).toBeNull();
      expect(read({ content: [] }).content).toBeNull();
    });

    test("is an array", () => {
      for (const content of [null, {}, "params", 7, { params: [] }])
        expect(refused({ content })).toEqual(["INVALID_REQUEST", "content"]);
    });

    test("params keep their order", () => {
      expect(read({ content: [{ params: ["b", "", "a"] }] }).content).toEqual({ params: ["b", "", "a"] });
    });

    test("params may be an empty array", () => {
      expect(read({ content: [{ params: [] }] }).content).toEqual({ params: [] });
    });

    test("params is an array of at most 50 strings", () => {
      for (const params of [null, "a", {}, 7, Array.from({ length: 51 }, () => "a")])
        expect(refused({ content: [{ params }] })).toEqual(["INVALID_REQUEST", "content[0].params"]);
      expect(read({ content: [{ params: Array.from({ length: 50 }, () => "a") }] }).content).not.toBeNull();
    });

    test("a value is a string that a phone can show, never null", () => {
      const params = ["fine", null, 7, ["a"], "\ud83d", "a\0b", "x".repeat(3073), "two\nlines"];
      const wrong = [1, 2, 3, 4, 5, 6].map((index) => `content[0].params[${index}]`);
      expect(refused({ content: [{ params }] })).toEqual(["INVALID_REQUEST", ...wrong]);
    });

    test("each fileUrl is kept as it is written, in order", () => {
      const written = ["https://CDN.example/a%20b.png?x=1#y", "http://cdn.example:8080", "https://cdn.example/ä.png"];
      expect(read({ content: replaced(...written) }).content).toEqual({ fileUrls: written });
    });

    test("a fileUrl is an http or https address of at most 2,000 characters", () => {
      const long = (length: number) => `https://cdn.example/${"x".repeat(length - 20)}`;
      expect(read({ content: replaced(long(2000)) }).content).toEqual({ fileUrls: [long(2000)] });
      const wrong = ["", "cdn.example/a.png", "ftp://cdn.example/a", "javascript:alert(1)", "https://", "https:///"];
      for (const fileUrl of [...wrong, "https://a.example/b c", "https://a\n.example", long(2001), null, 7, [IMAGE]])
        expect(refused({ content: [{ fileUrl }] })).toEqual(["INVALID_REQUEST", "content[0].fileUrl"]);
    });

    test("ten items with fileUrl are taken and one more is not", () => {
      const images = Array.from({ length: 11 }, (_, index) => `https://cdn.example/${index}`);
      expect(read({ content: replaced(...images.slice(0, 10)) }).content).toEqual({ fileUrls: images.slice(0, 10) });
      expect(refused({ content: replaced(...images) })).toEqual(["INVALID_REQUEST", "content"]);
    });

    test("an item has either params or fileUrl, and each that does not is named", () => {
      const both = { params: [], fileUrl: IMAGE };
      const content = [{ fileUrl: IMAGE }, both, {}, null, "x", []];
      const wrong = [1, 2, 3, 4, 5].map((index) => `content[${index}]`);
      expect(refused({ content })).toEqual(["INVALID_REQUEST", ...wrong]);
      expect(hintFor("content[1]", { content })).toContain("either params or fileUrl");
    });

    test("params in more than one item are refused", () => {
      const content = [{ params: ["a"] }, { params: ["b"] }, { params: [] }];
      expect(refused({ content })).toEqual(["INVALID_REQUEST", "content[1]", "content[2]"]);
      expect(hintFor("content[1]", { content })).toContain("Only one item has params");
    });

    test("items with params and items with fileUrl do not mix", () => {
      const mixed = [{ params: [] }, { fileUrl: IMAGE }];
      for (const content of [mixed, mixed.toReversed()]) {
        expect(refused({ content })).toEqual(["INVALID_REQUEST", "content[1]"]);
        expect(hintFor("content[1]", { content })).toContain("the one or the other");
      }
    });

    test("an item's unknown fields are ignored", () => {
      expect(read({ content: [{ fileUrl: IMAGE, alt: "shoes" }] }).content).toEqual({ fileUrls: [IMAGE] });
    });
  });

  describe("fallback", () => {
    const sms = { type: "sms", sender: "HELIOG", text: "Your order is on its way." };
    const refusedFallback = (changes: object): string[] => refused({ fallback: { ...sms, ...changes } });

    test("may be left out", () => {
      expect(read().fallback).toBeNull();
    });

    test("becomes an SMS to the same number, of the same type and campaign, after 60 seconds", () => {
      const { fallback } = read({ type: "PROMO", campaignName: "autumn", fallback: sms });
      expect(fallback).toMatchObject({
        afterSeconds: 60,
        sms: { sender: "HELIOG", text: sms.text, templateId: null, custom: null, routeClass: "PROMO", sendAt: null },
      });
      expect(fallback?.sms.campaignName).toBe("autumn");
      expect(fallback?.sms.recipients).toEqual([
        { number: "919876543210", written: null, custom: null, failure: null },
      ]);
    });

    test("may fill in an SMS template", () => {
      const fallback = { type: "sms", sender: "HELIOG", templateId: "welcome", custom: ["Ada", "4711"] };
      expect(read({ fallback }).fallback?.sms).toMatchObject({
        text: null,
        templateId: "welcome",
        custom: ["Ada", "4711"],
      });
    });

    test("is an object", () => {
      for (const fallback of [null, "sms", 7, [sms], true])
        expect(refused({ fallback })).toEqual(["INVALID_REQUEST", "fallback"]);
    });

    test("type is sms", () => {
      for (const type of [undefined, null, "SMS", "rcs", 1])
        expect(refusedFallback({ type })).toEqual(["INVALID_REQUEST", "fallback.type"]);
    });

    test("sender and text are held to the rules of SMS", () => {
      expect(refusedFallback({ sender: undefined })).toEqual(["INVALID_REQUEST", "fallback.sender"]);
      expect(refusedFallback({ sender: "A".repeat(21) })).toEqual(["INVALID_REQUEST", "fallback.sender"]);
      for (const text of [undefined, null, "", 7, "\ud83d"])
        expect(refusedFallback({ text })).toEqual(["INVALID_REQUEST", "fallback.text"]);
    });

    test("templateId and custom belong together and are held to the rules of SMS", () => {
      const byId = { text: undefined, templateId: "welcome" };
      expect(refusedFallback(byId)).toEqual(["INVALID_REQUEST", "fallback.custom"]);
      expect(refusedFallback({ custom: [] })).toEqual(["INVALID_REQUEST", "fallback.templateId"]);
      expect(refusedFallback({ ...byId, custom: ["a", null] })).toEqual(["INVALID_REQUEST", "fallback.custom[1]"]);
    });

    test("afterSeconds is a whole number from 10 to 86,400", () => {
      for (const afterSeconds of [10, 86_400])
        expect(read({ fallback: { ...sms, afterSeconds } }).fallback?.afterSeconds).toBe(afterSeconds);
      for (const afterSeconds of [9, 86_401, 10.5, "60", null])
        expect(refusedFallback({ afterSeconds })).toEqual(["INVALID_REQUEST", "fallback.afterSeconds"]);
    });

    test("cannot go elsewhere or at another time than the message", () => {
      const stray = { to: "15550100100", recipients: [{ to: "15550100100" }], sendAt: 1, flash: 1, campaignName: "x" };
      expect(read({ fallback: { ...sms, ...stray } })).toEqual(read({ fallback: sms }));
    });

    test("a bad number is reported once, and beside the faults of the fallback", () => {
      expect(refused({ number: "abc", fallback: sms })).toEqual(["INVALID_RECIPIENT", "number"]);
      const faulty = { number: "abc", fallback: { ...sms, sender: "" } };
      expect(refused(faulty)).toEqual(["INVALID_REQUEST", "fallback.sender", "number"]);
    });
  });

  test("all faults of a body are reported at once, each naming its field", () => {
    const body = { from: 5, templateName: "", type: "OTP", campaignName: 3, content: [{}], fallback: { sender: 7 } };
    expect(refused(() => readRcs(body, RULES, LENIENT))).toEqual([
      "INVALID_REQUEST",
      "from",
      "templateName",
      "botId",
      "type",
      "campaignName",
      "content[0]",
      "fallback.type",
      "fallback.sender",
      "fallback.text",
    ]);
  });

  test("an unknown field is ignored", () => {
    expect(read({ colour: "blue" })).toEqual(read());
  });

  test("a body that is no object is refused", () => {
    for (const body of [[], "text", 7, null, undefined, true])
      expect(refused(() => readRcs(body, RULES, LENIENT))).toEqual(["INVALID_REQUEST", ""]);
  });

  test("faults answer 400", () => {
    expect(problemOf(() => read({ type: "OTP" })).status).toBe(400);
    expect(problemOf(() => read({ number: "919876543210" })).status).toBe(400);
  });
});

describe("an RCS message", () => {
  describe("of an authored template", () => {
    test("kind 1, plain text: the template's text", () => {
      expect(compose(TEXT)).toEqual({
        botId: "bot-1",
        templateName: "order_update",
        kind: "text",
        text: "Your order is on its way.",
        suggestions: [],
        cards: [],
        params: [],
      });
    });

    test("kind 2, rich text: the text with its suggestions", () => {
      expect(compose(RICH)).toMatchObject({ kind: "rich", text: "Did it arrive?", suggestions: [reply], cards: [] });
    });

    test("kind 3, text with variables: each value in its place", () => {
      const filled = compose(VARIABLES, { content: [{ params: ["Ada", "4711"] }] });
      expect(filled).toMatchObject({ kind: "text", text: "Hello Ada, order 4711 is yours, Ada." });
      expect(filled.params).toEqual(["Ada", "4711"]);
    });

    test("kind 4, standalone: the template's image is kept", () => {
      expect(compose(CARD)).toMatchObject({ kind: "card", text: "", cards: CARD.cards });
    });

    test("kind 5, standalone: the image is replaced and nothing else", () => {
      const { cards } = compose(CARD, { content: replaced(IMAGE) });
      expect(cards).toEqual([card({ fileUrl: IMAGE, suggestions: [reply] })]);
    });

    test("kind 6, carousel: images go to the cards in order", () => {
      const { kind, cards } = compose(CAROUSEL, { content: replaced(...IMAGES) });
      expect(kind).toBe("carousel");
      expect(cards.map(({ title, fileUrl }) => [title, fileUrl])).toEqual([
        ["A", IMAGES[0]],
        ["B", IMAGES[1]],
        ["C", IMAGES[2]],
      ]);
    });

    test("kind 7, carousel: the template's images are kept", () => {
      expect(compose(CAROUSEL)).toMatchObject({ kind: "carousel", cards: CAROUSEL.cards });
    });

    test("replacing images leaves the stored template as it is", () => {
      const before = structuredClone(CAROUSEL);
      compose(CAROUSEL, { content: replaced(...IMAGES) });
      expect(CAROUSEL).toEqual(before);
    });

    test("a rich text may have variables too", () => {
      const rich = template({ ...RICH, text: "{{1}}?", variables: 1 });
      expect(compose(rich, { content: [{ params: ["Here"] }] })).toMatchObject({ text: "Here?", suggestions: [reply] });
    });

    test("there are as many values as variables, else PARAMS_MISMATCH", () => {
      for (const params of [[], ["a"], ["a", "b", "c"]])
        expect(refused(() => compose(VARIABLES, { content: [{ params }] }))).toEqual([
          "PARAMS_MISMATCH",
          "content[0].params",
        ]);
      expect(problemOf(() => compose(VARIABLES, { content: [{ params: ["a"] }] })).status).toBe(422);
    });

    test("a text with variables does not go without content", () => {
      expect(refused(() => compose(VARIABLES))).toEqual(["PARAMS_MISMATCH", "content[0].params"]);
    });

    test("a text without variables takes no values", () => {
      for (const content of [TEXT, RICH])
        expect(refused(() => compose(content, { content: [{ params: ["a"] }] }))).toEqual([
          "PARAMS_MISMATCH",
          "content[0].params",
        ]);
    });

    test("an empty array of values fits every template without variables", () => {
      for (const content of [TEXT, RICH, CARD, CAROUSEL])
        expect(compose(content, { content: [{ params: [] }] })).toEqual(compose(content));
    });

    test("cards take no values: TEMPLATE_KIND_MISMATCH", () => {
      for (const content of [CARD, CAROUSEL])
        expect(refused(() => compose(content, { content: [{ params: ["a"] }] }))).toEqual([
          "TEMPLATE_KIND_MISMATCH",
          "content",
        ]);
    });

    test("texts take no images: TEMPLATE_KIND_MISMATCH", () => {
      for (const content of [TEXT, RICH, VARIABLES])
        expect(refused(() => compose(content, { content: replaced(IMAGE) }))).toEqual([
          "TEMPLATE_KIND_MISMATCH",
          "content",
        ]);
    });

    test("there is one image for each card or none, else PARAMS_MISMATCH", () => {
      expect(refused(() => compose(CARD, { content: replaced(...IMAGES) }))).toEqual(["PARAMS_MISMATCH", "content"]);
      for (const images of [IMAGES.slice(0, 1), IMAGES.slice(0, 2), [...IMAGES, IMAGE]])
        expect(refused(() => compose(CAROUSEL, { content: replaced(...images) }))).toEqual([
          "PARAMS_MISMATCH",
          "content",
        ]);
    });

    test.each(["draft", "paused"] as const)("one that is %s is not sent, and the message says why", (status) => {
      const { code, faults } = problemOf(() => compose({ ...TEXT, status }));
      expect(code).toBe("TEMPLATE_NOT_FOUND");
      expect(faults).toEqual([{ parameter: "templateName", message: expect.stringContaining(status) }]);
    });

    test("a text has at most 3,072 characters with its values", () => {
      const long = template({ text: "{{1}}{{2}}", variables: 2 });
      const filled = (length: number) => compose(long, { content: [{ params: ["x".repeat(length), "y".repeat(72)] }] });
      expect(filled(3000).text).toHaveLength(3072);
      expect(refused(() => filled(3001))).toEqual(["MESSAGE_TOO_LONG", "content[0].params"]);
    });
  });

  describe("of a template that is unknown or only learned", () => {
    const learned = { origin: "learned", content: template({ ...VARIABLES, text: null }) } as const;

    test.each([
      ["no content", {}, "text", "order_update", []],
      ["an empty content", { content: [] }, "text", "order_update", []],
      ["no values", { content: [{ params: [] }] }, "text", "order_update", []],
      ["values", { content: [{ params: ["Ada", "{{1}}"] }] }, "text", "order_update: Ada, {{1}}", []],
      ["one image", { content: replaced(IMAGE) }, "card", "order_update", [IMAGE]],
      ["two images", { content: replaced(IMAGE, IMAGE) }, "carousel", "order_update", [IMAGE, IMAGE]],
      ["several images", { content: replaced(...IMAGES) }, "carousel", "order_update", IMAGES],
    ])("with %s is shown plainly", (_what, changes, kind, text, images) => {
      for (const known of [null, learned]) {
        const content = composeRcs(read(changes), known);
        expect(content).toMatchObject({ botId: "bot-1", templateName: "order_update", kind, text, suggestions: [] });
        expect(content.cards.map(({ fileUrl }) => fileUrl)).toEqual(images);
      }
    });

    test("is learned with its shape, and without what only this request has", () => {
      const bare = { title: "", description: "", fileUrl: null, suggestions: [] };
      expect(shapeOfRcs(read())).toEqual(template({}));
      expect(shapeOfRcs(read({ content: [{ params: ["a", "b"] }] }))).toEqual(template({ variables: 2 }));
      expect(shapeOfRcs(read({ content: replaced(IMAGE) }))).toEqual(template({ kind: "card", cards: [bare] }));
      expect(shapeOfRcs(read({ content: replaced(...IMAGES) }))).toEqual(
        template({ kind: "carousel", cards: [bare, bare, bare] }),
      );
    });
  });
});

describe("an RCS template", () => {
  const check = (given: unknown) => readTemplate(rcsTemplate, given);
  const faultsIn = (given: unknown): string[] => check(given).faults.map(({ parameter }) => parameter);
  const rich = (...suggestions: unknown[]) => ({ kind: "rich", text: "Hello", suggestions });
  const aCard = (changes: object = {}) => ({ title: "Shoes", description: "On sale", fileUrl: IMAGE, ...changes });
  const standalone = (changes: object = {}) => ({ kind: "card", cards: [aCard(changes)] });
  const carousel = (count: number) => ({ kind: "carousel", cards: Array.from({ length: count }, () => aCard()) });

  test.each(Object.entries({ TEXT, RICH, VARIABLES, CARD, CAROUSEL }))(
    "%s is taken as it is, and again after it was stored",
    (_name, given) => {
      expect(check(given)).toEqual({ template: given, faults: [] });
    },
  );

  test("is approved, without suggestions and cards, unless it says otherwise", () => {
    expect(check({ kind: "text", text: "Hello" })).toEqual({ template: template({ text: "Hello" }), faults: [] });
    expect(check({ ...TEXT, status: "draft" }).template?.status).toBe("draft");
    expect(faultsIn({ ...TEXT, status: "live" })).toEqual(["status"]);
  });

  test("is an object of one of four kinds", () => {
    for (const given of [null, [], "text", 7]) expect(faultsIn(given)).toEqual([""]);
    for (const kind of [undefined, null, "video", "TEXT"]) {
      expect(faultsIn({ ...TEXT, kind })).toEqual(["kind"]);
      expect(faultsIn({ ...RICH, kind })).toEqual(["kind"]);
      expect(faultsIn({ ...CARD, kind })).toEqual(["kind"]);
      expect(faultsIn({ ...CAROUSEL, kind })).toEqual(["kind"]);
    }
  });

  describe("text", () => {
    test("has 1 to 3,072 characters that a phone can show", () => {
      expect(faultsIn({ kind: "text", text: "x".repeat(3072) })).toEqual([]);
      for (const text of [undefined, null, "", " \n", 7, "x".repeat(3073), "\ud83d", "a\0b"]) {
        expect(faultsIn({ kind: "text", text })).toEqual(["text"]);
        expect(faultsIn({ ...RICH, text })).toEqual(["text"]);
      }
    });

    test("has its variables counted", () => {
      expect(check({ kind: "text", text: "{{2}} {{1}} {{2}}" }).template?.variables).toBe(2);
    });

    test("has variables numbered from {{1}} on without a gap", () => {
      for (const text of ["{{2}}", "{{1}} {{3}}", "{{0}}", "{{01}}"])
        expect(faultsIn({ kind: "text", text })).toEqual(["text"]);
    });

    test("has no {#var#}", () => {
      expect(faultsIn({ kind: "text", text: "Hello {#var#}" })).toEqual(["text"]);
      expect(check({ kind: "text", text: "Hello {#var#}" }).faults[0]?.message).toContain("{{1}}");
    });

    test("is not for cards", () => {
      expect(faultsIn({ ...CARD, text: "Hello" })).toEqual(["text"]);
      expect(faultsIn({ ...CARD, text: null })).toEqual([]);
    });
  });

  describe("suggestions", () => {
    test("of every type are taken, and their data is their text unless given", () => {
      const { template: stored, faults } = check(
        rich(
          { type: "reply", text: "Yes" },
          { type: "url", text: "Open", url: "https://shop.example/4711" },
          { type: "dial", text: "Call", number: "+91 98765-43210" },
          { type: "viewLocation", text: "Map", latitude: -90, longitude: 180 },
          { type: "shareLocation", text: "Where?", data: "where" },
          {
            type: "calendar",
            text: "Save",
            title: "Visit",
            startAt: "2026-01-31T18:00:00+01:00",
            endAt: 1769882400000,
          },
        ),
      );
      expect(faults).toEqual([]);
      expect(stored?.suggestions).toEqual([
        { type: "reply", text: "Yes", data: "Yes" },
        { type: "url", text: "Open", data: "Open", url: "https://shop.example/4711" },
        { type: "dial", text: "Call", data: "Call", number: "+919876543210" },
        { type: "viewLocation", text: "Map", data: "Map", latitude: -90, longitude: 180, label: "" },
        { type: "shareLocation", text: "Where?", data: "where" },
        {
          type: "calendar",
          text: "Save",
          data: "Save",
          title: "Visit",
          startAt: 1769878800000,
          endAt: 1769882400000,
          description: "",
        },
      ]);
      expect(check(stored)).toEqual({ template: stored, faults: [] });
    });

    test("are what makes a text rich", () => {
      expect(faultsIn(rich())).toEqual(["suggestions"]);
      expect(faultsIn({ kind: "rich", text: "Hello" })).toEqual(["suggestions"]);
      expect(faultsIn({ ...RICH, kind: "text" })).toEqual(["suggestions"]);
    });

    test("under a text are at most 11, on a card at most 4", () => {
      const many = (count: number) => Array.from({ length: count }, () => reply);
      expect(faultsIn(rich(...many(11)))).toEqual([]);
      expect(faultsIn(rich(...many(12)))).toEqual(["suggestions"]);
      expect(faultsIn(standalone({ suggestions: many(4) }))).toEqual([]);
      expect(faultsIn(standalone({ suggestions: many(5) }))).toEqual(["cards[0].suggestions"]);
    });

    test("of cards stand on the cards", () => {
      expect(faultsIn({ ...CARD, suggestions: [reply] })).toEqual(["suggestions"]);
    });

    test("are objects of a known type", () => {
      expect(faultsIn(rich(null, "x", [], { type: "pay", text: "Pay" }, { text: "Yes" }))).toEqual([
        "suggestions[0]",
        "suggestions[1]",
        "suggestions[2]",
        "suggestions[3].type",
        "suggestions[4].type",
      ]);
      expect(faultsIn({ kind: "rich", text: "Hello", suggestions: null })).toEqual(["suggestions"]);
    });

    test("text has 1 to 25 characters on one line", () => {
      expect(faultsIn(rich({ type: "reply", text: "x".repeat(25) }))).toEqual([]);
      for (const text of [undefined, null, "", " ", 7, "x".repeat(26), "a\nb"])
        expect(faultsIn(rich({ type: "reply", text }))).toEqual(["suggestions[0].text"]);
    });

    test("data has 1 to 2,048 characters", () => {
      expect(faultsIn(rich({ ...reply, data: "x".repeat(2048) }))).toEqual([]);
      for (const data of [null, "", 7, "x".repeat(2049), "\ud83d"])
        expect(faultsIn(rich({ ...reply, data }))).toEqual(["suggestions[0].data"]);
    });

    test("that open an address have an http or https address", () => {
      for (const url of [undefined, "", "shop.example", "javascript:alert(1)", "tel:+919876543210", 7])
        expect(faultsIn(rich({ type: "url", text: "Open", url }))).toEqual(["suggestions[0].url"]);
    });

    test("that dial have an international number with its plus", () => {
      for (const number of [undefined, "", "919876543210", "100", "+0123456789", 919876543210])
        expect(faultsIn(rich({ type: "dial", text: "Call", number }))).toEqual(["suggestions[0].number"]);
    });

    test("that show a place have valid coordinates", () => {
      const place = { type: "viewLocation", text: "Map", latitude: 0, longitude: 0 };
      expect(faultsIn(rich({ ...place, latitude: 90.1 }))).toEqual(["suggestions[0].latitude"]);
      expect(faultsIn(rich({ ...place, longitude: "0" }))).toEqual(["suggestions[0].longitude"]);
      expect(faultsIn(rich({ ...place, label: "x".repeat(101) }))).toEqual(["suggestions[0].label"]);
      expect(faultsIn(rich({ type: "viewLocation", text: "Map" }))).toEqual([
        "suggestions[0].latitude",
        "suggestions[0].longitude",
      ]);
      const search = { type: "viewLocation", text: "Map", query: "bakery" };
      expect(faultsIn(rich(search))).toEqual([]);
      expect(faultsIn(rich({ ...search, latitude: 1, label: "Shop" }))).toEqual([
        "suggestions[0].latitude",
        "suggestions[0].label",
      ]);
      expect(faultsIn(rich({ ...search, query: "" }))).toEqual(["suggestions[0].query"]);
    });

    test("that make an event have a title and an end that is not before the start", () => {
      const event = { type: "calendar", text: "Save", title: "Visit", startAt: 1000, endAt: 1000 };
      expect(faultsIn(rich(event))).toEqual([]);
      expect(faultsIn(rich({ ...event, endAt: 999 }))).toEqual(["suggestions[0].endAt"]);
      expect(faultsIn(rich({ ...event, title: "x".repeat(101) }))).toEqual(["suggestions[0].title"]);
      expect(faultsIn(rich({ ...event, description: "x".repeat(501) }))).toEqual(["suggestions[0].description"]);
      for (const startAt of [undefined, null, "2026-01-31", "2026-01-31T18:00:00", 1.5, -1, 253_402_300_800_000])
        expect(faultsIn(rich({ ...event, startAt }))).toEqual(["suggestions[0].startAt"]);
    });
  });

  describe("cards", () => {
    test("are one for a card and 2 to 10 for a carousel", () => {
      for (const count of [2, 10]) expect(faultsIn(carousel(count))).toEqual([]);
      for (const count of [0, 1, 11]) expect(faultsIn(carousel(count))).toEqual(["cards"]);
      for (const count of [0, 2]) expect(faultsIn({ ...carousel(count), kind: "card" })).toEqual(["cards"]);
      for (const cards of [undefined, null, {}]) expect(faultsIn({ kind: "card", cards })).toEqual(["cards"]);
    });

    test("are not for texts", () => {
      expect(faultsIn({ ...TEXT, cards: [aCard()] })).toEqual(["cards"]);
    });

    test("have a title of at most 200 characters and a description of at most 2,000, or neither", () => {
      expect(faultsIn(standalone({ title: "x".repeat(200), description: "x\n".repeat(1000) }))).toEqual([]);
      expect(check({ kind: "card", cards: [{ fileUrl: IMAGE }] }).template?.cards).toEqual([
        { title: "", description: "", fileUrl: IMAGE, suggestions: [] },
      ]);
      for (const title of [null, 7, "x".repeat(201), "a\nb"])
        expect(faultsIn(standalone({ title }))).toEqual(["cards[0].title"]);
      for (const description of [null, 7, "x".repeat(2001), "a\0b"])
        expect(faultsIn(standalone({ description }))).toEqual(["cards[0].description"]);
    });

    test("have an image or video at an http or https address", () => {
      for (const fileUrl of [undefined, null, "", "cdn.example/a.png", "data:image/png;base64,AA==", 7])
        expect(faultsIn(standalone({ fileUrl }))).toEqual(["cards[0].fileUrl"]);
    });

    test("are objects, and every fault of each is reported at once", () => {
      const cards = [null, aCard({ title: 7, suggestions: [{ type: "url", text: "" }] }), aCard({ fileUrl: null })];
      expect(faultsIn({ kind: "carousel", cards })).toEqual([
        "cards[0]",
        "cards[1].title",
        "cards[1].suggestions[0].text",
        "cards[1].suggestions[0].url",
        "cards[2].fileUrl",
      ]);
    });
  });

  test("has placeholders only where they are filled in", () => {
    expect(faultsIn(standalone({ title: "Hello {{1}}", description: "{#var#}", fileUrl: `${IMAGE}?{{1}}` }))).toEqual([
      "cards[0].title",
      "cards[0].description",
      "cards[0].fileUrl",
    ]);
    expect(faultsIn(rich({ type: "url", text: "{{1}}", data: "{{1}}", url: "https://a.example/{{1}}" }))).toEqual([
      "suggestions[0].text",
      "suggestions[0].url",
    ]);
  });

  test("that was learned lacks the fields that only a user can give", () => {
    expect(faultsIn(shapeOfRcs(read({ content: [{ params: ["a"] }] })))).toEqual(["text"]);
    expect(faultsIn(shapeOfRcs(read({ content: replaced(IMAGE) })))).toEqual(["cards[0].fileUrl"]);
  });
});

describe("a tap", () => {
  test("on a reply is REPLY with its label and data", () => {
    expect(suggestionResponse(reply)).toEqual({ plainText: "Yes", postBack: { data: "yes" }, type: "REPLY" });
  });

  test("on a call is DIALER with the number as data", () => {
    const dial: Suggestion = { type: "dial", text: "Call", data: "call", number: "+919876543210" };
    expect(suggestionResponse(dial)).toEqual({
      plainText: "Call",
      postBack: { data: "+919876543210" },
      type: "DIALER",
    });
  });

  test.each<Suggestion>([
    { type: "url", text: "Do", data: "did", url: IMAGE },
    { type: "viewLocation", text: "Do", data: "did", latitude: 0, longitude: 0, label: "" },
    { type: "shareLocation", text: "Do", data: "did" },
    { type: "calendar", text: "Do", data: "did", title: "", startAt: 0, endAt: 0, description: "" },
  ])("on $type is ACTION with its data", (suggestion) => {
    expect(suggestionResponse(suggestion)).toEqual({ plainText: "Do", postBack: { data: "did" }, type: "ACTION" });
  });
});

describe("whatever comes", () => {
  const value = fc.oneof(
    fc.constantFrom("{{1}}", "{{2}}", "{#var#}", "$&", "$1", "", "{", "}}", "%s", "\n"),
    fc.string({ unit: "binary", maxLength: 20 }).map((written) => written.replaceAll("\0", "")),
  );
  const FIXED = ["<", "|", ">"] as const;

  test("values stand in their places, in order and as they are", () => {
    fc.assert(
      fc.property(fc.array(value, { maxLength: 50 }), (params) => {
        const text = `${FIXED[0]}${params.map((_, index) => `{{${index + 1}}}`).join(FIXED[1])}${FIXED[2]}`;
        const content = compose(template({ text, variables: params.length }), { content: [{ params }] });
        expect(content.text).toBe(`${FIXED[0]}${params.join(FIXED[1])}${FIXED[2]}`);
        expect(content.params).toEqual(params);
      }),
    );
  });

  test("no placeholder is left, in whatever order and however often they stand", () => {
    const places = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 30 });
    fc.assert(
      fc.property(places, (numbers) => {
        const variables = Math.max(...numbers);
        const all = [...numbers, ...Array.from({ length: variables }, (_, index) => index + 1)];
        const text = all.map((number) => `{{${number}}}`).join(" ");
        const { template: stored, faults } = readTemplate(rcsTemplate, { kind: "text", text });
        expect([faults, stored?.variables]).toEqual([[], variables]);
        const params = Array.from({ length: variables }, (_, index) => `v${index + 1}`);
        const content = compose(stored ?? template({}), { content: [{ params }] });
        expect(content.text).toBe(all.map((number) => `v${number}`).join(" "));
      }),
    );
  });

  test("images go to the cards in order", () => {
    fc.assert(
      fc.property(fc.array(fc.webUrl(), { minLength: 2, maxLength: 10 }), (images) => {
        const stored = template({ kind: "carousel", cards: images.map((_, index) => card({ title: String(index) })) });
        const { cards } = compose(stored, { content: replaced(...images) });
        expect(cards).toEqual(images.map((fileUrl, index) => card({ title: String(index), fileUrl })));
      }),
    );
  });

  const json = fc.jsonValue({ maxDepth: 3 });
  const item = fc.oneof(
    json,
    fc.record({ params: fc.oneof(json, fc.array(value)) }),
    fc.record({ fileUrl: fc.oneof(json, fc.webUrl()) }),
    fc.record({ params: json, fileUrl: json }, { requiredKeys: [] }),
  );
  const among = (...good: unknown[]) => fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...good) }, json);
  const fallback = fc.record(
    {
      type: among("sms"),
      sender: among("HELIOG"),
      text: among("Hello"),
      templateId: among("welcome"),
      custom: fc.oneof(json, fc.array(value)),
      afterSeconds: fc.oneof(json, fc.integer({ min: 0, max: 90_000 })),
    },
    { requiredKeys: [] },
  );
  const change = fc.oneof(
    fc.record({ number: among("+919876543210", "919876543210") }),
    fc.record({ from: among("+919876543210", "+91 98765 43210") }),
    fc.record({ templateName: json }),
    fc.record({ botId: json }),
    fc.record({ type: among("TRANS", "PROMO", "OTP") }),
    fc.record({ campaignName: among("autumn") }),
    fc.record({ content: fc.oneof(json, fc.array(item, { maxLength: 12 })) }),
    fc.record({ fallback: fc.oneof(json, fallback) }),
  );
  const body = fc.array(change, { maxLength: 4 }).map((made): object => Object.assign({}, ordinary, ...made));
  const suggestion = fc.record(
    {
      type: among("reply", "url", "dial", "viewLocation", "shareLocation", "calendar"),
      text: among("Yes"),
      data: json,
      url: among(IMAGE),
      number: among("+919876543210"),
      latitude: json,
      longitude: json,
      label: json,
      title: json,
      startAt: json,
      endAt: json,
      description: json,
    },
    { requiredKeys: ["type", "text"] },
  );
  const suggestions = fc.oneof(json, fc.array(suggestion, { maxLength: 5 }));
  const givenTemplate = fc.oneof(
    json,
    fc.record(
      {
        kind: among("text", "rich", "card", "carousel"),
        text: fc.oneof(json, fc.constantFrom("Hello", "{{1}}", "{{2}}", "{{1}} {{2}}", "{#var#}")),
        suggestions,
        cards: fc.oneof(
          json,
          fc.array(
            fc.record(
              { title: among("Shoes"), description: among("On sale"), fileUrl: among(IMAGE), suggestions },
              { requiredKeys: [] },
            ),
            { maxLength: 12 },
          ),
        ),
        status: among("draft", "approved", "paused"),
      },
      { requiredKeys: ["kind"] },
    ),
    fc.constantFrom(TEXT, RICH, VARIABLES, CARD, CAROUSEL),
  );

  test("a body is read, or refused with faults, and never breaks anything", () => {
    let readable = 0;
    fc.assert(
      fc.property(fc.oneof(json, body), (given) => {
        for (const numbers of ["lenient", "strict"] as const) {
          const draft = outcomeOf(() => readRcs(given, RULES, { numbers }));
          const isFine =
            draft instanceof Problem
              ? draft.status === 400 && draft.faults.length > 0
              : draft.recipients[0]?.failure === null;
          expect(isFine).toBe(true);
          if (draft instanceof Problem) continue;
          readable++;
          expect(shapeOfRcs(draft).cards).toHaveLength(composeRcs(draft, null).cards.length);
        }
      }),
      { numRuns: repetitions(400, 2000) },
    );
    expect(readable).toBeGreaterThan(20);
  });

  test("a template is stored or refused, and what is stored is sent or refused with a Problem", () => {
    const filling = fc.oneof(
      fc.constant({}),
      fc.array(value, { maxLength: 3 }).map((params) => ({ content: [{ params }] })),
      fc.array(fc.webUrl(), { maxLength: 4 }).map((images) => ({ content: replaced(...images) })),
    );
    let sent = 0;
    fc.assert(
      fc.property(givenTemplate, filling, (given, filled) => {
        const { template: stored } = readTemplate(rcsTemplate, given);
        if (stored === null) return;
        expect(readTemplate(rcsTemplate, stored)).toEqual({ template: stored, faults: [] });
        const content = outcomeOf(() => compose(stored, filled));
        if (content instanceof Problem) return;
        sent++;
        expect([content.kind, content.cards.length]).toEqual([stored.kind, stored.cards.length]);
      }),
      { numRuns: repetitions(400, 2000) },
    );
    expect(sent).toBeGreaterThan(20);
  });
});
