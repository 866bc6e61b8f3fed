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
  const fields = check.object("body", body, [
    "messaging_product", "recipient_type", "to", "type", "biz_opaque_callback_data", "template", "text",
  ]); // prettier-ignore
  check.is("messaging_product", fields["messaging_product"], "whatsapp");
  check.is("recipient_type", fields["recipient_type"], "individual");
  check.like("to", fields["to"], /^[1-9][0-9]{6,14}$/);
  check.like("biz_opaque_callback_data", fields["biz_opaque_callback_data"], /^[0-9a-f-]{36}:[1-9][0-9]*$/);
  if (fields["type"] === "text") checkText(check, fields);
  else if (fields["type"] === "template") checkTemplate(check, fields);
  else faults.push(`type is ${String(fields["type"])}`);
  return faults;
}

type Fields = Readonly<Record<string, unknown>>;

class Check {
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
  if ("template" in fields) check.fault("a text has a template");
  const text = check.object("text", fields["text"], ["body", "preview_url"]);
  check.text("text.body", text["body"], 4096);
}

function checkTemplate(check: Check, fields: Fields): void {
  if ("text" in fields) check.fault("a template has a text");
  const template = check.object("template", fields["template"], ["name", "language", "components"]);
  check.like("template.name", template["name"], /^[a-z0-9_]{1,512}$/);
  const language = check.object("template.language", template["language"], ["code"]);
  check.like("template.language.code", language["code"], /^[a-z]{2,3}(_[A-Z]{2})?$/);
  if (!("components" in template)) return;
  const seen = new Set<unknown>();
  for (const [index, component] of check.list("components", template["components"]).entries()) {
    const type = checkComponent(check, `components[${index}]`, component);
    if (seen.has(type)) check.fault(`there are two components of the type ${String(type)}`);
    seen.add(type);
  }
}

function checkComponent(check: Check, place: string, component: unknown): unknown {
  const part = check.object(place, component, ["type", "sub_type", "index", "parameters"]);
  const { type } = part;
  const parameters = check.list(`${place}.parameters`, part["parameters"]);
  if (type === "button") {
    if (part["sub_type"] !== "url" && part["sub_type"] !== "quick_reply") check.fault(`${place}.sub_type is not known`);
    check.like(`${place}.index`, part["index"], /^[0-9]$/);
    if (parameters.length !== 1) check.fault(`${place} has not one parameter`);
  } else if (type === "header" || type === "body") {
    if ("sub_type" in part || "index" in part) check.fault(`${place} has what only a button has`);
    if (type === "header" && parameters.length !== 1) check.fault(`${place} has not one parameter`);
  } else check.fault(`${place}.type is ${String(type)}`);
  parameters.forEach((parameter, index) => {
    checkParameter(check, `${place}.parameters[${index}]`, parameter, type === "header");
  });
  return type;
}

function checkParameter(check: Check, place: string, parameter: unknown, mayBeFile: boolean): void {
  const type = typeof parameter === "object" && parameter !== null && "type" in parameter ? String(parameter.type) : "";
  const fields = check.object(place, parameter, ["type", type]);
  if (type === "text") check.text(`${place}.text`, fields["text"], 1024);
  else if (mayBeFile && ["image", "video", "document"].includes(type)) {
    const file = check.object(`${place}.${type}`, fields[type], type === "document" ? ["link", "filename"] : ["link"]);
    check.like(`${place}.${type}.link`, file["link"], /^https?:\/\//);
    if ("filename" in file) check.text(`${place}.document.filename`, file["filename"], 240);
  } else check.fault(`${place}.type is ${type}`);
}
