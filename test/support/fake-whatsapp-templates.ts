import { Check } from "./fake-whatsapp-checks.ts";

const BUTTON_FIELDS: Readonly<Record<string, readonly string[]>> = {
  QUICK_REPLY: ["text"],
  URL: ["text", "url", "example"],
  PHONE_NUMBER: ["text", "phone_number"],
  COPY_CODE: ["example"],
  CATALOG: ["text"],
  OTP: ["otp_type", "supported_apps", "zero_tap_terms_accepted"],
};

/** Faults that the platform finds in a template that is created or edited. */
export function templateFaultsIn(text: string, isNew: boolean): string[] {
  const faults: string[] = [];
  const check = new Check(faults);
  const allowed = isNew ? ["name", "language", "category", "parameter_format", "components"] : ["components"];
  const body = check.object("body", JSON.parse(text), allowed);
  if (isNew) {
    check.like("name", body["name"], /^[a-z0-9_]{1,512}$/);
    check.like("category", body["category"], /^(UTILITY|MARKETING|AUTHENTICATION)$/);
  }
  const isCode = body["category"] === "AUTHENTICATION";
  for (const each of check.list("components", body["components"])) {
    const { type, ...part } = check.object("component", each, [
      "type", "format", "text", "example", "buttons", "add_security_recommendation", "code_expiration_minutes",
    ]); // prettier-ignore
    const variables = JSON.stringify(part["text"] ?? "").match(/\{\{\w+\}\}/g) ?? [];
    if (variables.length > 0 && !("example" in part)) check.fault(`${String(type)} has no example`);
    if (isCode && "text" in part) check.fault("an authentication template has a text of its own");
    if (type === "BUTTONS") for (const button of check.list("buttons", part["buttons"])) checkButton(check, button);
  }
  return faults;
}

function checkButton(check: Check, given: unknown): void {
  const type = String((given as { type?: unknown }).type);
  const button = check.object("button", given, ["type", ...(BUTTON_FIELDS[type] ?? [])]);
  if (!(type in BUTTON_FIELDS)) check.fault(`a button of the type ${type}`);
  if (type === "URL" && String(button["url"]).includes("{{")) check.list("button.example", button["example"]);
  if (type === "COPY_CODE") check.text("button.example", button["example"], 15);
  if (type === "OTP" && button["otp_type"] !== "COPY_CODE") check.list("supported_apps", button["supported_apps"]);
  if (button["otp_type"] === "ZERO_TAP" && button["zero_tap_terms_accepted"] !== true)
    check.fault("the terms of zero-tap are not accepted");
}
