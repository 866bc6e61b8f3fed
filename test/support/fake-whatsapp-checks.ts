import { checkReadMark, checkSession, SESSION_TYPES, WAMID } from "./fake-whatsapp-session.ts";

/** Validates a send request field by field and returns all faults. */
export function faultsIn(text: string): string[] {
  const faults: string[] = [];
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return ["the body is no JSON"];
  }
  const check = new Check(faults);
  if (isReadMark(body)) {
    checkReadMark(check, body);
    return faults;
  }
  const fields = check.object("body", body, [
    "messaging_product", "recipient_type", "to", "type", "biz_opaque_callback_data", "template", "text", "context",
    ...SESSION_TYPES,
  ]); // prettier-ignore
  check.is("messaging_product", fields["messaging_product"], "whatsapp");
  check.is("recipient_type", fields["recipient_type"], "individual");
  check.like("to", fields["to"], /^[1-9][0-9]{6,14}$/);
  check.like("biz_opaque_callback_data", fields["biz_opaque_callback_data"], /^[0-9a-f-]{36}:[1-9][0-9]*$/);
  if (fields["type"] === "text") checkText(check, fields);
  else if (fields["type"] === "template") checkTemplate(check, fields);
  else if (SESSION_TYPES.includes(String(fields["type"]))) checkSession(check, fields);
  else faults.push(`type is ${String(fields["type"])}`);
  for (const type of ["text", "template", ...SESSION_TYPES])
    if (type in fields && type !== fields["type"])
      check.fault(`a message of type ${String(fields["type"])} has ${type}`);
  if ("context" in fields) {
    const context = check.object("context", fields["context"], ["message_id"]);
    check.like("context.message_id", context["message_id"], WAMID);
  }
  return faults;
}

/** True for a request that marks a message of a user as read. */
export const isReadMark = (body: unknown): body is Fields =>
  typeof body === "object" && body !== null && "status" in body;

export type Fields = Readonly<Record<string, unknown>>;

export class Check {
  readonly #faults: string[];

  constructor(faults: string[]) {
    this.#faults = faults;
  }

  fault(words: string): void {
    this.#faults.push(words);
  }

  object(place: string, value: unknown, allowed: readonly string[]): Fields {
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      this.fault(`${place} is no object`);
      return {};
    }
    for (const name of Object.keys(value)) if (!allowed.includes(name)) this.fault(`${place}.${name} is not known`);
    return value as Fields;
  }

  is(place: string, value: unknown, right: string): void {
    if (value !== right) this.fault(`${place} is ${JSON.stringify(value)}, not ${right}`);
  }

  like(place: string, value: unknown, right: RegExp): void {
    if (typeof value !== "string" || !right.test(value)) this.fault(`${place} is ${JSON.stringify(value)}`);
  }

  text(place: string, value: unknown, max: number): void {
    if (typeof value !== "string" || value === "" || value.length > max)
      this.fault(`${place} has not 1 to ${max} characters`);
  }

  list(place: string, value: unknown): readonly unknown[] {
    if (Array.isArray(value) && value.length > 0) return value;
    this.fault(`${place} is no list with something in it`);
    return [];
  }
}

function checkText(check: Check, fields: Fields): void {
  const text = check.object("text", fields["text"], ["body", "preview_url"]);
  check.text("text.body", text["body"], 4096);
}

function checkTemplate(check: Check, fields: Fields): void {
  const template = check.object("template", fields["template"], ["name", "language", "components"]);
  check.like("template.name", template["name"], /^[a-z0-9_]{1,512}$/);
  const language = check.object("template.language", template["language"], ["code"]);
  check.like("template.language.code", language["code"], /^[a-z]{2,3}(_[A-Z]{2})?$/);
  if (!("components" in template)) return;
  const seen = new Set<unknown>();
  for (const [index, component] of check.list("components", template["components"]).entries()) {
    const type = checkComponent(check, `components[${index}]`, component);
    if (type !== "button" && seen.has(type)) check.fault(`there are two components of the type ${String(type)}`);
    seen.add(type);
  }
}

/** From the pages limited-time-offer-templates and media-card-carousel-templates. */
function checkCarousel(check: Check, place: string, given: unknown): void {
  const cards = check.list(`${place}.cards`, given);
  if (cards.length < 2 || cards.length > 10) check.fault(`${place} has ${cards.length} cards`);
  for (const [index, each] of cards.entries()) {
    const at = `${place}.cards[${index}]`;
    const card = check.object(at, each, ["card_index", "components"]);
    if (card["card_index"] !== index) check.fault(`${at}.card_index is ${String(card["card_index"])}`);
    const types = check
      .list(`${at}.components`, card["components"])
      .map((component, number) => checkComponent(check, `${at}.components[${number}]`, component));
    if (types[0] !== "header") check.fault(`${at} has no header`);
  }
}

function checkComponent(check: Check, place: string, component: unknown): unknown {
  const part = check.object(place, component, ["type", "sub_type", "index", "parameters", "cards"]);
  const { type } = part;
  if (type === "carousel") {
    if ("parameters" in part) check.fault(`${place} has parameters`);
    checkCarousel(check, place, part["cards"]);
    return type;
  }
  if ("cards" in part) check.fault(`${place} has cards`);
  const parameters = check.list(`${place}.parameters`, part["parameters"]);
  if (type === "button") {
    check.like(`${place}.index`, part["index"], /^[0-9]$/);
    if (parameters.length !== 1) check.fault(`${place} has not one parameter`);
    checkButton(check, place, String(part["sub_type"]), parameters[0]);
    return type;
  } else if (type === "limited_time_offer") {
    const parameter = check.object(`${place}.parameters[0]`, parameters[0], ["type", "limited_time_offer"]);
    check.is(`${place}.parameters[0].type`, parameter["type"], "limited_time_offer");
    const offer = check.object(`${place}.limited_time_offer`, parameter["limited_time_offer"], ["expiration_time_ms"]);
    if (!Number.isInteger(offer["expiration_time_ms"])) check.fault(`${place} has no expiration_time_ms`);
    return type;
  } else if (type === "header" || type === "body") {
    if ("sub_type" in part || "index" in part) check.fault(`${place} has what only a button has`);
    if (type === "header" && parameters.length !== 1) check.fault(`${place} has not one parameter`);
  } else check.fault(`${place}.type is ${String(type)}`);
  parameters.forEach((parameter, index) => {
    checkParameter(check, `${place}.parameters[${index}]`, parameter, type === "header");
  });
  return type;
}

/** The parameter of a button, from the platform's pages about template components. */
function checkButton(check: Check, place: string, subType: string, parameter: unknown): void {
  const types: Readonly<Record<string, [type: string, field: string]>> = {
    url: ["text", "text"],
    quick_reply: ["payload", "payload"],
    copy_code: ["coupon_code", "coupon_code"],
    flow: ["action", "action"],
    CATALOG: ["action", "action"],
  };
  const [type, field] = types[subType] ?? ["", ""];
  if (type === "") return check.fault(`${place}.sub_type is ${subType}`);
  const fields = check.object(`${place}.parameters[0]`, parameter, ["type", field]);
  check.is(`${place}.parameters[0].type`, fields["type"], type);
  if (subType === "flow") {
    const action = check.object(`${place}.action`, fields["action"], ["flow_token", "flow_action_data"]);
    check.text(`${place}.action.flow_token`, action["flow_token"], 1024);
  } else if (subType === "CATALOG") {
    const action = check.object(`${place}.action`, fields["action"], ["thumbnail_product_retailer_id"]);
    check.text(`${place}.action.thumbnail_product_retailer_id`, action["thumbnail_product_retailer_id"], 1024);
  } else check.text(`${place}.${field}`, fields[field], { url: 2000, quick_reply: 128, copy_code: 15 }[subType] ?? 0);
}

function checkParameter(check: Check, place: string, parameter: unknown, mayBeFile: boolean): void {
  const type = typeof parameter === "object" && parameter !== null && "type" in parameter ? String(parameter.type) : "";
  const fields = check.object(place, parameter, ["type", type, ...(type === "text" ? ["parameter_name"] : [])]);
  if ("parameter_name" in fields) check.like(`${place}.parameter_name`, fields["parameter_name"], /^[a-z_][a-z0-9_]*$/);
  if (type === "text") check.text(`${place}.text`, fields["text"], 1024);
  else if (mayBeFile && type === "location") {
    const names = ["latitude", "longitude", "name", "address"];
    const location = check.object(`${place}.location`, fields["location"], names);
    for (const name of names) check.text(`${place}.location.${name}`, location[name], 1000);
  } else if (mayBeFile && ["image", "video", "document"].includes(type)) {
    const file = check.object(`${place}.${type}`, fields[type], [
      "link", "id", ...(type === "document" ? ["filename"] : []),
    ]); // prettier-ignore
    if ("link" in file === "id" in file) check.fault(`${place}.${type} has not one of link and id`);
    if ("link" in file) check.like(`${place}.${type}.link`, file["link"], /^https?:\/\//);
    if ("id" in file) check.like(`${place}.${type}.id`, file["id"], /^\d+$/);
    if ("filename" in file) check.text(`${place}.document.filename`, file["filename"], 240);
  } else check.fault(`${place}.type is ${type}`);
}
