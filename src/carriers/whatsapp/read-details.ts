import type { InboundDetails } from "../../model/inbound.ts";
import { fieldsOf, listOf, stringOf, wholeOf } from "./read-json.ts";

type Fields = Readonly<Record<string, unknown>>;

const KINDS: ReadonlySet<string> = new Set<InboundDetails["kind"]>([
  "text",
  "image",
  "video",
  "document",
  "audio",
  "sticker",
  "location",
  "contacts",
  "button",
  "reaction",
  "order",
]);
const REPLIES: Readonly<Record<string, InboundDetails["kind"]>> = {
  button_reply: "button_reply",
  list_reply: "list_reply",
  nfm_reply: "flow_reply",
};

const ENTRIES_MAX = 300;
const TEXT_MAX = 4096;

/** Facts of a user's message besides its content. Fields that the platform leaves out are absent. */
export function detailsOf(message: Fields): InboundDetails {
  const type = stringOf(message["type"]) ?? "";
  const part = fieldsOf(message[type]);
  const { forwarded, frequently_forwarded: often, referred_product: product } = fieldsOf(message["context"]);
  const referral = fieldsOf(message["referral"]);
  return {
    kind: kindOf(type, part),
    ...(forwarded === true || often === true ? { forwarded: true } : {}),
    ...(Object.keys(fieldsOf(product)).length > 0 && { product: productOf(fieldsOf(product)) }),
    ...(Object.keys(referral).length > 0 && { referral: referralOf(referral) }),
    ...ownDetails(type, part, message),
  };
}

function kindOf(type: string, part: Fields): InboundDetails["kind"] {
  if (KINDS.has(type)) return type as InboundDetails["kind"];
  const reply = stringOf(part["type"]) ?? "";
  return (type === "interactive" && Object.hasOwn(REPLIES, reply) ? REPLIES[reply] : undefined) ?? "unsupported";
}

function ownDetails(type: string, part: Fields, message: Fields): Partial<InboundDetails> {
  switch (type) {
    case "audio":
      return part["voice"] === true ? { voice: true } : {};
    case "location":
      return { place: texts(part, { name: "name", address: "address", url: "url" }) };
    case "contacts":
      return { contacts: listOf(message["contacts"]).slice(0, ENTRIES_MAX).map(contactOf) };
    case "reaction":
      return { reaction: { emoji: text(part["emoji"]) ?? "" } };
    case "order":
      return { order: orderOf(part) };
    case "interactive":
      return replyDetails(fieldsOf(part[stringOf(part["type"]) ?? ""]));
    case "unsupported":
    case "unknown":
      return { unsupported: errorOf(fieldsOf(listOf(message["errors"])[0])) };
    default:
      return {};
  }
}

function replyDetails(reply: Fields): Partial<InboundDetails> {
  const description = text(reply["description"]);
  const response = stringOf(reply["response_json"]);
  return {
    ...(description !== null && { description }),
    ...(response !== null && { flow: { ...texts(reply, { name: "name" }), response } }),
  };
}

const productOf = (product: Fields): NonNullable<InboundDetails["product"]> =>
  texts(product, { catalogId: "catalog_id", productId: "product_retailer_id" });

const referralOf = (referral: Fields): NonNullable<InboundDetails["referral"]> =>
  texts(referral, {
    sourceType: "source_type",
    sourceId: "source_id",
    sourceUrl: "source_url",
    headline: "headline",
    body: "body",
    mediaType: "media_type",
    mediaUrl: stringOf(referral["image_url"]) === null ? "video_url" : "image_url",
    clickId: "ctwa_clid",
  });

function contactOf(contact: unknown): NonNullable<InboundDetails["contacts"]>[number] {
  const { name, phones, emails, org } = fieldsOf(contact);
  return {
    ...texts(fieldsOf(name), { name: "formatted_name" }),
    phones: listOf(phones)
      .slice(0, ENTRIES_MAX)
      .flatMap((each) => {
        const phone = text(fieldsOf(each)["phone"]);
        return phone === null ? [] : [{ phone, ...texts(fieldsOf(each), { type: "type", waId: "wa_id" }) }];
      }),
    emails: listOf(emails)
      .slice(0, ENTRIES_MAX)
      .flatMap((each) => {
        const email = text(fieldsOf(each)["email"]);
        return email === null ? [] : [{ email, ...texts(fieldsOf(each), { type: "type" }) }];
      }),
    ...texts(fieldsOf(org), { company: "company" }),
  };
}

function orderOf(order: Fields): NonNullable<InboundDetails["order"]> {
  const items = listOf(order["product_items"]).slice(0, ENTRIES_MAX);
  return {
    ...texts(order, { catalogId: "catalog_id" }),
    items: items.map((item) => {
      const { product_retailer_id: id, quantity, item_price: price, ...rest } = fieldsOf(item);
      return {
        productId: text(id) ?? "",
        quantity: wholeOf(quantity) ?? 1,
        ...(typeof price === "number" && Number.isFinite(price) && { price }),
        ...texts(rest, { currency: "currency" }),
      };
    }),
  };
}

function errorOf(error: Fields): NonNullable<InboundDetails["unsupported"]> {
  const code = wholeOf(error["code"]);
  return { ...(code !== null && { code }), ...texts(error, { title: "title" }) };
}

/** A text without characters that a store refuses, cut where no real one is as long. */
const text = (value: unknown): string | null => stringOf(value)?.slice(0, TEXT_MAX).toWellFormed() ?? null;

/** The texts of an object, under our names; absent ones stay absent. */
function texts<K extends string>(fields: Fields, names: Readonly<Record<K, string>>): { [name in K]?: string } {
  const found: { [name in K]?: string } = {};
  for (const name in names) {
    const value = text(fields[names[name]]);
    if (value !== null) found[name] = value;
  }
  return found;
}
