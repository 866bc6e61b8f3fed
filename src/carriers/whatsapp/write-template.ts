import { hasUrlVariable, withUrlValue } from "../../model/button-url.ts";
import type {
  ChatButton,
  ChatCard,
  ChatTemplate,
  ChatTemplateHeader,
  OtpButton,
  TemplateSubmission,
} from "../../model/chatapp.ts";
import { Problem, type Fault } from "../../model/problem.ts";
import { namesIn } from "../../model/template-names.ts";

type Component = Readonly<Record<string, unknown>>;

/** A new template in the platform's form. Throws the faults of what it does not take. */
export function writeTemplate(name: string, content: ChatTemplate, submission: TemplateSubmission): object {
  const { language, category, names } = content;
  return {
    name,
    language,
    category: category.toUpperCase(),
    ...(category !== "authentication" && { parameter_format: names ? "NAMED" : "POSITIONAL" }),
    components: writeComponents(content, submission),
  };
}

/** Its components, which an edit replaces. */
export function writeComponents(content: ChatTemplate, submission: TemplateSubmission): readonly Component[] {
  const faults = submissionFaults(content, submission);
  if (faults.length > 0) throw new Problem("INVALID_REQUEST", { faults });
  if (content.category === "authentication") return codeComponents(submission.otp ?? { type: "copyCode" });
  const { header, body, names, footer, buttons, offer, cards } = content;
  return [
    ...headerComponents(header, submission.header),
    ...(offer
      ? [{ type: "LIMITED_TIME_OFFER", limited_time_offer: { text: offer.text, has_expiration: offer.expires } }]
      : []),
    bodyComponent(body ?? "", names, submission.params),
    ...(footer === null ? [] : [{ type: "FOOTER", text: footer }]),
    ...buttonsComponents(buttons, submission.buttons),
    ...(cards
      ? [{ type: "CAROUSEL", cards: cards.map((card, index) => writeCard(card, submission.cards?.[index])) }]
      : []),
  ];
}

const writeCard = (
  { header, body, names, buttons }: ChatCard,
  { params, header: file, buttons: examples }: CardExamples = NO_EXAMPLES,
): Component => ({
  components: [
    ...headerComponents(header, file),
    ...(body === null ? [] : [bodyComponent(body, names, params)]),
    ...buttonsComponents(buttons, examples),
  ],
});

type CardExamples = NonNullable<TemplateSubmission["cards"]>[number];

const NO_EXAMPLES: CardExamples = { params: [], buttons: {} };

const buttonsComponents = (buttons: readonly ChatButton[], examples: TemplateSubmission["buttons"]): Component[] =>
  buttons.length === 0
    ? []
    : [{ type: "BUTTONS", buttons: buttons.map((button, index) => writeButton(button, examples[index])) }];

function submissionFaults(content: ChatTemplate, { otp, ...examples }: TemplateSubmission): Fault[] {
  const { category, body, cards = [] } = content;
  const faults: Fault[] = [];
  const fault = (parameter: string, message: string): void => void faults.push({ parameter, message });
  if (category === "authentication") {
    if (otp && otp.type !== "copyCode" && (otp.packageName === undefined || otp.signatureHash === undefined))
      fault("otp", "oneTap and zeroTap need the packageName and the signatureHash of the app.");
    return faults;
  }
  if (otp) fault("otp", "Only a template of the category authentication has a button for codes: leave otp out.");
  if (body === null) fault("body", "The template has no body yet: give it one at /api/templates/{id}.");
  faults.push(...exampleFaults(content, examples, ""));
  for (const [index, card] of cards.entries())
    faults.push(...exampleFaults(card, examples.cards?.[index] ?? NO_EXAMPLES, `cards[${index}].`));
  return faults;
}

type Exemplified = Pick<ChatTemplate, "header" | "variables" | "buttons">;

/** Faults of the examples of a template, or of one of its cards, to which `path` leads. */
function exampleFaults(
  { header: above, variables, buttons: own }: Exemplified,
  { params, header, buttons }: CardExamples,
  path: string,
): Fault[] {
  const faults: Fault[] = [];
  const fault = (parameter: string, message: string): void =>
    void faults.push({ parameter: `${path}${parameter}`, message });
  if (header === undefined && above && "link" in above)
    fault(
      "header",
      `Give the handle of a sample file for the header of type ${above.type}, as the platform's resumable upload returns it; or create this template in the platform's manager, and the sync adds it here.`,
    );
  if (above?.type === "text" && HEADER_VARIABLE.test(above.text ?? "") && header === undefined)
    fault("header", "Give an example for the header's variable.");
  if (params.length !== variables)
    fault("params", `Give one example for each of the ${variables} variables of the body, in order.`);
  for (const [index, button] of own.entries()) {
    const needs =
      button.type === "copyCode" || button.type === "flow" || (button.type === "url" && hasUrlVariable(button.url));
    if (needs && buttons[index] === undefined)
      fault(`buttons.${index}`, `Give an example for the button ${JSON.stringify(button.text)}.`);
  }
  return faults;
}

const HEADER_VARIABLE = /\{\{/;

function headerComponents(header: ChatTemplateHeader | null, example: string | undefined): Component[] {
  if (!header) return [];
  if (header.type === "text") return [textHeader(header.text ?? "", example)];
  if (header.type === "location") return [{ type: "HEADER", format: "LOCATION" }];
  return [{ type: "HEADER", format: header.type.toUpperCase(), example: { header_handle: [example] } }];
}

function textHeader(text: string, example: string | undefined): Component {
  if (!HEADER_VARIABLE.test(text)) return { type: "HEADER", format: "TEXT", text };
  const [name] = namesIn(text);
  return {
    type: "HEADER",
    format: "TEXT",
    text,
    example:
      name === undefined ? { header_text: [example] } : { header_text_named_params: [{ param_name: name, example }] },
  };
}

function bodyComponent(text: string, names: readonly string[] | undefined, params: readonly string[]): Component {
  if (params.length === 0) return { type: "BODY", text };
  const example = names
    ? { body_text_named_params: names.map((name, index) => ({ param_name: name, example: params[index] })) }
    : { body_text: [params] };
  return { type: "BODY", text, example };
}

function writeButton(button: ChatButton, example: string | undefined): Component {
  switch (button.type) {
    case "reply":
      return { type: "QUICK_REPLY", text: button.text };
    case "url":
      return {
        type: "URL",
        text: button.text,
        url: button.url,
        ...(example !== undefined && hasUrlVariable(button.url) && { example: [withUrlValue(button.url, example)] }),
      };
    case "call":
      return { type: "PHONE_NUMBER", text: button.text, phone_number: button.number };
    case "copyCode":
      return { type: "COPY_CODE", example };
    case "flow":
      return { type: "FLOW", text: button.text, flow_id: example };
    case "catalog":
    default:
      return { type: "CATALOG", text: button.text };
  }
}

const OTP_TYPES = { copyCode: "COPY_CODE", oneTap: "ONE_TAP", zeroTap: "ZERO_TAP" } as const;

/** The platform writes the text of an authentication template itself. */
function codeComponents({ type, packageName, signatureHash, expiryMinutes }: OtpButton): readonly Component[] {
  const apps =
    type === "copyCode" ? {} : { supported_apps: [{ package_name: packageName, signature_hash: signatureHash }] };
  // The platform's terms of zero-tap must be accepted with each of these templates.
  const terms = type === "zeroTap" ? { zero_tap_terms_accepted: true } : {};
  return [
    { type: "BODY", add_security_recommendation: true },
    ...(expiryMinutes === undefined ? [] : [{ type: "FOOTER", code_expiration_minutes: expiryMinutes }]),
    { type: "BUTTONS", buttons: [{ type: "OTP", otp_type: OTP_TYPES[type], ...apps, ...terms }] },
  ];
}
