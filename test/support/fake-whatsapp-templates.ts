import { Check, type Fields } from "./fake-whatsapp-checks.ts";

const BUTTON_FIELDS: Readonly<Record<string, readonly string[]>> = {
  QUICK_REPLY: ["text"],
  URL: ["text", "url", "example"],
  PHONE_NUMBER: ["text", "phone_number"],
  COPY_CODE: ["example"],
  CATALOG: ["text"],
  FLOW: ["text", "flow_id"],
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
  const components = check.list("components", body["components"]);
  checkComponents(check, components, isCode);
  checkOffer(check, components, body["category"]);
  return faults;
}

const typesOf = (components: readonly unknown[]): unknown[] => components.map((each) => (each as Fields)["type"]);

/** From the pages limited-time-offer-templates and media-card-carousel-templates. */
function checkOffer(check: Check, components: readonly unknown[], category: unknown): void {
  const types = typesOf(components);
  const isOffer = types.includes("LIMITED_TIME_OFFER");
  const isCarousel = types.includes("CAROUSEL");
  if ((isOffer || isCarousel) && category !== undefined && category !== "MARKETING")
    check.fault(`an offer or a carousel of the category ${JSON.stringify(category)}`);
  if ((isOffer || isCarousel) && types.includes("FOOTER")) check.fault("an offer or a carousel has a footer");
  if (isCarousel && types.some((type) => type !== "BODY" && type !== "CAROUSEL"))
    check.fault("a carousel has more parts");
}

function checkComponents(check: Check, components: readonly unknown[], isCode: boolean): void {
  for (const each of components) {
    const { type, ...part } = check.object("component", each, [
      "type", "format", "text", "example", "buttons", "add_security_recommendation", "code_expiration_minutes",
      "limited_time_offer", "cards",
    ]); // prettier-ignore
    const variables = JSON.stringify(part["text"] ?? "").match(/\{\{\w+\}\}/g) ?? [];
    if (variables.length > 0 && !("example" in part)) check.fault(`${String(type)} has no example`);
    if (isCode && "text" in part) check.fault("an authentication template has a text of its own");
    if (type === "BUTTONS") for (const button of check.list("buttons", part["buttons"])) checkButton(check, button);
    if (["IMAGE", "VIDEO", "DOCUMENT"].includes(String(part["format"])))
      check.list("example.header_handle", check.object("example", part["example"], ["header_handle"])["header_handle"]);
    if (part["format"] === "LOCATION" && Object.keys(part).length > 1)
      check.fault("a location header has more than its format");
    if (type === "LIMITED_TIME_OFFER") {
      const offer = check.object("limited_time_offer", part["limited_time_offer"], ["text", "has_expiration"]);
      check.text("limited_time_offer.text", offer["text"], 16);
    }
    if (type === "CAROUSEL") {
      const cards = check.list("cards", part["cards"]);
      if (cards.length < 2 || cards.length > 10) check.fault(`a carousel of ${cards.length} cards`);
      for (const card of cards)
        checkComponents(
          check,
          check.list("card.components", check.object("card", card, ["components"])["components"]),
          false,
        );
    }
  }
}

function checkButton(check: Check, given: unknown): void {
  const type = String((given as { type?: unknown }).type);
  const button = check.object("button", given, ["type", ...(BUTTON_FIELDS[type] ?? [])]);
  if (!(type in BUTTON_FIELDS)) check.fault(`a button of the type ${type}`);
  if (type === "URL" && String(button["url"]).includes("{{")) check.list("button.example", button["example"]);
  if (type === "COPY_CODE") check.text("button.example", button["example"], 15);
  if (type === "FLOW") check.text("button.flow_id", button["flow_id"], 50);
  if (type === "OTP" && button["otp_type"] !== "COPY_CODE") check.list("supported_apps", button["supported_apps"]);
  if (button["otp_type"] === "ZERO_TAP" && button["zero_tap_terms_accepted"] !== true)
    check.fault("the terms of zero-tap are not accepted");
}
