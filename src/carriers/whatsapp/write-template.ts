import { hasUrlVariable, withUrlValue } from "../../model/button-url.ts";
import type { ChatButton, ChatTemplate, OtpButton, TemplateSubmission } from "../../model/chatapp.ts";
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
  const { header, body, footer, buttons } = content;
  return [
    ...(header?.type === "text" ? [headerComponent(header.text ?? "", submission.header)] : []),
    bodyComponent(body ?? "", content, submission.params),
    ...(footer === null ? [] : [{ type: "FOOTER", text: footer }]),
    ...(buttons.length === 0
      ? []
      : [{ type: "BUTTONS", buttons: buttons.map((button, index) => writeButton(button, submission.buttons[index])) }]),
  ];
}

function submissionFaults(content: ChatTemplate, { params, header, buttons, otp }: TemplateSubmission): Fault[] {
  const { category, header: above, body, variables, buttons: own } = content;
  const faults: Fault[] = [];
  const fault = (parameter: string, message: string): void => void faults.push({ parameter, message });
  if (category === "authentication") {
    if (otp && otp.type !== "copyCode" && (otp.packageName === undefined || otp.signatureHash === undefined))
      fault("otp", "oneTap and zeroTap need the packageName and the signatureHash of the app.");
    return faults;
  }
  if (otp) fault("otp", "Only a template of the category authentication has a button for codes: leave otp out.");
  if (body === null) fault("body", "The template has no body yet: give it one at /api/templates/{id}.");
  if (above && above.type !== "text")
    fault(
      "header",
      `The platform needs a sample file for a header of type ${above.type}: create this template in the platform's manager; the sync adds it here.`,
    );
  if (above?.type === "text" && HEADER_VARIABLE.test(above.text ?? "") && header === undefined)
    fault("header", "Give an example for the header's variable.");
  if (params.length !== variables)
    fault("params", `Give one example for each of the ${variables} variables of the body, in order.`);
  for (const [index, button] of own.entries()) {
    if (button.type === "flow")
      fault("buttons", "A form (a flow) is connected in the platform's manager: create this template there.");
    const needs = button.type === "copyCode" || (button.type === "url" && hasUrlVariable(button.url));
    if (needs && buttons[index] === undefined)
      fault(`buttons.${index}`, `Give an example for the button ${JSON.stringify(button.text)}.`);
  }
  return faults;
}

const HEADER_VARIABLE = /\{\{/;

function headerComponent(text: string, example: string | undefined): Component {
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

function bodyComponent(text: string, { names }: ChatTemplate, params: readonly string[]): Component {
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
    case "catalog":
    case "flow":
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
