import type { InboundContent } from "../../model/inbound.ts";
import type { WhatsappSettings } from "../../model/whatsapp-connection.ts";
import { fieldsOf, listOf, wholeOf, stringOf } from "./read-json.ts";
import { apiUrl } from "./api-urls.ts";

type Fields = Readonly<Record<string, unknown>>;

/** Stands for content that only the app can show; the message still opens the service window. */
const UNSHOWABLE = "[unsupported message]";

/** Message types that are files. */
const FILES: ReadonlySet<string> = new Set(["image", "video", "document", "audio", "sticker"]);
/** Notifications about a user that the user did not send. */
const NOT_SENT: ReadonlySet<string> = new Set(["system"]);

/**
 * Contents of a user's message; several if the platform combines them, such as a file and its caption. Empty for a removed
 * reaction.
 */
export function contentsOf(message: Fields, settings: WhatsappSettings): readonly InboundContent[] {
  const type = stringOf(message["type"]) ?? "";
  if (NOT_SENT.has(type)) return [];
  const part = fieldsOf(message[type]);
  if (FILES.has(type)) return filesOf(type, part, settings) ?? unshowable();
  switch (type) {
    case "text":
      return textOf(stringOf(part["body"]));
    case "button":
      return replyOf(part["text"], part["payload"]);
    case "interactive":
      return interactiveOf(part);
    case "location":
      return locationOf(part);
    case "contacts":
      return textOf(contactsOf(listOf(message["contacts"])));
    case "reaction":
      return stringOf(part["emoji"]) === null ? [] : textOf(stringOf(part["emoji"]));
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
  const plainText = stringOf(title);
  if (plainText === null) return unshowable();
  return [{ kind: "suggestion", plainText, data: stringOf(data) ?? plainText, type: "REPLY" }];
}

function interactiveOf(part: Fields): readonly InboundContent[] {
  const reply = fieldsOf(part[stringOf(part["type"]) ?? ""]);
  if (part["type"] === "nfm_reply") return replyOf(reply["body"], reply["name"]);
  return replyOf(reply["title"], reply["id"]);
}

function filesOf(category: string, part: Fields, settings: WhatsappSettings): readonly InboundContent[] | null {
  const id = stringOf(part["id"]);
  if (id === null) return null;
  const payload = {
    mimeType: stringOf(part["mime_type"]) ?? "application/octet-stream",
    // The platform does not tell.
    fileSizeBytes: 0,
    fileName: stringOf(part["filename"]) ?? "",
    // URL that returns the download URL to a request with the token; the download URL is valid for minutes.
    fileUri: apiUrl(settings, encodeURIComponent(id)),
  };
  const caption = stringOf(part["caption"]);
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

/** One line per contact: name and numbers. */
function contactsOf(contacts: readonly unknown[]): string | null {
  const lines = contacts.map((contact) => {
    const { name, phones } = fieldsOf(contact);
    const numbers = listOf(phones).map((phone) => stringOf(fieldsOf(phone)["phone"]));
    return [stringOf(fieldsOf(name)["formatted_name"]), ...numbers].filter((each) => each !== null).join(" ");
  });
  return stringOf(lines.filter((line) => line !== "").join("\n"));
}

/** The user's text, then one line per product: quantity and retailer id. */
function orderOf(part: Fields): string | null {
  const items = listOf(part["product_items"]).map((item) => {
    const { quantity, product_retailer_id: id } = fieldsOf(item);
    return `${wholeOf(quantity) ?? 1} × ${stringOf(id) ?? "?"}`;
  });
  return stringOf([stringOf(part["text"]) ?? "", ...items].filter((line) => line !== "").join("\n"));
}
