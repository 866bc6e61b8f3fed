import { describe, expect, test } from "vitest";
import { requestOf } from "../../src/carriers/whatsapp/submit.ts";
import type { ChatTemplate } from "../../src/model/chatapp.ts";
import type { Message } from "../../src/model/message.ts";
import { faultsIn } from "../support/fake-whatsapp-checks.ts";
import { messageTo, TEMPLATE, templateContent } from "../support/whatsapp-trial.ts";

const REQUEST_ID = "019b5f0a-7c00-7000-8000-000000000001";
const LINK = "https://cdn.example/files/Invoice%20May.pdf?v=2";

const said = (content: Message["content"], template: ChatTemplate | null = TEMPLATE, more: Partial<Message> = {}) => {
  const request = requestOf(messageTo("919876543210", { requestId: REQUEST_ID, content, ...more }), template);
  expect(faultsIn(JSON.stringify(request))).toEqual([]);
  return request;
};

const COMMON = {
  messaging_product: "whatsapp",
  recipient_type: "individual",
  to: "919876543210",
  biz_opaque_callback_data: `${REQUEST_ID}:1`,
};
const golden = (components?: object[]): object => ({
  ...COMMON,
  type: "template",
  template: { name: "order_update", language: { code: "en_US" }, ...(components && { components }) },
});
const BODY = {
  type: "body",
  parameters: [
    { type: "text", text: "Asha" },
    { type: "text", text: "ORD-9271" },
  ],
};

describe("a WhatsApp request", () => {
  test("kind 1, without header and variables, has no components", () => {
    expect(said(templateContent({ params: [] }))).toEqual(golden());
  });

  test("kind 2 has its values in order", () => {
    expect(said(templateContent())).toEqual(golden([BODY]));
  });

  test.each([
    ["the value alone", "{{1}} for you", "News", "News"],
    ["the finished line", "Order {{1}} is ready", "Order 17 is ready", "17"],
    ["a value beside a fixed text", "Order {{1}}", "17", "17"],
    ["the fixed text alone", "Order {{1}}", "Order ", "Order "],
  ])("kind 3 has the value of the header's variable, given as %s", (_, stored, given, value) => {
    const template = { ...TEMPLATE, header: { type: "text", text: stored } } as const;
    const header = { type: "header", parameters: [{ type: "text", text: value }] };
    expect(said(templateContent({ header: { type: "text", text: given } }), template)).toEqual(golden([header, BODY]));
  });

  test.each([
    ["has no variable", { ...TEMPLATE, header: { type: "text", text: "Your order" } } as const],
    ["is not known", null],
  ])("kind 3 has no header if the template's %s", (_, template) => {
    expect(said(templateContent({ header: { type: "text", text: "Your order" } }), template)).toEqual(golden([BODY]));
  });

  test.each(["image", "video"] as const)("kinds 4 and 5 have the link of their %s", (type) => {
    const header = { type: "header", parameters: [{ type, [type]: { link: LINK } }] };
    expect(said(templateContent({ header: { type, link: LINK } }))).toEqual(golden([header, BODY]));
  });

  test.each([
    [LINK, "Invoice May.pdf"],
    ["https://cdn.example/a/100%.pdf", "100%.pdf"],
    ["https://cdn.example/a/%2e%2e%2Fb.pdf", "..b.pdf"],
    ["https://cdn.example/", undefined],
  ])("kind 6, with a document at %s, is named %s on the phone", (link, filename) => {
    const document = filename === undefined ? { link } : { link, filename };
    const header = { type: "header", parameters: [{ type: "document", document }] };
    expect(said(templateContent({ header: { type: "document", link } }))).toEqual(golden([header, BODY]));
  });

  test("an authentication message has the code in the text and in the button", () => {
    const template = { ...TEMPLATE, category: "authentication", body: "{{1}} is your code.", variables: 1 } as const;
    const parameters = [{ type: "text", text: "482913" }];
    const components = [
      { type: "body", parameters },
      { type: "button", sub_type: "url", index: "0", parameters },
    ];
    const content = templateContent({ params: ["482913"] });
    expect(said(content, template)).toEqual(golden(components));
    expect(said(content, null, { routeClass: "OTP" })).toEqual(golden(components));
    expect(said(content, TEMPLATE, { routeClass: "OTP" })).toEqual(golden([components[0] ?? {}]));
  });

  test("within a session a message is plain text", () => {
    expect(said({ kind: "text", text: "Yes, until six." })).toEqual({
      ...COMMON,
      type: "text",
      text: { body: "Yes, until six." },
    });
  });

  test.each([
    ["a text message", { text: "Hello", encoding: "gsm7", flash: false } as const],
    ["what was erased", { text: "", erased: true } as const],
  ])("a WhatsApp request is never %s", (_, content) => {
    expect(requestOf(messageTo("919876543210", { content }), null)).toMatchObject({ code: "NOT_CHATAPP" });
  });
});
