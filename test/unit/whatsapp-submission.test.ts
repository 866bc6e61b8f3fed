import { afterEach, describe, expect, test } from "vitest";
import { writeTemplate } from "../../src/carriers/whatsapp/write-template.ts";
import type { ChatTemplate, SubmittedTemplate, TemplateSubmission } from "../../src/model/chatapp.ts";
import { Problem } from "../../src/model/problem.ts";
import { FAKE_DEFAULTS } from "../support/fake-whatsapp.ts";
import { templateFaultsIn } from "../support/fake-whatsapp-templates.ts";
import { openTrial, TEMPLATE, type Trial } from "../support/whatsapp-trial.ts";

const NOTHING: TemplateSubmission = { params: [], buttons: {} };
const EXAMPLES: TemplateSubmission = { params: ["Asha", "ORD-9271"], buttons: {} };

function written(content: ChatTemplate, submission: TemplateSubmission): object {
  const body = writeTemplate("order_update", content, submission);
  expect(templateFaultsIn(JSON.stringify(body), true)).toEqual([]);
  return body;
}

function refused(content: ChatTemplate, submission: TemplateSubmission): string[] {
  try {
    writeTemplate("order_update", content, submission);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return error.faults.map(({ parameter }) => parameter);
  }
  throw new Error("nothing was refused");
}

/** Checked against the platform's pages below …/whatsapp/templates: components, and authentication-templates. */
describe("a template that is submitted", () => {
  test("has its texts with examples, and its buttons, as the page components has them", () => {
    const content: ChatTemplate = {
      ...TEMPLATE,
      header: { type: "text", text: "Order {{1}}" },
      footer: "Bye",
      buttons: [
        { type: "reply", text: "Yes" },
        { type: "url", text: "Track", url: "https://shop.example/{{1}}" },
        { type: "url", text: "Shop", url: "https://shop.example/" },
        { type: "call", text: "Call", number: "+15550100199" },
        { type: "copyCode", text: "Copy offer code" },
      ],
    };
    expect(written(content, { ...EXAMPLES, header: "4711", buttons: { 1: "4711", 4: "SAVE20" } })).toEqual({
      name: "order_update",
      language: "en_US",
      category: "UTILITY",
      parameter_format: "POSITIONAL",
      components: [
        { type: "HEADER", format: "TEXT", text: "Order {{1}}", example: { header_text: ["4711"] } },
        { type: "BODY", text: TEMPLATE.body, example: { body_text: [["Asha", "ORD-9271"]] } },
        { type: "FOOTER", text: "Bye" },
        {
          type: "BUTTONS",
          buttons: [
            { type: "QUICK_REPLY", text: "Yes" },
            { type: "URL", text: "Track", url: "https://shop.example/{{1}}", example: ["https://shop.example/4711"] },
            { type: "URL", text: "Shop", url: "https://shop.example/" },
            { type: "PHONE_NUMBER", text: "Call", phone_number: "+15550100199" },
            { type: "COPY_CODE", example: "SAVE20" },
          ],
        },
      ],
    });
  });

  test("has its names with examples", () => {
    const content: ChatTemplate = { ...TEMPLATE, body: "Hello {{first_name}}", variables: 1, names: ["first_name"] };
    expect(written(content, { ...NOTHING, params: ["Ada"] })).toMatchObject({
      parameter_format: "NAMED",
      components: [
        {
          type: "BODY",
          text: "Hello {{first_name}}",
          example: { body_text_named_params: [{ param_name: "first_name", example: "Ada" }] },
        },
      ],
    });
  });

  const app = { packageName: "com.example.shop", signatureHash: "K8a/AINcGX7" };
  const apps = [{ package_name: app.packageName, signature_hash: app.signatureHash }];
  test.each<[NonNullable<TemplateSubmission["otp"]>, object]>([
    [{ type: "copyCode" }, { otp_type: "COPY_CODE" }],
    [
      { type: "oneTap", ...app },
      { otp_type: "ONE_TAP", supported_apps: apps },
    ],
    [
      { type: "zeroTap", ...app },
      { otp_type: "ZERO_TAP", supported_apps: apps, zero_tap_terms_accepted: true },
    ],
  ])("for codes has the button %j", (otp, button) => {
    const content: ChatTemplate = {
      ...TEMPLATE,
      category: "authentication",
      body: "{{1}} is your code.",
      variables: 1,
    };
    expect(written(content, { ...NOTHING, otp: { ...otp, expiryMinutes: 5 } })).toEqual({
      name: "order_update",
      language: "en_US",
      category: "AUTHENTICATION",
      components: [
        { type: "BODY", add_security_recommendation: true },
        { type: "FOOTER", code_expiration_minutes: 5 },
        { type: "BUTTONS", buttons: [{ type: "OTP", ...button }] },
      ],
    });
  });

  test.each<[string, Partial<ChatTemplate>, TemplateSubmission, string]>([
    ["too few examples", {}, NOTHING, "params"],
    ["no example for its header", { header: { type: "text", text: "{{1}}" } }, EXAMPLES, "header"],
    ["a file above", { header: { type: "image", link: null } }, EXAMPLES, "header"],
    [
      "a link without an example",
      { buttons: [{ type: "url", text: "Track", url: "https://shop.example/{{1}}" }] },
      EXAMPLES,
      "buttons.0",
    ],
    ["a form without its id", { buttons: [{ type: "flow", text: "Book" }] }, EXAMPLES, "buttons.0"],
    ["a button for codes", {}, { ...EXAMPLES, otp: { type: "copyCode" } }, "otp"],
    ["a tap without its app", { category: "authentication" }, { ...NOTHING, otp: { type: "oneTap" } }, "otp"],
  ])("is refused with %s, and the field is named", (_, changes, submission, parameter) => {
    expect(refused({ ...TEMPLATE, ...changes }, submission)).toEqual([parameter]);
  });
});

describe("a submission to the platform", () => {
  let trial: Trial | null = null;
  afterEach(async () => {
    await trial?.close();
    trial = null;
  });
  const { businessAccountId } = FAKE_DEFAULTS;
  async function submit(content: ChatTemplate, settings: object = { businessAccountId }): Promise<SubmittedTemplate> {
    trial ??= await openTrial({}, {}, settings);
    const { carrier } = trial;
    if (!carrier.submitTemplate) throw new Error("the carrier takes no templates");
    return carrier.submitTemplate("order_update", content, EXAMPLES);
  }

  test("creates a template, and edits it by the id that the platform gave", async () => {
    const id = "594425479261596";
    expect(await submit(TEMPLATE)).toEqual({ kind: "submitted", id, status: "PENDING", approval: "draft" });
    const platform = { id, status: "APPROVED", reason: null, quality: null };
    const edited = { ...TEMPLATE, footer: "Bye", platform, businessAccountId };
    expect(await submit(edited)).toEqual({ kind: "submitted", id, status: null, approval: null });
    expect(trial?.fake.submitted.map((each) => Object.keys(each.body))).toEqual([
      ["name", "language", "category", "parameter_format", "components"],
      ["components"],
    ]);
  });

  test("creates a template that another business account has", async () => {
    const platform = { id: "1", status: "APPROVED", reason: null, quality: null };
    expect(await submit({ ...TEMPLATE, platform, businessAccountId: "another" })).toMatchObject({ status: "PENDING" });
  });

  test("names the platform's reason for a refusal, without numbers and tokens", async () => {
    trial = await openTrial({}, {}, { businessAccountId });
    trial.fake.next({ kind: "error", code: 100, details: `+919876543210 ${FAKE_DEFAULTS.token}` });
    expect(await submit(TEMPLATE)).toEqual({ kind: "refused", description: "The platform refused the template: … …" });
    trial.fake.next({ kind: "status", status: 502 });
    expect(await submit(TEMPLATE)).toMatchObject({ description: "The platform refused the template: HTTP 502" });
    trial.fake.next({ kind: "cut", when: "before" });
    expect(await submit(TEMPLATE)).toMatchObject({
      description: expect.stringMatching(/^The platform did not answer/),
    });
  });

  test("needs the id of the business account", async () => {
    expect(await submit(TEMPLATE, {})).toMatchObject({
      kind: "refused",
      description: expect.stringContaining("businessAccountId"),
    });
    expect(trial?.fake.requests).toBe(0);
  });
});
