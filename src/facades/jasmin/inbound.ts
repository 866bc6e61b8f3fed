import { firstUcs2Character } from "../../channels/sms/segment.ts";
import type { WebhookRequest } from "../../model/callback.ts";
import type { StoredCredential } from "../../model/credential.ts";
import type { InboundMessage } from "../../model/inbound.ts";
import { isOneOf } from "../sender-name.ts";
import { listSetting, textSetting } from "../setting-fields.ts";

const textOf = ({ channel, content }: InboundMessage): string | null =>
  channel === "sms" && content.kind === "text" ? content.text : null;

/** True if the credential has an address for this message. */
export const wantsInbound = (credential: StoredCredential, inbound: InboundMessage): boolean =>
  textSetting(credential, "inboundUrl") !== null &&
  textOf(inbound) !== null &&
  isOneOf(listSetting(credential, "inboundNumbers"), inbound.to);

/** The request that delivers an inbound message as Jasmin's HTTP client connector does; null without an address. */
export function inboundRequest(credential: StoredCredential, inbound: InboundMessage): WebhookRequest | null {
  const url = textSetting(credential, "inboundUrl");
  const text = textOf(inbound);
  if (url === null || text === null) return null;
  // Bytes of the message's coding, as Jasmin passes them on: UTF-16 (big endian) with coding 8.
  const isUcs2 = firstUcs2Character(text) !== null;
  const bytes = isUcs2 ? Buffer.from(text, "utf16le").swap16() : Buffer.from(text, "utf8");
  const fields = {
    id: inbound.id,
    from: inbound.from,
    to: inbound.to,
    "origin-connector": credential.username,
    coding: isUcs2 ? "8" : "0",
    content: bytes,
    binary: bytes.toString("hex"),
  };
  const form = Object.entries(fields)
    .map(([name, value]) => `${name}=${percentEncode(value)}`)
    .join("&");
  if (textSetting(credential, "inboundMethod") === "POST")
    return { method: "POST", url, headers: { "content-type": "application/x-www-form-urlencoded" }, body: form };
  return { method: "GET", url: `${url}${url.includes("?") ? "&" : "?"}${form}`, headers: {}, body: null };
}

const UNRESERVED = /[A-Za-z0-9_.~-]/;

/** Form encoding of bytes, which need not be UTF-8. */
function percentEncode(value: Buffer | string): string {
  let encoded = "";
  for (const byte of Buffer.from(value)) {
    const character = String.fromCharCode(byte);
    if (UNRESERVED.test(character)) encoded += character;
    else encoded += character === " " ? "+" : `%${byte.toString(16).padStart(2, "0").toUpperCase()}`;
  }
  return encoded;
}
