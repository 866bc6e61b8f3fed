import { isDeepStrictEqual } from "node:util";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { chatTemplate } from "../../src/records/types/chat-template.ts";
import { readTemplate as readStored } from "../support/read-template.ts";
import { composeChat as composeEach, shapeOfChat } from "../../src/channels/chatapp/compose.ts";
import { composedFor } from "../../src/channels/draft.ts";
import { readChat, type ChatDraft, type ChatTemplateDraft } from "../../src/channels/chatapp/read.ts";
import type { ChatButton, ChatContent, ChatTemplate } from "../../src/model/chatapp.ts";
import { Problem } from "../../src/model/problem.ts";
import { repetitions } from "../support/repetitions.ts";

const ordinary = { from: "+15550100199", to: "919876543210", templateName: "order_update", type: "template" };
const withBody = { ...ordinary, components: { body: { params: ["Asha", "ORD-9271"] } } };
const withParams = (...params: unknown[]) => ({ ...ordinary, components: { body: { params } } });
const withHeader = (header: unknown) => ({ ...ordinary, components: { body: { params: ["Asha"] }, header } });
const withLink = (type: string, link: unknown) => withHeader({ type, [type]: { link } });

type Numbers = Parameters<typeof readChat>[2];
const RULES = { recipientsMax: 1000, now: 1_767_225_600_000 };
const ANY_NUMBER: Numbers = { numbers: "lenient", defaultRegion: null };

const read = (body: unknown, numbers: Numbers = ANY_NUMBER): ChatDraft => readChat(body, RULES, numbers);

const composeChat = (...args: Parameters<typeof composeEach>): ChatContent =>
  composedFor(composeEach(...args), 0).content;

function readTemplate(body: unknown): ChatTemplateDraft {
  const draft = read(body);
  if (draft.kind !== "template") throw new Error("not a template");
  return draft;
}

function refused(run: () => unknown): { code: string; parameters: string[]; messages: string[] } {
  try {
    run();
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const { code, faults } = error;
    return { code, parameters: faults.map((fault) => fault.parameter), messages: faults.map((fault) => fault.message) };
  }
  throw new Error("nothing was refused");
}

const refusedBody = (body: unknown, numbers?: Numbers) => refused(() => read(body, numbers));
const invalid = (...parameters: string[]) => ({ code: "INVALID_REQUEST", parameters });

describe("the six kinds of a chat-app request", () => {
  test("kind 1 has no header and no variables", () => {
    expect(read(ordinary)).toEqual({
      kind: "template",
      sender: "+15550100199",
      channel: "chatapp",
      routeClass: "TRANS",
      sendAt: null,
      recipients: [{ number: "919876543210", written: null, failure: null }],
      campaignName: null,
      templateName: "order_update",
      header: null,
      params: [],
    });
  });

  test("kind 2 has variables", () => {
    expect(readTemplate(withBody)).toMatchObject({ header: null, params: ["Asha", "ORD-9271"] });
  });

  test.each([
    [3, { type: "text", text: "Your order" }, { type: "text", text: "Your order" }],
    [
      4,
      { type: "image", image: { link: "https://cdn.example/a.jpg" } },
      { type: "image", link: "https://cdn.example/a.jpg" },
    ],
    [
      5,
      { type: "video", video: { link: "https://cdn.example/a.mp4" } },
      { type: "video", link: "https://cdn.example/a.mp4" },
    ],
    [
      6,
      { type: "document", document: { link: "http://cdn.example/a.pdf" } },
      { type: "document", link: "http://cdn.example/a.pdf" },
    ],
  ])("kind %i has the header %j", (_, given, header) => {
    expect(readTemplate(withHeader(given))).toMatchObject({ header, params: ["Asha"] });
  });

  test("a free text is a kind of its own, and needs no template", () => {
    const { from, to } = ordinary;
    expect(read({ from, to, type: "text", text: { body: "Hello" } })).toEqual({
      kind: "text",
      sender: "+15550100199",
      channel: "chatapp",
      routeClass: "TRANS",
      sendAt: null,
      recipients: [{ number: "919876543210", written: null, failure: null }],
      campaignName: null,
      text: "Hello",
    });
  });
});

describe("the fields of a chat-app request", () => {
  test.each(["from", "to", "templateName", "type"])("%s is required", (field) => {
    expect(refusedBody({ ...ordinary, [field]: undefined })).toMatchObject(invalid(field));
  });

  test.each(["from", "to", "templateName"])("%s is not accepted as null, number, object or empty string", (field) => {
    for (const value of [null, 7, {}, [], true, ""])
      expect(refusedBody({ ...ordinary, [field]: value })).toMatchObject(invalid(field));
  });

  test("a body that is no object is refused", () => {
    for (const body of [null, undefined, [], "text", 7, true]) expect(refusedBody(body)).toMatchObject(invalid(""));
  });

  test("an unknown field is ignored, at every depth", () => {
    const body = { params: [], colour: 1 };
    const header = { type: "image", image: { link: "https://cdn.example/a", colour: 1 }, colour: 1 };
    const components = { body, header, colour: 1 };
    expect(readTemplate({ ...ordinary, components, colour: 1 })).toMatchObject({
      header: { type: "image", link: "https://cdn.example/a" },
      params: [],
    });
  });

  test("all faults of a body are reported at once, each with its path", () => {
    const components = {
      body: { params: ["a", null, 3] },
      header: { type: "image", image: { link: "ftp://cdn.example/a.jpg" }, text: "no" },
    };
    const body = { from: "15550100199", to: "12", templateName: "Order", type: null, campaignName: 3, components };
    expect(refusedBody(body)).toMatchObject(
      invalid(
        "type",
        "from",
        "campaignName",
        "templateName",
        "components.body.params[1]",
        "components.body.params[2]",
        "components.header.image.link",
        "components.header.text",
        "to",
      ),
    );
  });

  describe("from", () => {
    test.each([
      ["+15550100199", "+15550100199"],
      ["+91 (98765) 432-10", "+919876543210"],
      ["+1234567", "+1234567"],
      ["+123456789012345", "+123456789012345"],
    ])("%s is %s", (from, sender) => {
      expect(read({ ...ordinary, from }).sender).toBe(sender);
    });

    test.each([
      "15550100199",
      "+123456",
      "+1234567890123456",
      "+05550100199",
      "++15550100199",
      "1+5550100199",
      "ACME",
      "+",
    ])("%s is refused: it has a plus, a country code and 7 to 15 digits in all", (from) => {
      const { code, parameters, messages } = refusedBody({ ...ordinary, from });
      expect({ code, parameters }).toEqual(invalid("from"));
      expect(messages[0]).toContain("a plus, the country code and the number");
    });
  });

  describe("to", () => {
    test.each([
      ["+919876543210", "919876543210"],
      ["91 98765-43210", "919876543210"],
    ])("%s is read as %s", (to, number) => {
      expect(read({ ...ordinary, to }).recipients).toEqual([{ number, written: null, failure: null }]);
    });

    test("a number that is none is an invalid recipient", () => {
      for (const to of ["12", "abc", "0919876543210", "1234567890123456"])
        expect(refusedBody({ ...ordinary, to })).toMatchObject({ code: "INVALID_RECIPIENT", parameters: ["to"] });
    });

    test("several recipients are refused, whichever way they are given", () => {
      for (const to of ["919876543210,15550100100", "919876543210,", ["919876543210"], ["919876543210", "15550100100"]])
        expect(refusedBody({ ...ordinary, to }, { numbers: "lenient", defaultRegion: "IN" })).toMatchObject(
          invalid("to"),
        );
    });

    test("with a default region a national number is turned international, and what was written is kept", () => {
      const { recipients } = read({ ...ordinary, to: "098765 43210" }, { numbers: "lenient", defaultRegion: "IN" });
      expect(recipients).toEqual([{ number: "919876543210", written: "098765 43210", failure: null }]);
    });

    test("a number that no country could have given out is refused only when the account is strict", () => {
      const to = "155501001";
      expect(read({ ...ordinary, to }).recipients[0]?.number).toBe(to);
      expect(refusedBody({ ...ordinary, to }, { numbers: "strict", defaultRegion: null }).code).toBe(
        "INVALID_RECIPIENT",
      );
    });
  });

  describe("templateName", () => {
    test.each(["a", "order_update_2", "_", "0", "a".repeat(512)])("%s is a name", (templateName) => {
      expect(readTemplate({ ...ordinary, templateName }).templateName).toBe(templateName);
    });

    test.each(["Order", "order-update", "order update", "é", " a", "a\n", "a.b", "a".repeat(513)])(
      "%j is refused: it has lowercase letters, digits and underscores only",
      (templateName) => {
        expect(refusedBody({ ...ordinary, templateName })).toMatchObject(invalid("templateName"));
      },
    );
  });

  describe("type", () => {
    test.each(["poll", "Template", "TEXT", " template", "", "constructor"])(
      "%j is an unsupported type, which is named before other faults",
      (type) => {
        const body = { ...ordinary, text: { body: "Hello" }, type };
        expect(refusedBody(body)).toMatchObject({ code: "UNSUPPORTED_TYPE", parameters: ["type"] });
        expect(refusedBody({ ...body, from: "x", to: "y" })).toMatchObject({
          code: "UNSUPPORTED_TYPE",
          parameters: ["type", "from", "to"],
        });
      },
    );

    test("a type in other letters is read as what it means, so that only the type is named", () => {
      const { from, to } = ordinary;
      expect(refusedBody({ from, to, type: "Text", text: { body: "Hello" } }).parameters).toEqual(["type"]);
    });

    test("anything but a string is no type at all", () => {
      for (const type of [null, 1, {}, ["template"]])
        expect(refusedBody({ ...ordinary, type })).toMatchObject(invalid("type"));
    });
  });

  describe("campaignName", () => {
    test("it is kept, and may be left out", () => {
      expect(read({ ...ordinary, campaignName: "Spring" }).campaignName).toBe("Spring");
      expect(read(ordinary).campaignName).toBeNull();
    });

    test("anything but a plain string of 1 to 100 characters is refused", () => {
      for (const campaignName of ["", "a".repeat(101), "a\nb", "\ud800", null, 7, {}])
        expect(refusedBody({ ...ordinary, campaignName })).toMatchObject(invalid("campaignName"));
    });
  });

  describe("text.body", () => {
    const text = (value: unknown) => ({ ...ordinary, type: "text", text: value });

    test("it has 1 to 4096 characters, and may have lines", () => {
      for (const body of ["a", "two\nlines", "😀".repeat(2048)])
        expect(read(text({ body }))).toMatchObject({ kind: "text", text: body });
    });

    test("anything else is refused", () => {
      for (const body of [undefined, null, 7, "", "a".repeat(4097), "a\0b", "\ud800"])
        expect(refusedBody(text({ body }))).toMatchObject(invalid("text.body"));
    });

    test("text is an object", () => {
      for (const value of [undefined, null, "Hello", ["Hello"]])
        expect(refusedBody(text(value))).toMatchObject(invalid("text"));
    });

    test("fields of templates are not used", () => {
      expect(read({ ...text({ body: "Hello" }), templateName: "NO", components: 7 })).not.toHaveProperty("params");
    });
  });

  describe("components", () => {
    test("it is an object, or left out", () => {
      for (const components of [null, [], "x", 7])
        expect(refusedBody({ ...ordinary, components })).toMatchObject(invalid("components"));
    });

    test("body is required when components is present, with a header too", () => {
      const header = { type: "text", text: "Your order" };
      for (const components of [{}, { body: null }, { body: [] }, { body: "x" }, { header }])
        expect(refusedBody({ ...ordinary, components })).toMatchObject(invalid("components.body"));
    });

    test("body.params is required when body is present, and is an array", () => {
      for (const body of [{}, { params: null }, { params: "Asha" }, { params: { 0: "Asha" } }])
        expect(refusedBody({ ...ordinary, components: { body } })).toMatchObject(invalid("components.body.params"));
    });

    test("params may be empty, and has at most 50 values", () => {
      expect(readTemplate(withParams()).params).toEqual([]);
      expect(readTemplate(withParams(...Array.from({ length: 50 }, () => "a"))).params).toHaveLength(50);
      expect(refusedBody(withParams(...Array.from({ length: 51 }, () => "a")))).toMatchObject(
        invalid("components.body.params"),
      );
    });

    test("no value is null, and each that is none is named by its index", () => {
      expect(refusedBody(withParams("a", null, "b", null))).toMatchObject(
        invalid("components.body.params[1]", "components.body.params[3]"),
      );
      for (const value of [7, true, {}, ["a"], "a".repeat(1025), "a\0b", "\udc00"])
        expect(refusedBody(withParams(value))).toMatchObject(invalid("components.body.params[0]"));
    });

    test.each(["", "  ", "a\nb", "a\tb", "a\r", "a     b"])(
      "a value that the platform refuses is named: %j",
      (value) => {
        expect(refusedBody(withParams("a", value))).toMatchObject(invalid("components.body.params[1]"));
      },
    );

    test("a value stays as it was given", () => {
      const params = [" x ", "a    gap", "a".repeat(1024)];
      expect(readTemplate(withParams(...params)).params).toEqual(params);
    });
  });

  describe("components.header", () => {
    test("it is an object, or left out", () => {
      for (const header of [null, [], "text", 7])
        expect(refusedBody(withHeader(header))).toMatchObject(invalid("components.header"));
    });

    test("type is one of text, image, video, document and location", () => {
      for (const type of [undefined, null, "", "place", "Image", 7, "toString"])
        expect(refusedBody(withHeader({ type }))).toMatchObject(invalid("components.header.type"));
    });

    test("without a type that is known, what the header shows is looked at all the same", () => {
      expect(refusedBody(withHeader({ type: "photo", image: { link: "x" } }))).toMatchObject(
        invalid("components.header.type", "components.header.image.link"),
      );
    });

    test.each(["text", "image", "video", "document", "location"])(
      "type %s has its own member, and no other's",
      (type) => {
        const members: Record<string, unknown> = {
          text: "Your order",
          image: { link: "https://cdn.example/a.jpg" },
          video: { link: "https://cdn.example/a.mp4" },
          document: { link: "https://cdn.example/a.pdf" },
          location: { latitude: 51.4545, longitude: -2.5879, name: "The Shop", address: "Harbour Street 1" },
        };
        const others = Object.keys(members).filter((member) => member !== type);
        expect(refusedBody(withHeader({ type }))).toMatchObject(invalid(`components.header.${type}`));
        expect(refusedBody(withHeader({ type, ...members }))).toMatchObject(
          invalid(...others.map((member) => `components.header.${member}`)),
        );
      },
    );

    test("text has 1 to 60 characters", () => {
      const text = "a".repeat(60);
      expect(readTemplate(withHeader({ type: "text", text })).header).toEqual({ type: "text", text });
      for (const bad of ["", `${text}a`, null, 7, { text: "a" }, "a\0", "\ud800"])
        expect(refusedBody(withHeader({ type: "text", text: bad }))).toMatchObject(invalid("components.header.text"));
    });

    describe.each(["image", "video", "document"])("%s", (type) => {
      test("it is an object with a link", () => {
        for (const media of [null, [], "https://cdn.example/a", 7])
          expect(refusedBody(withHeader({ type, [type]: media }))).toMatchObject(invalid(`components.header.${type}`));
        expect(refusedBody(withHeader({ type, [type]: {} }))).toMatchObject(invalid(`components.header.${type}.link`));
      });

      test("its link starts with http:// or https:// and has at most 2000 characters", () => {
        const longest = `https://cdn.example/${"a".repeat(1980)}`;
        for (const link of ["http://cdn.example/a", "HTTPS://cdn.example/a", longest])
          expect(readTemplate(withLink(type, link)).header).toMatchObject({ type });
        for (const link of [
          "",
          "cdn.example/a",
          "//cdn.example/a",
          "ftp://cdn.example/a",
          "file:///etc/passwd",
          "javascript:alert(1)",
          " https://cdn.example/a",
          "https://",
          "https://a b/",
          `${longest}a`,
          null,
          7,
          ["https://cdn.example/a"],
        ])
          expect(refusedBody(withLink(type, link))).toMatchObject(invalid(`components.header.${type}.link`));
      });
    });

    test("a link is stored normalised, as HTTP clients read it", () => {
      expect(readTemplate(withLink("image", "https://CDN.example/my\n photo.jpg?a=b&c=%20")).header).toEqual({
        type: "image",
        link: "https://cdn.example/my%20photo.jpg?a=b&c=%20",
      });
    });
  });

  describe("the extension of a media link", () => {
    const file = (name: string) => `https://cdn.example/files/${name}`;

    test.each([
      ["image", ["jpg", "jpeg", "png"]],
      ["video", ["mp4", "3gp"]],
      ["document", ["pdf", "doc", "docx", "xls", "xlsx", "ppt", "pptx", "txt"]],
    ])("%s may be %j, in any case", (type, extensions) => {
      for (const extension of extensions.flatMap((each) => [each, each.toUpperCase()]))
        expect(readTemplate(withLink(type, file(`a.${extension}`))).header).toMatchObject({ type });
    });

    test.each([
      ["image", "a.gif"],
      ["image", "a.webp"],
      ["image", "a.jpg.exe"],
      ["image", "a.pdf?as=.jpg"],
      ["image", "a.mp4#.jpg"],
      ["image", "a.3gp"],
      ["video", "a.jpg"],
      ["video", "a.AVI"],
      ["document", "a.png"],
      ["document", "a.7z"],
    ])("%s is not %s, and the parameter is named", (type, name) => {
      expect(refusedBody(withLink(type, file(name)))).toMatchObject({
        code: "MEDIA_TYPE_UNSUPPORTED",
        parameters: [`components.header.${type}.link`],
      });
    });

    test.each(["a", "", "a.", "v1.2", "report.2026", "a.jpg/original", "photo?name=a.gif", "a.jpg;v=1", "a.something"])(
      "a path that tells nothing passes: %s",
      (name) => {
        expect(readTemplate(withLink("image", file(name))).header).toMatchObject({ type: "image" });
      },
    );

    test("the dots of the host are no extension", () => {
      expect(readTemplate(withLink("image", "https://cdn.example.pdf")).header).toMatchObject({ type: "image" });
    });

    test("it is checked only when every other field is valid", () => {
      const body = { ...withLink("image", file("a.gif")), from: "15550100199" };
      expect(refusedBody(body)).toMatchObject(invalid("from"));
    });
  });
});

const plain: ChatTemplate = {
  category: "utility",
  language: "pt_BR",
  status: "approved",
  header: null,
  body: "Hello {{1}}, order {{2}} is on its way. Bye, {{1}}!",
  variables: 2,
  footer: "Acme",
  buttons: [{ type: "reply", text: "Thanks" }],
};

const authored = (changes: Partial<ChatTemplate> = {}) =>
  ({ name: "order_update", origin: "authored", content: { ...plain, ...changes } }) as const;

const learned = (changes: Partial<ChatTemplate> = {}) => ({ ...authored(changes), origin: "learned" }) as const;

const textOf = (content: ChatContent): string => content.text;

describe("a request for an account's own template", () => {
  test("the body is filled in, and language, footer and buttons come with it", () => {
    expect(composeChat(read(withBody), authored())).toEqual({
      kind: "template",
      templateName: "order_update",
      language: "pt_BR",
      header: null,
      text: "Hello Asha, order ORD-9271 is on its way. Bye, Asha!",
      footer: "Acme",
      buttons: [{ type: "reply", text: "Thanks" }],
      params: ["Asha", "ORD-9271"],
    });
  });

  test("a template without variables takes a request without components and one with an empty array", () => {
    const template = authored({ body: "Hello", variables: 0 });
    expect(textOf(composeChat(read(ordinary), template))).toBe("Hello");
    expect(textOf(composeChat(read(withParams()), template))).toBe("Hello");
  });

  test.each([
    [[], 0],
    [["a"], 1],
    [["a", "b", "c"], 3],
  ])("%j are not as many values as there are variables, and both numbers are named", (params, count) => {
    const { code, parameters, messages } = refused(() => composeChat(read(withParams(...params)), authored()));
    expect({ code, parameters }).toEqual({ code: "PARAMS_MISMATCH", parameters: ["components.body.params"] });
    expect(messages[0]).toContain(`${count} ${count === 1 ? "value" : "values"},`);
    expect(messages[0]).toContain("2 variables");
  });

  test("a request without components does not suit a template with variables", () => {
    expect(refused(() => composeChat(read(ordinary), authored())).code).toBe("PARAMS_MISMATCH");
  });

  const shown = {
    text: { type: "text", text: "Your order" },
    image: { type: "image", image: { link: "https://cdn.example/a.jpg" } },
    video: { type: "video", video: { link: "https://cdn.example/a.mp4" } },
    document: { type: "document", document: { link: "https://cdn.example/a.pdf" } },
    none: undefined,
  };
  const stored: Record<keyof typeof shown, ChatTemplate["header"]> = {
    text: { type: "text", text: "Hello {{1}}" },
    image: { type: "image", link: "https://cdn.example/example.jpg" },
    video: { type: "video", link: null },
    document: { type: "document", link: null },
    none: null,
  };
  const types = Object.keys(shown) as (keyof typeof shown)[];
  const template = (type: keyof typeof shown) => authored({ header: stored[type], body: "Hi {{1}}", variables: 1 });

  test.each(types)("a template with header %s takes what the request shows there", (type) => {
    const draft = readTemplate(withHeader(shown[type]));
    expect(composeChat(draft, template(type))).toMatchObject({ header: draft.header, text: "Hi Asha" });
  });

  test.each(types.flatMap((has) => types.filter((given) => given !== has).map((given) => [has, given] as const)))(
    "a template with header %s refuses a request with header %s",
    (has, given) => {
      const draft = read(withHeader(shown[given]));
      expect(refused(() => composeChat(draft, template(has)))).toMatchObject({
        code: "TEMPLATE_KIND_MISMATCH",
        parameters: ["components.header"],
      });
    },
  );

  test("a header and values that both disagree are reported together", () => {
    expect(refused(() => composeChat(read(ordinary), template("image")))).toMatchObject({
      code: "TEMPLATE_KIND_MISMATCH",
      parameters: ["components.header", "components.body.params"],
    });
  });

  test.each(["draft", "paused"] as const)(
    "a template that is %s cannot be sent, and the message says why",
    (status) => {
      const { code, parameters, messages } = refused(() => composeChat(read(withBody), authored({ status })));
      expect({ code, parameters }).toEqual({ code: "TEMPLATE_NOT_FOUND", parameters: ["templateName"] });
      expect(messages[0]).toContain(status);
    },
  );

  test("a value that looks like a placeholder stays as it is", () => {
    const draft = read(withParams("{{2}}", "$&{#var#}{{1}}"));
    expect(textOf(composeChat(draft, authored()))).toBe("Hello {{2}}, order $&{#var#}{{1}} is on its way. Bye, {{2}}!");
  });
});

describe("a request with an unknown template", () => {
  test("it is shown as its name with the values", () => {
    expect(composeChat(read(withBody), null)).toEqual({
      kind: "template",
      templateName: "order_update",
      language: "en",
      header: null,
      text: "order_update: Asha, ORD-9271",
      footer: null,
      buttons: [],
      params: ["Asha", "ORD-9271"],
    });
    expect(textOf(composeChat(read(ordinary), null))).toBe("order_update");
  });

  test("a learned template follows the request, whatever was learned before", () => {
    const before = learned({ header: { type: "image", link: null }, body: null, variables: 7, status: "paused" });
    expect(composeChat(read(withBody), before)).toEqual(composeChat(read(withBody), null));
  });

  test("the learned template has the kind of header and the number of values, and no value", () => {
    const shape = { language: "en", category: "utility", status: "approved", body: null, footer: null, buttons: [] };
    expect(shapeOfChat(readTemplate(ordinary))).toEqual({ ...shape, header: null, variables: 0 });
    expect(shapeOfChat(readTemplate(withHeader({ type: "text", text: "Your order" })))).toEqual({
      ...shape,
      header: { type: "text", text: null },
      variables: 1,
    });
    expect(shapeOfChat(readTemplate(withLink("video", "https://cdn.example/a.mp4")))).toEqual({
      ...shape,
      header: { type: "video", link: null },
      variables: 1,
    });
  });

  test("a free text is sent as it is", () => {
    const draft = read({ ...ordinary, type: "text", text: { body: "{{1}}\n " } });
    expect(composeChat(draft, null)).toEqual({ kind: "text", text: "{{1}}\n " });
  });
});

describe("a template that is to be stored", () => {
  function check(changes: Partial<ChatTemplate>) {
    const { variables: _, ...fields } = { ...plain, ...changes };
    const { template, faults } = readStored(chatTemplate, fields);
    return { template, parameters: faults.map((fault) => fault.parameter), faults };
  }

  test("one that is right is stored as it was given, with the number of its variables", () => {
    expect(check({})).toEqual({ template: plain, parameters: [], faults: [] });
  });

  test.each([
    ["Hello", 0],
    ["{{2}} {{1}} {{2}}", 2],
    ["{{name}} {1}", 1],
  ])("the body %j has %i variables", (body, variables) => {
    expect(check({ body })).toMatchObject({ template: { body, variables }, faults: [] });
  });

  test.each([null, "", " \n", "a\0", "\ud800", "{{1}} {{3}}", "{{0}}", "{{2}}", "{#var#}", "{#var#} {{1}}"])(
    "the body %j is refused",
    (body) => {
      expect(check({ body }).parameters).toEqual(["body"]);
    },
  );

  test("a body has at most 1024 characters", () => {
    expect(check({ body: "a".repeat(1024) }).faults).toEqual([]);
    expect(check({ body: "a".repeat(1025) }).parameters).toEqual(["body"]);
  });

  test("a gap in the numbers is named", () => {
    expect(check({ body: "{{1}} {{3}}" }).faults[0]?.message).toContain("{{2}} is missing");
  });

  test.each(["en", "en_US", "fil", "zh_HK"])("%s is a language", (language) => {
    expect(check({ language }).faults).toEqual([]);
  });

  test.each(["", "EN", "en-US", "english", "en_us"])("%j is no language", (language) => {
    expect(check({ language }).parameters).toEqual(["language"]);
  });

  test("a header's text is one line of 1 to 60 characters with at most {{1}}", () => {
    for (const text of ["Your order", "Hello {{1}}", "a".repeat(60)])
      expect(check({ header: { type: "text", text } }).faults).toEqual([]);
    for (const text of [null, "", " ", "a".repeat(61), "a\nb", "{{2}}", "{{1}} {{2}}", "{#var#}"])
      expect(check({ header: { type: "text", text } }).parameters).toEqual(["header.text"]);
  });

  test("a header's example is a link to such a file, or left out", () => {
    expect(check({ header: { type: "image", link: null } }).template?.header).toEqual({ type: "image", link: null });
    expect(check({ header: { type: "image", link: "https://CDN.example/a.png" } }).template?.header).toEqual({
      type: "image",
      link: "https://cdn.example/a.png",
    });
    for (const link of ["", "cdn.example/a.png", "https://cdn.example/a.pdf"])
      expect(check({ header: { type: "image", link } }).parameters).toEqual(["header.link"]);
  });

  test("a footer is one line of 1 to 60 characters without variables", () => {
    for (const footer of [null, "a".repeat(60)]) expect(check({ footer }).faults).toEqual([]);
    for (const footer of ["", " ", "a".repeat(61), "a\nb", "{{1}}", "{{2}}", "{#var#}"])
      expect(check({ footer }).parameters).toEqual(["footer"]);
  });

  describe("its buttons", () => {
    const reply = (text: string): ChatButton => ({ type: "reply", text });
    const url = (address: string): ChatButton => ({ type: "url", text: "Open", url: address });
    const call = (number: string): ChatButton => ({ type: "call", text: "Call", number });

    test("there are at most ten, two with an address and one of each other type besides replies", () => {
      const many = [url("https://a.example/"), url("https://b.example/"), call("+15550100100")];
      const replies = Array.from({ length: 7 }, (_, i) => reply(`Choice ${i}`));
      expect(check({ buttons: [...many, ...replies] }).faults).toEqual([]);
      expect(check({ buttons: [...many, ...replies, reply("More")] }).parameters).toEqual(["buttons"]);
      expect(check({ buttons: [...many, url("https://c.example/")] }).parameters).toEqual(["buttons"]);
      expect(check({ buttons: [...many, call("+15550100101")] }).parameters).toEqual(["buttons"]);
      for (const type of ["copyCode", "flow", "catalog"] as const) {
        const one: ChatButton = { type, text: "Open" };
        expect(check({ buttons: [...many, one] }).template?.buttons.at(-1)).toEqual(one);
        expect(check({ buttons: [...many, one, one] }).parameters).toEqual(["buttons"]);
      }
    });

    test("a label is one line of 1 to 25 characters without variables", () => {
      expect(check({ buttons: [reply("a".repeat(25))] }).faults).toEqual([]);
      for (const text of ["", " ", "a".repeat(26), "a\nb", "{{1}}"])
        expect(check({ buttons: [reply("Yes"), reply(text)] }).parameters).toEqual(["buttons[1].text"]);
    });

    test("an address is http or https, and may end with one variable", () => {
      const tracked = url("https://a.example/orders?id={{1}}");
      expect(check({ buttons: [tracked] }).template?.buttons).toEqual([tracked]);
      const wrong = ["https://a.example/{{1}}/b", "https://a.example/{{2}}", "https://a.example/{{1}}{{1}}", "{{1}}"];
      for (const address of ["", "a.example", "javascript:alert(1)", ...wrong])
        expect(check({ buttons: [url(address)] }).parameters).toEqual(["buttons[0].url"]);
    });

    test("a number is international, and is stored with its plus", () => {
      expect(check({ buttons: [call("1 (555) 010-0100")] }).template?.buttons).toEqual([call("+15550100100")]);
      for (const number of ["", "12", "0800 123", "call"])
        expect(check({ buttons: [call(number)] }).parameters).toEqual(["buttons[0].number"]);
    });
  });

  test("all that is wrong is found at once", () => {
    const buttons: ChatButton[] = [{ type: "call", text: "", number: "" }];
    const header = { type: "text", text: "" } as const;
    expect(check({ language: "x", header, body: "", footer: "", buttons }).parameters).toEqual([
      "language",
      "header.text",
      "body",
      "footer",
      "buttons[0].text",
      "buttons[0].number",
    ]);
  });
});

// Few letters and many braces: what can be confused should be.
const confusing = fc
  .oneof(
    fc.string({ unit: fc.constantFrom("a", " ", "{", "}", "#", "1", "2", "$", "&", "😀"), maxLength: 8 }),
    fc.constantFrom("{{1}}", "{{2}}", "{#var#}", "$&", "$1", ": ", ", "),
  )
  .filter((value) => value.trim() !== "" && !value.includes("     "));

describe("any chat-app request", () => {
  test("its values come into the text in their order, each untouched, and no placeholder is left", () => {
    const filled = fc.array(confusing, { maxLength: 6 }).chain((params) =>
      fc.record({
        params: fc.constant(params),
        // Every value at least once, in any order; the letters between them cannot become a placeholder.
        places: fc
          .tuple(
            fc.shuffledSubarray([...params.keys()], { minLength: params.length }),
            fc.array(fc.nat(Math.max(0, params.length - 1)), { maxLength: params.length }),
          )
          .map(([each, more]) => [...each, ...more]),
      }),
    );
    fc.assert(
      fc.property(filled, ({ params, places }) => {
        const body = `<${places.map((place) => `{{${place + 1}}}`).join("|")}>`;
        const template = authored({ body, variables: params.length });
        const content = composeChat(read(withParams(...params)), template);
        expect(content).toMatchObject({ params });
        expect(content.text).toBe(`<${places.map((place) => params[place]).join("|")}>`);
      }),
      { numRuns: repetitions(400, 2000) },
    );
  });

  test("the content of one value never changes the text around another", () => {
    fc.assert(
      fc.property(confusing, confusing, confusing, (first, second, other) => {
        const text = (...params: string[]) => textOf(composeChat(read(withParams(...params)), authored()));
        const rest = ` is on its way. Bye, ${first}!`;
        expect(text(first, second)).toBe(`Hello ${first}, order ${second}${rest}`);
        expect(text(first, other)).toBe(`Hello ${first}, order ${other}${rest}`);
      }),
    );
  });

  test("a template that may be stored can be sent with as many values as it says", () => {
    fc.assert(
      fc.property(fc.array(confusing, { minLength: 1, maxLength: 6 }), (pieces) => {
        const { template: content } = readStored(chatTemplate, { ...plain, body: pieces.join("") });
        if (content === null) return;
        const params = Array.from({ length: content.variables }, () => "x");
        const sent = textOf(composeChat(read(withParams(...params)), authored(content)));
        expect(sent).toBe(pieces.join("").replaceAll(/\{\{\d+\}\}/g, "x"));
      }),
      { numRuns: repetitions(400, 2000) },
    );
  });

  test("whatever its template is, learned or unknown, it is made into something", () => {
    const headers = fc.constantFrom(
      undefined,
      { type: "text", text: "Hi" },
      { type: "image", image: { link: "https://a.example/a.png" } },
    );
    fc.assert(
      fc.property(fc.array(confusing, { maxLength: 5 }), headers, fc.boolean(), (params, header, known) => {
        const draft = readTemplate({ ...ordinary, components: { body: { params }, header } });
        const content = composeChat(draft, known ? learned() : null);
        const text = params.length === 0 ? "order_update" : `order_update: ${params.join(", ")}`;
        expect(content).toMatchObject({ text, params, header: draft.header });
        const shape = { name: "order_update", origin: "authored", content: shapeOfChat(draft) } as const;
        expect(composeChat(draft, shape)).toEqual(content);
      }),
    );
  });

  test("exactly the fields that are wrong are named, whichever they are", () => {
    const wrong = {
      type: null,
      from: "15550100199",
      campaignName: "",
      templateName: "Order",
      "components.body.params[0]": null,
      "components.body.params[2]": 7,
      "components.header.image.link": "cdn.example/a.jpg",
      "components.header.text": "no",
      to: "12",
    };
    const subset = fc.subarray(Object.keys(wrong) as (keyof typeof wrong)[], { minLength: 1 });
    fc.assert(
      fc.property(subset, (broken) => {
        const either = (field: keyof typeof wrong, right: unknown) => (broken.includes(field) ? wrong[field] : right);
        const params = [either("components.body.params[0]", "a"), "b", either("components.body.params[2]", "c")];
        const image = { link: either("components.header.image.link", "https://cdn.example/a.jpg") };
        const header = { type: "image", image, text: either("components.header.text", undefined) };
        const body = {
          from: either("from", "+15550100199"),
          to: either("to", "919876543210"),
          templateName: either("templateName", "order_update"),
          type: either("type", "template"),
          campaignName: either("campaignName", "Spring"),
          components: { body: { params }, header },
        };
        expect(refusedBody(body).parameters).toEqual(broken);
      }),
    );
  });

  const settings = fc.constantFrom<Numbers>(
    ANY_NUMBER,
    { numbers: "strict", defaultRegion: null },
    { numbers: "lenient", defaultRegion: "IN" },
  );

  function outcomeOf(body: unknown, numbers: Numbers): ChatDraft | Problem {
    try {
      return read(body, numbers);
    } catch (error) {
      if (error instanceof Problem) return error;
      throw error;
    }
  }

  /** True if a refusal has its reasons, and a draft has every field that sending needs. */
  function isWhole(outcome: ChatDraft | Problem): boolean {
    if (outcome instanceof Problem) return outcome.message !== "" && outcome.faults.length > 0;
    const { sender, recipients } = outcome;
    const content = composeChat(outcome, null);
    return (
      /^\+[1-9][0-9]{6,14}$/.test(sender) &&
      /^[1-9][0-9]{6,14}$/.test(recipients[0]?.number ?? "") &&
      isDeepStrictEqual(JSON.parse(JSON.stringify(content)), content)
    );
  }

  test("arbitrary values are read or refused, and never break anything", () => {
    const anything = fc.anything({ withBoxedValues: true, withNullPrototype: true, withDate: true, withMap: true });
    fc.assert(
      fc.property(fc.oneof(anything, fc.jsonValue()), settings, (body, numbers) => {
        expect(isWhole(outcomeOf(body, numbers))).toBe(true);
      }),
      { numRuns: repetitions(400, 2000) },
    );
  });

  test("a request with arbitrary values in its fields is read or refused, and never breaks anything", () => {
    const junk = fc.oneof(fc.jsonValue(), fc.string({ unit: "binary" }), fc.anything());
    const or = <T>(right: fc.Arbitrary<T>): fc.Arbitrary<unknown> => fc.oneof({ weight: 3, arbitrary: right }, junk);
    const media = or(fc.record({ link: or(fc.oneof(fc.webUrl(), fc.constant("https://a.example/a.jpg"))) }));
    const header = or(
      fc.record(
        {
          type: or(fc.constantFrom("text", "image", "video", "document")),
          text: or(fc.string({ minLength: 1 })),
          image: media,
          video: media,
          document: media,
        },
        { requiredKeys: ["type"] },
      ),
    );
    const components = or(
      fc.record({ body: or(fc.record({ params: or(fc.array(or(fc.string()))) })), header }, { requiredKeys: ["body"] }),
    );
    const body = fc.record(
      {
        from: or(fc.constant("+15550100199")),
        to: or(fc.constantFrom("919876543210", "098765 43210")),
        templateName: or(fc.constant("order_update")),
        type: or(fc.constantFrom("template", "text")),
        text: or(fc.record({ body: or(fc.string({ minLength: 1 })) })),
        campaignName: or(fc.constant("Spring")),
        components,
      },
      { requiredKeys: ["from", "to", "type"] },
    );
    fc.assert(
      fc.property(body, settings, (given, numbers) => {
        expect(isWhole(outcomeOf(given, numbers))).toBe(true);
      }),
      { numRuns: repetitions(600, 3000) },
    );
  });
});
