import type { InboundContent } from "../../model/inbound.ts";
import type { WhatsappSettings } from "../../model/whatsapp-line.ts";
import { fieldsOf, listOf, wholeOf, wordsOf } from "./read-json.ts";
import { apiUrl } from "./ways.ts";

type Fields = Readonly<Record<string, unknown>>;

/** Stands for what a user sent and nobody but the app can show: it happened, and opens the session, all the same. */
const UNSHOWABLE = "[unsupported message]";

/** Words of the platform for files. */
const FILES: ReadonlySet<string> = new Set(["image", "video", "document", "audio", "sticker"]);
/** What the platform tells about a user, and no user has sent. */
const NOT_SENT: ReadonlySet<string> = new Set(["system"]);

/**
 * What a user sent, in our words: one thing after the other where the platform has them in one, as a file and its caption.
 * Empty for what says nothing, such as a reaction that was taken back.
 */
export function contentsOf(message: Fields, settings: WhatsappSettings): readonly InboundContent[] {
  const type = wordsOf(message["type"]) ?? "";
  if (NOT_SENT.has(type)) return [];
  const part = fieldsOf(message[type]);
  if (FILES.has(type)) return filesOf(type, part, settings) ?? unshowable();
  switch (type) {
    case "text":
      return textOf(wordsOf(part["body"]));
    case "button":
      return replyOf(part["text"], part["payload"]);
    case "interactive":
      return interactiveOf(part);
    case "location":
      return locationOf(part);
    case "contacts":
      return textOf(contactsOf(listOf(message["contacts"])));
    case "reaction":
      return wordsOf(part["emoji"]) === null ? [] : textOf(wordsOf(part["emoji"]));
    case "order":
      return textOf(orderOf(part));
    default:
      return unshowable();
  }
}

const unshowable = (): readonly InboundContent[] => [{ kind: "text", text: UNSHOWABLE }];

const textOf = (text: string | null): readonly InboundContent[] =>
  text === null ? unshowable() : [{ kind: "text", text }];

function replyOf(title: unknown, data: unknown): readonly InboundContent[] {
  const plainText = wordsOf(title);
  if (plainText === null) return unshowable();
  return [{ kind: "suggestion", plainText, data: wordsOf(data) ?? plainText, type: "REPLY" }];
}

function interactiveOf(part: Fields): readonly InboundContent[] {
  const reply = fieldsOf(part[wordsOf(part["type"]) ?? ""]);
  return replyOf(reply["title"], reply["id"]);
}

function filesOf(category: string, part: Fields, settings: WhatsappSettings): readonly InboundContent[] | null {
  const id = wordsOf(part["id"]);
  if (id === null) return null;
  const payload = {
    mimeType: wordsOf(part["mime_type"]) ?? "application/octet-stream",
    // The platform does not say.
    fileSizeBytes: 0,
    fileName: wordsOf(part["filename"]) ?? "",
    // Where a request with the line's token is told where the file lies; the address it tells is good for minutes only.
    fileUri: apiUrl(settings, encodeURIComponent(id)),
  };
  const caption = wordsOf(part["caption"]);
  const file: InboundContent = { kind: "file", file: { category, payload, thumbnail: null } };
  return caption === null ? [file] : [file, { kind: "text", text: caption }];
}

function locationOf({ latitude, longitude }: Fields): readonly InboundContent[] {
  const isThere =
    typeof latitude === "number" &&
    typeof longitude === "number" &&
    Math.abs(latitude) <= 90 &&
    Math.abs(longitude) <= 180;
  return isThere ? [{ kind: "location", latitude, longitude }] : unshowable();
}

/** A line for each: the name, and the numbers behind it. */
function contactsOf(contacts: readonly unknown[]): string | null {
  const lines = contacts.map((contact) => {
    const { name, phones } = fieldsOf(contact);
    const numbers = listOf(phones).map((phone) => wordsOf(fieldsOf(phone)["phone"]));
    return [wordsOf(fieldsOf(name)["formatted_name"]), ...numbers].filter((each) => each !== null).join(" ");
  });
  return wordsOf(lines.filter((line) => line !== "").join("\n"));
}

/** The user's words, and a line for each thing: how many, and the seller's own id of it. */
function orderOf(part: Fields): string | null {
  const items = listOf(part["product_items"]).map((item) => {
    const { quantity, product_retailer_id: id } = fieldsOf(item);
    return `${wholeOf(quantity) ?? 1} × ${wordsOf(id) ?? "?"}`;
  });
  return wordsOf([wordsOf(part["text"]) ?? "", ...items].filter((line) => line !== "").join("\n"));
}
