import type { Check, Fields } from "./fake-whatsapp-checks.ts";

/** Types of messages that the platform takes within a session, besides text. */
export const SESSION_TYPES: readonly string[] = [
  "image", "video", "document", "audio", "sticker", "location", "contacts", "interactive", "reaction",
]; // prettier-ignore

export const WAMID = /^wamid\.\S+$/;

/** Fields of a file of each type, from the platform's pages about media messages. */
const FILE_FIELDS: Readonly<Record<string, readonly string[]>> = {
  image: ["caption"],
  video: ["caption"],
  document: ["caption", "filename"],
  audio: ["voice"],
  sticker: [],
};

/** Refuses what the platform's pages about each type refuse. */
export function checkSession(check: Check, fields: Fields): void {
  const type = String(fields["type"]);
  const part = fields[type];
  if (type in FILE_FIELDS) return checkFile(check, type, part, FILE_FIELDS[type] ?? []);
  if (type === "location") return checkLocation(check, part);
  if (type === "contacts") return checkContacts(check, part);
  if (type === "interactive") return checkInteractive(check, part);
  if ("context" in fields) check.fault("a reaction has a context");
  const reaction = check.object("reaction", part, ["message_id", "emoji"]);
  check.like("reaction.message_id", reaction["message_id"], WAMID);
  check.like("reaction.emoji", reaction["emoji"], /^\P{ASCII}*$/u);
}

function checkFile(check: Check, place: string, value: unknown, more: readonly string[]): void {
  const file = check.object(place, value, ["link", "id", ...more]);
  if ("link" in file === "id" in file) check.fault(`${place} has not one of link and id`);
  if ("link" in file) check.like(`${place}.link`, file["link"], /^https?:\/\//);
  if ("id" in file) check.like(`${place}.id`, file["id"], /^\d+$/);
  if ("caption" in file) check.text(`${place}.caption`, file["caption"], 1024);
  if ("filename" in file) check.text(`${place}.filename`, file["filename"], 240);
  if ("voice" in file && typeof file["voice"] !== "boolean") check.fault(`${place}.voice is no boolean`);
}

function checkLocation(check: Check, value: unknown): void {
  const { latitude, longitude, ...place } = check.object("location", value, [
    "latitude", "longitude", "name", "address",
  ]); // prettier-ignore
  if (typeof latitude !== "number" || Math.abs(latitude) > 90) check.fault("location.latitude");
  if (typeof longitude !== "number" || Math.abs(longitude) > 180) check.fault("location.longitude");
  for (const [name, words] of Object.entries(place)) check.text(`location.${name}`, words, 1000);
}

const CONTACT_FIELDS = ["addresses", "birthday", "emails", "name", "org", "phones", "urls"];
const NAME_FIELDS = ["formatted_name", "first_name", "last_name", "middle_name", "suffix", "prefix"];

function checkContacts(check: Check, value: unknown): void {
  for (const [index, each] of check.list("contacts", value).entries()) {
    const contact = check.object(`contacts[${index}]`, each, CONTACT_FIELDS);
    const name = check.object(`contacts[${index}].name`, contact["name"], NAME_FIELDS);
    check.text(`contacts[${index}].name.formatted_name`, name["formatted_name"], 500);
    if (Object.keys(name).length < 2) check.fault(`contacts[${index}].name has formatted_name alone`);
    for (const phone of (contact["phones"] ?? []) as unknown[])
      check.object(`contacts[${index}].phones`, phone, ["phone", "type", "wa_id"]);
    for (const email of (contact["emails"] ?? []) as unknown[])
      check.object(`contacts[${index}].emails`, email, ["email", "type"]);
    for (const url of (contact["urls"] ?? []) as unknown[])
      check.object(`contacts[${index}].urls`, url, ["url", "type"]);
  }
}

function checkInteractive(check: Check, value: unknown): void {
  const part = check.object("interactive", value, ["type", "header", "body", "footer", "action"]);
  const type = String(part["type"]);
  const body = check.object("interactive.body", part["body"], ["text"]);
  check.text("interactive.body.text", body["text"], type === "list" ? 4096 : 1024);
  if ("footer" in part) {
    const footer = check.object("interactive.footer", part["footer"], ["text"]);
    check.text("interactive.footer.text", footer["text"], 60);
  }
  if ("header" in part) checkHeader(check, part["header"], type === "list" ? ["text"] : HEADERS);
  if (type === "button") checkButtons(check, part["action"]);
  else if (type === "list") checkList(check, part["action"]);
  else if (type === "cta_url") checkUrl(check, part["action"]);
  else check.fault(`interactive.type is ${type}`);
}

const HEADERS = ["text", "image", "video", "document"];

function checkHeader(check: Check, value: unknown, types: readonly string[]): void {
  const type = String((value as Fields | null)?.["type"]);
  const header = check.object("interactive.header", value, ["type", type]);
  if (!types.includes(type)) check.fault(`interactive.header.type is ${type}`);
  else if (type === "text") check.text("interactive.header.text", header["text"], 60);
  else checkFile(check, `interactive.header.${type}`, header[type], type === "document" ? ["filename"] : []);
}

function checkButtons(check: Check, value: unknown): void {
  const action = check.object("interactive.action", value, ["buttons"]);
  const buttons = check.list("interactive.action.buttons", action["buttons"]);
  if (buttons.length > 3) check.fault("there are more than 3 buttons");
  const seen = new Set<unknown>();
  for (const each of buttons) {
    const button = check.object("button", each, ["type", "reply"]);
    check.is("button.type", button["type"], "reply");
    const reply = check.object("button.reply", button["reply"], ["id", "title"]);
    check.text("button.reply.id", reply["id"], 256);
    check.text("button.reply.title", reply["title"], 20);
    for (const word of [reply["id"], `title ${String(reply["title"])}`]) {
      if (seen.has(word)) check.fault(`two buttons have ${String(word)}`);
      seen.add(word);
    }
  }
}

function checkList(check: Check, value: unknown): void {
  const action = check.object("interactive.action", value, ["button", "sections"]);
  check.text("interactive.action.button", action["button"], 20);
  const sections = check.list("interactive.action.sections", action["sections"]);
  const ids: unknown[] = [];
  for (const each of sections) {
    const section = check.object("section", each, ["title", "rows"]);
    if (sections.length > 1 || "title" in section) check.text("section.title", section["title"], 24);
    for (const row of check.list("section.rows", section["rows"])) {
      const fields = check.object("row", row, ["id", "title", "description"]);
      check.text("row.id", fields["id"], 200);
      check.text("row.title", fields["title"], 24);
      if ("description" in fields) check.text("row.description", fields["description"], 72);
      ids.push(fields["id"]);
    }
  }
  if (sections.length > 10 || ids.length > 10) check.fault("there are more than 10 rows");
  if (new Set(ids).size < ids.length) check.fault("two rows have one id");
}

function checkUrl(check: Check, value: unknown): void {
  const action = check.object("interactive.action", value, ["name", "parameters"]);
  check.is("interactive.action.name", action["name"], "cta_url");
  const parameters = check.object("interactive.action.parameters", action["parameters"], ["display_text", "url"]);
  check.text("parameters.display_text", parameters["display_text"], 20);
  check.like("parameters.url", parameters["url"], /^https?:\/\//);
}

/** Faults of a read mark. */
export function checkReadMark(check: Check, fields: Fields): void {
  check.object("body", fields, ["messaging_product", "status", "message_id", "typing_indicator"]);
  check.is("messaging_product", fields["messaging_product"], "whatsapp");
  check.is("status", fields["status"], "read");
  check.like("message_id", fields["message_id"], WAMID);
  if (!("typing_indicator" in fields)) return;
  check.is(
    "typing_indicator.type",
    check.object("typing_indicator", fields["typing_indicator"], ["type"])["type"],
    "text",
  ); // prettier-ignore
}
