import { templates } from "../../records/record-types.ts";
import { isShowable } from "../../lib/text.ts";
import { nullable, Type } from "../../lib/schema.ts";
import { submitTemplate } from "../../pipeline/sync-templates.ts";
import { CARDS_MAX } from "../../model/chatapp.ts";
import { Problem } from "../../model/problem.ts";
import { templateIn, versionsOf } from "../../model/template-language.ts";
import { languageField } from "../../records/types/chat-template-version.ts";
import { keyedRoute, type AuthenticCall, type Services, type WithBody } from "../route.ts";
import { EXAMPLE_ID, find } from "./records.ts";

async function submit(services: Services, call: WithBody<AuthenticCall, typeof SubmitBody>): Promise<object> {
  const { accountId, id } = await find(templates, services, call);
  const record = services.catalog.find(accountId, "chatTemplate", id);
  if (!record)
    throw new Problem("INVALID_REQUEST", { message: "Only chat-app templates are submitted to a platform." });
  const { carrier: name, language, params, header, buttons, cards, otp } = call.body;
  if (language !== undefined && versionsOf(record.content).every((version) => version.language !== language)) {
    const message = "The template has no such language: add it to languages of the template first.";
    throw new Problem("INVALID_REQUEST", { faults: [{ parameter: "language", message }] });
  }
  const carrier = services.carriers.find(accountId, name);
  if (!carrier) {
    const message = "The account has no open carrier of this name: GET /api/carriers lists them.";
    throw new Problem("INVALID_REQUEST", { faults: [{ parameter: "carrier", message }] });
  }
  const submission = {
    params,
    buttons,
    ...(header !== undefined && { header }),
    ...(cards && { cards }),
    ...(otp && { otp }),
  };
  await submitTemplate(services, record, carrier, submission, language);
  const { content } = services.catalog.find(accountId, "chatTemplate", id) ?? record;
  const { platform = null, status } = templateIn(content, language ?? content.language);
  return { id, name: record.name, status, platform };
}

const EXAMPLE_MAX = 1000;

const sample = (description: string) => {
  const rule = (parameter: string): string => `${parameter} is a string of 1 to ${EXAMPLE_MAX} characters.`;
  return Type.String({
    minLength: 1,
    maxLength: EXAMPLE_MAX,
    description,
    error: rule,
    check: (value) => (value.trim() !== "" && isShowable(value) ? null : rule),
  });
};

const EXAMPLES = {
  params: Type.Default(
    Type.Array(sample("Example."), {
      maxItems: 50,
      description: "An example of each variable of the body, in order. The platform's reviewers see them.",
    }),
    [],
  ),
  header: Type.Optional(
    sample("Example of the header's variable; for a file, its handle from the platform's resumable upload."),
  ),
  buttons: Type.Default(
    Type.Record(sample("Example."), {
      description:
        "Examples for the buttons, by place from 0: the variable of a URL, or the code to copy; for a form, its ID at the platform.",
    }),
    {},
  ),
};

const SubmitBody = Type.Object({
  carrier: Type.String({
    minLength: 1,
    maxLength: 100,
    description: "Name of the carrier whose platform gets the template.",
  }),
  language: Type.Optional(
    languageField("Language to submit, if the template has several. Defaults to the template's own."),
  ),
  ...EXAMPLES,
  cards: Type.Optional(
    Type.Array(Type.Object(EXAMPLES), { maxItems: CARDS_MAX, description: "Examples for the cards, in order." }),
  ),
  otp: Type.Optional(
    Type.Object(
      {
        type: Type.Union([Type.Literal("copyCode"), Type.Literal("oneTap"), Type.Literal("zeroTap")], {
          description: "copyCode: the user copies the code. oneTap: a tap fills it in. zeroTap: the app gets it.",
        }),
        packageName: Type.Optional(sample("Package of the Android app that takes the code.")),
        signatureHash: Type.Optional(sample("Hash of the app's signature, 11 characters.")),
        expiryMinutes: Type.Optional(
          Type.Integer({ minimum: 1, maximum: 90, description: "Life of the code, which the footer then names." }),
        ),
      },
      { description: "Button of an authentication template. Defaults to copyCode." },
    ),
  ),
});

/** Submits a chat-app template for the review of its platform. */
export const submitChatTemplate = keyedRoute({
  method: "POST",
  path: "/api/templates/:id/submit",
  family: "plain",
  scope: "manage",
  testKeys: null,
  group: "Templates",
  summary: "Submit a template to its platform",
  description:
    "Creates the chat-app template at the platform of a carrier, or replaces the content of the one that the platform has, and starts its review. The result arrives by webhook or with the next sync. " +
    "The template cannot be sent until the platform has approved it.",
  params: { id: { meaning: "Template ID.", example: EXAMPLE_ID } },
  problems: ["RECORD_NOT_FOUND", "TEMPLATE_REFUSED"],
  body: SubmitBody,
  requestExamples: {
    "with examples": { carrier: "wa", params: ["Ada", "4711"], buttons: { "0": "4711" } },
    "one of several languages": { carrier: "wa", language: "en", params: ["Ada", "4711"], buttons: { "0": "4711" } },
  },
  response: Type.Object(
    {
      id: Type.String({ description: "Template ID." }),
      name: Type.String({ description: "Template name." }),
      status: Type.String({ description: "draft until the platform has approved it." }),
      platform: nullable(Type.Record(Type.Unknown()), "The platform's words about it, as in the template."),
    },
    { title: "SubmittedTemplate" },
  ),
  responseExample: {
    id: EXAMPLE_ID,
    name: "order_status",
    status: "draft",
    platform: { id: "594425479261596", status: "PENDING", reason: null, quality: null },
  },
  handle: submit,
});
