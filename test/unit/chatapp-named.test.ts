import { describe, expect, test } from "vitest";
import { composeChat, shapeOfChat } from "../../src/channels/chatapp/compose.ts";
import { composedFor } from "../../src/channels/draft.ts";
import { readChat } from "../../src/channels/chatapp/read.ts";
import { requestOf } from "../../src/carriers/whatsapp/submit.ts";
import type { ChatContent, ChatTemplate } from "../../src/model/chatapp.ts";
import { Problem } from "../../src/model/problem.ts";
import { faultsIn } from "../support/fake-whatsapp-checks.ts";
import { messageTo, TEMPLATE } from "../support/whatsapp-trial.ts";

const ADDRESSED = { from: "+15550783881", to: "919876543210", type: "template", templateName: "order_update" };
const NAMED: ChatTemplate = {
  ...TEMPLATE,
  body: "Hello {{first_name}}, order {{order}} is here. Bye {{first_name}}!",
  variables: 2,
  names: ["first_name", "order"],
};

const read = (components: object) =>
  readChat(
    { ...ADDRESSED, components },
    { recipientsMax: 1000, now: 1_767_225_600_000 },
    {
      numbers: "lenient",
      defaultRegion: null,
    },
  );
const contentOf = (components: object, template: ChatTemplate | null = NAMED): ChatContent =>
  composedFor(
    composeChat(read(components), template && { name: "order_update", origin: "authored", content: template }),
    0,
  ).content;

function refused(run: () => unknown): { code: string; parameters: string[] } {
  try {
    run();
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return { code: error.code, parameters: error.faults.map(({ parameter }) => parameter) };
  }
  throw new Error("nothing was refused");
}

describe("a template whose variables have names", () => {
  const values = { order: "4711", first_name: "Ada" };

  test.each([
    ["by name, in any order", { values }],
    ["in the order of the names", { params: ["Ada", "4711"] }],
  ])("takes its values %s, and the platform gets the names, as the page components has it", (_, body) => {
    const content = contentOf({ body });
    expect(content).toMatchObject({ text: "Hello Ada, order 4711 is here. Bye Ada!", params: ["Ada", "4711"] });
    const request = requestOf(messageTo(ADDRESSED.to, { content }), NAMED);
    expect(faultsIn(JSON.stringify(request))).toEqual([]);
    expect(request).toMatchObject({
      template: {
        components: [
          {
            type: "body",
            parameters: [
              { type: "text", parameter_name: "first_name", text: "Ada" },
              { type: "text", parameter_name: "order", text: "4711" },
            ],
          },
        ],
      },
    });
  });

  test("has a name in its header too", () => {
    const template: ChatTemplate = { ...NAMED, header: { type: "text", text: "For {{first_name}}" } };
    const content = contentOf({ body: { values }, header: { type: "text", text: "For Ada" } }, template);
    expect(requestOf(messageTo(ADDRESSED.to, { content }), template)).toMatchObject({
      template: {
        components: [
          { type: "header", parameters: [{ type: "text", parameter_name: "first_name", text: "Ada" }] },
          { type: "body" },
        ],
      },
    });
  });

  test("refuses missing and unknown names, and names them", () => {
    const at = "components.body.values";
    expect(refused(() => contentOf({ body: { values: { first_name: "Ada", oder: "4711" } } }))).toEqual({
      code: "PARAMS_MISMATCH",
      parameters: [`${at}.order`, `${at}.oder`],
    });
  });

  test("is told from one with numbers", () => {
    expect(refused(() => contentOf({ body: { values } }, TEMPLATE))).toEqual({
      code: "PARAMS_MISMATCH",
      parameters: ["components.body.values"],
    });
  });

  test.each([
    [{ params: [], values }, "components.body.values"],
    [{}, "components.body.params"],
    [{ values: { first_name: "" } }, "components.body.values.first_name"],
    [{ values: [] }, "components.body.values"],
    [{ values: Object.fromEntries(Array.from({ length: 51 }, (_, n) => [`v${n}`, "a"])) }, "components.body.values"],
  ])("a body %j is refused", (body, parameter) => {
    expect(refused(() => read({ body }))).toEqual({ code: "INVALID_REQUEST", parameters: [parameter] });
  });

  test("that is not known is learned with the number of its values", () => {
    const draft = read({ body: { values } });
    if (draft.kind !== "template") throw new Error("not a template");
    expect(shapeOfChat(draft)).toMatchObject({ variables: 2 });
    expect(contentOf({ body: { values } }, null)).toMatchObject({ text: "order_update: 4711, Ada" });
  });
});
