import { segment } from "../../channels/sms/segment.ts";
import type { WebhookRequest } from "../../model/callback.ts";
import type { StoredCredential } from "../../model/credential.ts";
import type { InboundMessage } from "../../model/inbound.ts";
import type { DeliveryResult } from "../../webhooks/transport/transport.ts";
import { isOneOf } from "../sender-name.ts";
import { fillEscapes, kannelTime } from "./escapes.ts";
import { htmlToText } from "./html-to-text.ts";
import { settingsOf, type SmsService } from "./settings.ts";

/** The text of an inbound message that Kannel has a form for; null for others. */
const textOf = ({ channel, content }: InboundMessage): string | null =>
  channel === "sms" && content.kind === "text" ? content.text : null;

const wordsOf = (text: string): string[] => text.split(/\s+/).filter((word) => word !== "");

/** The service for a message: the one of its first word, or else the default one. */
export function serviceFor(
  credential: Pick<StoredCredential, "settings">,
  inbound: InboundMessage,
): (SmsService & { url: string; method: "GET" | "POST" }) | null {
  const text = textOf(inbound);
  const { services, inboundNumbers } = settingsOf(credential);
  if (text === null || !isOneOf(inboundNumbers, inbound.to)) return null;
  const word = wordsOf(text)[0]?.toLowerCase();
  const named = (name: string | undefined): SmsService | undefined =>
    services.find(({ keyword }) => keyword.toLowerCase() === name);
  const service = named(word) ?? named("default");
  if (service?.getUrl !== undefined) return { ...service, url: service.getUrl, method: "GET" };
  return service?.postUrl === undefined ? null : { ...service, url: service.postUrl, method: "POST" };
}

/** The request that delivers an inbound message as Kannel does; null without a service for it. */
export function inboundRequest(credential: StoredCredential, inbound: InboundMessage): WebhookRequest | null {
  const service = serviceFor(credential, inbound);
  const text = textOf(inbound);
  if (service === null || text === null) return null;
  const { id, to, at } = inbound;
  // As Kannel writes a number of the type "international".
  const from = `+${inbound.from}`;
  const words = wordsOf(text);
  const none = ["i", "B", "o", "f", "u", "D", "R", "F"].map((code) => [code, ""]);
  const url = fillEscapes(service.url, {
    encoded: {
      p: from,
      q: from,
      P: to,
      Q: to,
      a: words.join(" "),
      b: text,
      A: text,
      e: Buffer.from(text).toString("hex").toUpperCase(),
      I: id,
      n: service.keyword,
      C: "UTF-8",
      c: "0",
      d: "-1",
      m: "-1",
      M: "-1",
      ...Object.fromEntries(none),
    },
    raw: { t: kannelTime(at), T: String(Math.floor(at / 1000)), O: "00" },
    words,
    meta: "",
  });
  if (!URL.canParse(url)) return null;
  if (service.method === "GET") return { method: "GET", url, headers: {}, body: null };
  const time = kannelTime(at).replace("+", " ");
  const headers = {
    "content-type": 'text/plain; charset="UTF-8"',
    "x-kannel-from": from,
    "x-kannel-to": headerValue(to),
    "x-kannel-time": time,
    date: time,
    "x-kannel-service": headerValue(service.keyword),
    "x-kannel-coding": "0",
  };
  return { method: "POST", url, headers, body: text };
}

const headerValue = (text: string): string => text.replaceAll(/[^\x20-\x7e]/g, "?");

/** The text that a response sends back to the phone; null for none. */
export function replyIn(
  { maxMessages = 1 }: Pick<SmsService, "maxMessages">,
  { excerpt, contentType = "text/plain" }: Pick<DeliveryResult & { kind: "delivered" }, "excerpt" | "contentType">,
): string | null {
  const type = contentType.split(";", 1)[0]?.trim().toLowerCase();
  if (maxMessages === 0 || (type !== "text/plain" && type !== "text/html")) return null;
  const text = type === "text/html" ? htmlToText(excerpt) : excerpt;
  return text.trim() === "" ? null : cutTo(text, maxMessages);
}

/** As much of a text as fits into so many messages. */
function cutTo(text: string, messages: number): string {
  if (segment(text).segments <= messages) return text;
  let [fits, tooLong] = [0, text.length];
  while (tooLong - fits > 1) {
    const middle = Math.floor((fits + tooLong) / 2);
    if (segment(text.slice(0, middle)).segments <= messages) fits = middle;
    else tooLong = middle;
  }
  // No half of a character outside the basic plane.
  return text.slice(0, fits).replace(/[\ud800-\udbff]$/, "");
}
