import { describe, expect, test } from "vitest";
import { composeChat } from "../../src/channels/chatapp/compose.ts";
import { composedFor } from "../../src/channels/draft.ts";
import { readChat } from "../../src/channels/chatapp/read.ts";
import { tappables } from "../../src/carriers/simulator/tap.ts";
import { requestOf } from "../../src/carriers/whatsapp/submit.ts";
import type { ChatButton, ChatContent, ChatTemplate } from "../../src/model/chatapp.ts";
import { Problem, type Fault } from "../../src/model/problem.ts";
import { faultsIn } from "../support/fake-whatsapp-checks.ts";
import { messageTo, TEMPLATE } from "../support/whatsapp-trial.ts";

const ADDRESSED = { from: "+15550783881", to: "919876543210", type: "template", templateName: "order_update" };
const RULES = { recipientsMax: 1000, now: 1_767_225_600_000 };

const TRACK: ChatButton = { type: "url", text: "Track", url: "https://shop.example/orders/{{1}}" };
const SHOP: ChatButton = { type: "url", text: "Shop", url: "https://shop.example/" };
const YES: ChatButton = { type: "reply", text: "Yes" };
const CALL: ChatButton = { type: "call", text: "Call", number: "+15550100199" };
const COPY: ChatButton = { type: "copyCode", text: "Copy offer code" };
const FORM: ChatButton = { type: "flow", text: "Book" };
const CATALOG: ChatButton = { type: "catalog", text: "View catalog" };

const templateWith = (...buttons: ChatButton[]): ChatTemplate => ({
  ...TEMPLATE,
  body: "Hello",
  variables: 0,
  buttons,
});

function contentWith(template: ChatTemplate, buttons: unknown): ChatContent {
  const draft = readChat({ ...ADDRESSED, components: { body: { params: [] }, buttons } }, RULES, {
    numbers: "lenient",
    defaultRegion: null,
  });
  const named = { name: "order_update", origin: "authored" as const, content: template };
  return composedFor(composeChat(draft, named), 0).content;
}

/** The components of the request to the platform. */
function componentsOf(template: ChatTemplate, buttons: unknown = []): unknown {
  const request = requestOf(messageTo(ADDRESSED.to, { content: contentWith(template, buttons) }), template);
  expect(faultsIn(JSON.stringify(request))).toEqual([]);
  return "type" in request && request.type === "template" ? request.template.components : null;
}

function refused(run: () => unknown): { code: string; faults: readonly Fault[] } {
  try {
    run();
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return error;
  }
  throw new Error("nothing was refused");
}

describe("the buttons of a template message", () => {
  /** The page of the platform that each was checked against, below …/whatsapp/templates. */
  test.each<[page: string, button: ChatButton, value: object, sent: object]>([
    [
      "components#url-buttons",
      TRACK,
      { text: "4711" },
      { sub_type: "url", parameters: [{ type: "text", text: "4711" }] },
    ],
    [
      "components#quick-reply-buttons",
      YES,
      { payload: "confirm-4711" },
      { sub_type: "quick_reply", parameters: [{ type: "payload", payload: "confirm-4711" }] },
    ],
    [
      "marketing-templates/coupon-templates",
      COPY,
      { code: "SAVE20" },
      { sub_type: "copy_code", parameters: [{ type: "coupon_code", coupon_code: "SAVE20" }] },
    ],
    [
      "flows/guides/sendingaflow",
      FORM,
      { flowToken: "t-1", data: { customer: "4711" } },
      {
        sub_type: "flow",
        parameters: [{ type: "action", action: { flow_token: "t-1", flow_action_data: { customer: "4711" } } }],
      },
    ],
    [
      "marketing-templates/catalog-templates",
      CATALOG,
      { productId: "sku-1" },
      { sub_type: "CATALOG", parameters: [{ type: "action", action: { thumbnail_product_retailer_id: "sku-1" } }] },
    ],
  ])("are sent as the page %s has them", (_, button, value, sent) => {
    const components = componentsOf(templateWith(SHOP, button), [{ index: 1, ...value }]);
    expect(components).toEqual([{ type: "button", index: "1", ...sent }]);
  });

  test("without values are no components, but a form always needs one", () => {
    expect(componentsOf(templateWith(YES, SHOP, CALL, CATALOG))).toBeUndefined();
    expect(componentsOf(templateWith(FORM))).toEqual([
      {
        type: "button",
        sub_type: "flow",
        index: "0",
        parameters: [{ type: "action", action: { flow_token: "unused" } }],
      },
    ]);
  });

  test("keep the order of the template, whatever that of the values is", () => {
    const values = [
      { index: 2, payload: "no" },
      { index: 0, text: "4711" },
      { index: 1, payload: "yes" },
    ];
    expect(componentsOf(templateWith(TRACK, YES, { ...YES, text: "No" }), values)).toMatchObject([
      { index: "0", sub_type: "url" },
      { index: "1", parameters: [{ payload: "yes" }] },
      { index: "2", parameters: [{ payload: "no" }] },
    ]);
  });

  test("on a simulated phone have their values, and a tap sends the payload back", () => {
    const values = [
      { index: 0, text: "4711?a=b" },
      { index: 1, payload: "confirm" },
      { index: 2, code: "SAVE20" },
    ];
    const content = contentWith(templateWith(TRACK, YES, COPY, FORM), values);
    expect(content).toMatchObject({
      buttons: [{ ...TRACK, url: "https://shop.example/orders/4711?a=b" }, { ...YES, value: "confirm" }, { ...COPY, value: "SAVE20" }, FORM],
    });
    expect(tappables(content).map(({ text, sent }) => [text, sent.data, sent.type])).toEqual([
      ["Track", "https://shop.example/orders/4711?a=b", "ACTION"],
      ["Yes", "confirm", "REPLY"],
    ]);
  }); // prettier-ignore

  test.each<[string, readonly ChatButton[], readonly object[], string]>([
    ["a link without the value of its variable", [TRACK], [], "components.buttons"],
    ["a code button without a code", [COPY], [], "components.buttons"],
    ["a value for a link without a variable", [SHOP], [{ index: 0, text: "a" }], "components.buttons[0].text"],
    ["a value for a call", [CALL], [{ index: 0, text: "a" }], "components.buttons[0].text"],
    ["a code for a reply", [YES], [{ index: 0, code: "a" }], "components.buttons[0].code"],
    ["a place that the template does not have", [YES], [{ index: 1, payload: "a" }], "components.buttons[0].index"],
    ["two values for one button", [YES], [{ index: 0, payload: "a" }, { index: 0, payload: "b" }], "components.buttons[1].index"],
  ])("%s are refused, and the field is named", (_, buttons, values, parameter) => {
    const { code, faults } = refused(() => contentWith(templateWith(...buttons), values));
    expect([code, faults.map((fault) => fault.parameter)]).toEqual(["PARAMS_MISMATCH", [parameter]]);
  }); // prettier-ignore

  test.each<[string, unknown, string]>([
    ["no array", {}, "components.buttons"],
    ["an index that is none", [{ index: -1 }], "components.buttons[0].index"],
    ["no index", [{ text: "a" }], "components.buttons[0].index"],
    ["an empty value", [{ index: 0, text: "" }], "components.buttons[0].text"],
    ["a payload that is too long", [{ index: 0, payload: "x".repeat(129) }], "components.buttons[0].payload"],
    ["a code that is too long", [{ index: 0, code: "x".repeat(16) }], "components.buttons[0].code"],
    ["data that is no object", [{ index: 0, data: "a" }], "components.buttons[0].data"],
    ["data that is too long", [{ index: 0, data: { a: "x".repeat(5000) } }], "components.buttons[0].data"],
    ["eleven values", Array.from({ length: 11 }, () => ({ index: 0 })), "components.buttons"],
  ])("a request with %s is refused", (_, values, parameter) => {
    const { code, faults } = refused(() => contentWith(templateWith(TRACK), values));
    expect([code, faults.map((fault) => fault.parameter)]).toEqual(["INVALID_REQUEST", [parameter]]);
  });

  test("a template that is not known takes any values, so that a first request works", () => {
    const draft = readChat(
      { ...ADDRESSED, components: { body: { params: [] }, buttons: [{ index: 3, text: "4711" }] } },
      RULES,
      { numbers: "lenient", defaultRegion: null },
    );
    expect(composedFor(composeChat(draft, null), 0).content).toMatchObject({ buttons: [] });
  });
});
