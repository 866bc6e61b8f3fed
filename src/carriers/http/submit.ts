import { messageIdOf, type Message, type SmsContent } from "../../model/message.ts";
import {
  CALLBACK_SECRET,
  type HttpBodyType,
  type HttpSecrets,
  type HttpSettings,
} from "../../model/http-connection.ts";
import { compileTemplate, type Template, type TemplateFields, type TemplatePlace } from "../../model/http-template.ts";
import type { HttpExchangeRequest } from "../http-exchange.ts";

interface SubmitDeps {
  settings: HttpSettings;
  secrets: HttpSecrets;
  /** Webhook URL of this connection, without its secret. */
  callbackUrl(): string;
}

const CONTENT_TYPES: Readonly<Record<HttpBodyType, string | null>> = {
  none: null,
  form: "application/x-www-form-urlencoded",
  json: "application/json",
  raw: "text/plain; charset=utf-8",
};

const SECOND_MS = 1000;
const MINUTE_MS = 60_000;

/** Compiles the request template; parts that are the same for all messages are computed once. */
export function createSubmitRequest(
  deps: SubmitDeps,
): (message: Message, content: SmsContent, now: number) => HttpExchangeRequest {
  const { settings, secrets } = deps;
  const { baseUrl, method, bodyType, timeoutSeconds } = settings;
  const constants = constantsOf(settings, secrets);
  const compile = (written: string, place: TemplatePlace): Template =>
    compileTemplate(written, place, constants, (message) => {
      throw new Error(`a template of the line cannot be used: ${message}`);
    });
  const path = compile(settings.path, "path");
  const body = bodyType === "none" ? null : compile(settings.body, bodyType);
  const callbackQuery = compile(settings.callbackQuery, "query");
  const basic = settings.basicAuth && basicOf(settings.basicAuth, (written) => compile(written, "constant"));
  const contentType = CONTENT_TYPES[bodyType];
  const headers: readonly (readonly [string, Template])[] = Object.entries(settings.headers).map(([name, written]) => [
    name.toLowerCase(),
    compile(written, "header"),
  ]);
  const usual = { ...(contentType && { "content-type": contentType }), ...(basic && { authorization: basic }) };
  const limitMs = timeoutSeconds * SECOND_MS;
  const key = settings.proof.kind === "key" ? secrets[CALLBACK_SECRET] : undefined;

  return (message, content, now) => {
    const fields = fieldsOf(message, content, now);
    fields.callbackUrl = withQuery(deps.callbackUrl(), [
      ...(key === undefined ? [] : [`key=${encodeURIComponent(key)}`]),
      callbackQuery.render(fields),
    ]);
    return {
      method,
      url: baseUrl + path.render(fields),
      headers: { ...usual, ...Object.fromEntries(headers.map(([name, value]) => [name, value.render(fields)])) },
      body: body?.render(fields) ?? null,
      limitMs,
    };
  };
}

/** Placeholders with the same value in every message. */
const constantsOf = ({ values }: HttpSettings, secrets: HttpSecrets): Record<string, string> => ({
  ...Object.fromEntries(Object.entries(values).map(([name, value]) => [`value:${name}`, value])),
  ...Object.fromEntries(Object.entries(secrets).map(([name, value]) => [`secret:${name}`, value])),
});

function basicOf(
  { user, password }: { user: string; password: string },
  compile: (written: string) => Template,
): string {
  const pair = [user, password].map((written) => compile(written).render(NO_FIELDS)).join(":");
  return `Basic ${Buffer.from(pair, "utf8").toString("base64")}`;
}

function withQuery(address: string, parts: readonly string[]): string {
  const query = parts.filter((part) => part !== "").join("&");
  if (query === "") return address;
  return `${address}${address.includes("?") ? "&" : "?"}${query}`;
}

function fieldsOf(message: Message, content: SmsContent, now: number): TemplateFields {
  const { recipient, sender, routeClass, segments, expiresAt, campaignName } = message;
  const { text, encoding, flash, dlt } = content;
  const leftMs = Math.max(SECOND_MS, expiresAt - now);
  return {
    recipient,
    sender,
    text,
    messageId: messageIdOf(message),
    type: routeClass,
    encoding,
    expiresAt: new Date(expiresAt).toISOString(),
    campaign: campaignName ?? "",
    dltEntityId: dlt?.entityId ?? "",
    dltContentId: dlt?.contentId ?? "",
    callbackUrl: "",
    segments,
    validitySeconds: Math.floor(leftMs / SECOND_MS),
    validityMinutes: Math.ceil(leftMs / MINUTE_MS),
    flash,
    unicode: encoding === "ucs2",
    long: segments > 1,
    dlt: Boolean(dlt?.entityId ?? dlt?.contentId),
  };
}

/** For templates without message fields. */
const NO_FIELDS: TemplateFields = {
  recipient: "",
  sender: "",
  text: "",
  messageId: "",
  type: "",
  encoding: "",
  expiresAt: "",
  campaign: "",
  dltEntityId: "",
  dltContentId: "",
  callbackUrl: "",
  segments: 0,
  validitySeconds: 0,
  validityMinutes: 0,
  flash: false,
  unicode: false,
  long: false,
  dlt: false,
};
