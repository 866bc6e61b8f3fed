import type { ChannelEndpoint } from "../../http/public/send.ts";
import { chatEndpoint } from "../../http/public/chatapp.ts";
import { rcsEndpoint } from "../../http/public/rcs.ts";
import { smsEndpoint } from "../../http/public/sms.ts";
import { parseIsoTime } from "../../lib/iso-time.ts";
import { isObject } from "../../lib/json.ts";
import type { MessageCallback } from "../../model/callback.ts";
import type { StoredCredential } from "../../model/credential.ts";
import type { SendChannel } from "../../model/message.ts";
import type { AccountCatalog } from "../../records/catalog.ts";
import type { FormFields } from "./form.ts";
import { httpCallback, readCallbackUrl } from "../http-callback.ts";
import { senderNamed } from "../sender-name.ts";
import { readAddress, type Address } from "./addresses.ts";
import { TwilioProblem } from "./errors.ts";
import { settingsOf } from "./settings.ts";
import { idInSid } from "../../model/twilio-sid.ts";

/** A Message request as the pipeline takes it. */
export interface MessageRequest {
  channel: SendChannel;
  /** In the form of the channel's operation of `/v1`. */
  body: Readonly<Record<string, unknown>>;
  callback: MessageCallback | undefined;
  validForMs: number | undefined;
  messagingServiceSid: string | null;
}

export const ENDPOINTS: Readonly<Record<SendChannel, ChannelEndpoint>> = {
  sms: smsEndpoint,
  rcs: rcsEndpoint,
  chatapp: chatEndpoint,
};

/** Reads the form of `POST …/Messages.json`. */
export function readMessage(fields: FormFields, key: StoredCredential, catalog: AccountCatalog): MessageRequest {
  const field = (name: string): string | undefined => fields.get(name)?.[0];
  const settings = settingsOf(key);
  const { from, to } = readEnds(field, settings.sender);
  const request = { fields, field, from, to, catalog, content: readContent(field, to.channel, catalog) };
  const sendAt = readSendAt(field);
  return {
    channel: to.channel,
    body: { ...BODIES[to.channel](request, settings.type), ...(sendAt !== null && { sendAt }) },
    callback: readCallback(field("StatusCallback") || settings.statusCallback, key),
    validForMs: readValidity(field("ValidityPeriod")),
    messagingServiceSid: field("MessagingServiceSid") || null,
  };
}

type Field = (name: string) => string | undefined;

function readEnds(field: Field, senderOfService: string | null): { from: Address; to: Address } {
  const to = readAddress(field("To") ?? "");
  if (to.name === "") throw new TwilioProblem(21604, "A 'To' phone number is required.");
  const written = field("From") || (field("MessagingServiceSid") ? senderOfService : null);
  if (!written)
    throw new TwilioProblem(
      21603,
      field("MessagingServiceSid")
        ? "A 'From' is required: the credential has no `sender` in its settings, which stands for the Messaging Service."
        : "A 'From' phone number is required.",
    );
  const from = readAddress(written);
  // RCS may name its channel at either end.
  const channel = from.channel === "rcs" && to.channel === "sms" ? "rcs" : to.channel;
  if (from.channel !== channel)
    throw new TwilioProblem(21910, "Invalid 'From' and 'To' pair: both must be of the same channel.");
  return { from, to: { channel, name: to.name } };
}

interface Content {
  /** The template's name. */
  name: string;
  values: readonly string[] | null;
}

const KINDS = { sms: "template", rcs: "rcsTemplate", chatapp: "chatTemplate" } as const;

/** ContentSid is the SID of a stored template, or its name. */
function readContent(field: Field, channel: SendChannel, catalog: AccountCatalog): Content | null {
  const sid = field("ContentSid");
  if (!sid) return null;
  const id = idInSid("HX", sid);
  const name = id === null ? sid : catalog.find(KINDS[channel], id)?.name;
  if (name === undefined) throw new TwilioProblem(21655, `There is no template with the ContentSid ${sid}.`);
  return { name, values: readVariables(field("ContentVariables")) };
}

/** `{"1": "Ada", "2": "4711"}`: one value per variable, counting from 1. */
function readVariables(written: string | undefined): readonly string[] | null {
  if (!written) return null;
  const given = parseObject(written);
  const values = given && Object.keys(given).map((_, index) => given[String(index + 1)]);
  if (!values?.every((value) => typeof value === "string" || typeof value === "number"))
    throw new TwilioProblem(
      21656,
      'ContentVariables is a JSON object with a text per variable, counting from 1, such as {"1": "Ada", "2": "4711"}.',
    );
  return values.map(String);
}

function parseObject(written: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(written);
    return isObject(value) ? value : null;
  } catch {
    // Text that is no JSON is refused like JSON of another shape.
    return null;
  }
}

interface Parts {
  fields: FormFields;
  field: Field;
  from: Address;
  to: Address;
  content: Content | null;
  catalog: AccountCatalog;
}

const BODIES: Readonly<Record<SendChannel, (parts: Parts, type: string) => Record<string, unknown>>> = {
  sms: smsBody,
  rcs: rcsBody,
  chatapp: chatBody,
};

function smsBody({ fields, field, from, to, content, catalog }: Parts, type: string): Record<string, unknown> {
  refuseMedia(fields, "A text message has no media here.");
  const text = field("Body");
  if (!content && !text) throw bodyRequired();
  return {
    sender: senderNamed(catalog, from.name),
    to: [to.name],
    type,
    ...(content ? { templateId: content.name, custom: content.values ?? [] } : { text }),
  };
}

function rcsBody({ fields, from, to, content }: Parts, type: string): Record<string, unknown> {
  if (!content)
    throw new TwilioProblem(
      21654,
      "ContentSid is required: RCS messages are sent by template. Give its HX… or its name.",
    );
  const media = fields.get("MediaUrl") ?? [];
  const items =
    media.length > 0 ? media.map((fileUrl) => ({ fileUrl })) : content.values && [{ params: content.values }];
  return {
    number: plussed(to.name),
    botId: from.name,
    templateName: content.name,
    type: type === "OTP" ? "TRANS" : type,
    ...(items && { content: items }),
  };
}

function chatBody({ fields, field, from, to, content, catalog }: Parts): Record<string, unknown> {
  const ends = { from: plussed(from.name), to: to.name };
  const [media] = fields.get("MediaUrl") ?? [];
  if (content) {
    const header = media === undefined ? null : { type: headerTypeOf(catalog, content.name, media), link: media };
    const components = {
      body: { params: content.values ?? [] },
      ...(header && { header: { type: header.type, [header.type]: { link: header.link } } }),
    };
    const isPlain = content.values === null && header === null;
    return { ...ends, type: "template", templateName: content.name, ...(isPlain ? {} : { components }) };
  }
  refuseMedia(fields, "Media needs a template with a media header: give its ContentSid.");
  const body = field("Body");
  if (!body) throw bodyRequired();
  return { ...ends, type: "text", text: { body } };
}

const bodyRequired = (): TwilioProblem =>
  new TwilioProblem(21619, "A text message body or a ContentSid must be specified.");

const plussed = (number: string): string => (number.startsWith("+") ? number : `+${number}`);

const VIDEO = /\.(?:mp4|3gp)(?:[?#]|$)/i;
const IMAGE = /\.(?:jpe?g|png)(?:[?#]|$)/i;

/** The header of the stored template; for a template that is not known yet, by the file's extension. */
function headerTypeOf(catalog: AccountCatalog, name: string, link: string): "image" | "video" | "document" {
  const type = catalog.named("chatTemplate").get(name)?.content.header?.type;
  if (type === "image" || type === "video" || type === "document") return type;
  if (IMAGE.test(link)) return "image";
  return VIDEO.test(link) ? "video" : "document";
}

function refuseMedia(fields: FormFields, message: string): void {
  if (fields.has("MediaUrl")) throw new TwilioProblem(21620, `MediaUrl: ${message}`);
}

function readSendAt(field: Field): string | null {
  const at = field("SendAt");
  const schedule = field("ScheduleType");
  if (!at && !schedule) return null;
  if (schedule !== "fixed") throw new TwilioProblem(20422, "ScheduleType must be 'fixed' where SendAt is given.");
  if (!at || Number.isNaN(parseIsoTime(at)))
    throw new TwilioProblem(20422, "SendAt is required with ScheduleType, as an ISO 8601 time.");
  return new Date(at).toISOString();
}

const VALIDITY_MAX_SECONDS = 36_000;

function readValidity(written: string | undefined): number | undefined {
  if (!written) return undefined;
  const seconds = Number(written);
  if (Number.isInteger(seconds) && seconds >= 1 && seconds <= VALIDITY_MAX_SECONDS) return seconds * 1000;
  throw new TwilioProblem(20422, `ValidityPeriod is a whole number of seconds from 1 to ${VALIDITY_MAX_SECONDS}.`);
}

function readCallback(written: string | null, key: StoredCredential): MessageCallback | undefined {
  if (!written) return undefined;
  const url = readCallbackUrl(written);
  if (url === null)
    throw new TwilioProblem(
      21609,
      "The 'StatusCallback' URL is not a valid URL: give an http:// or https:// address without user name, of at most 2000 characters.",
    );
  const states = [
    "accepted",
    "submitted",
    "delivered",
    "read",
    "undelivered",
    "expired",
    "rejected",
    "cancelled",
  ] as const;
  return httpCallback(key, { url, states });
}
