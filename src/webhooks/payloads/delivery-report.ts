import {
  EVERY_PROVIDER,
  type DlrConfigContent,
  type CustomerEvent,
  type WebhookRequest,
} from "../../model/callback.ts";
import { readPlaceholder, type Placeholder } from "../../model/placeholder.ts";
import { isReported, placeholderValue, type ReportFacts } from "./placeholders.ts";
import { post, writeFields } from "../post-json.ts";

/** Most servers refuse a URL over 8 KB, or URL and headers over 16 KB. */
const HEADER_BYTES_MAX = 4096;
const QUERY_BYTES_MAX = 1024;

const PLAIN = /^[\x20-\x7e\xa0-\xff]*$/;
const CONTROL = /\p{Cc}/u;

/** Fields of a configuration without pairs. */
const USUAL: readonly Placeholder[] = [
  "messageId", "mobileNumber", "senderName", "errCode", "status", "createdAt", "deliveredDate", "statusDescription",
]; // prettier-ignore

/** The delivery report request of an SMS in the format of a configuration; null for other events. */
export function deliveryReportRequest(
  config: DlrConfigContent,
  happening: CustomerEvent,
  facts: ReportFacts,
): WebhookRequest | null {
  if (happening.kind !== "status" || happening.message.channel !== "sms") return null;
  if (!isReported(happening.status)) return null;
  if (config.provider !== EVERY_PROVIDER && config.provider !== happening.gateway) return null;

  const { placeholders, pairs, names, sources } = formOf(config);
  const values = placeholders.map((placeholder) => placeholderValue(placeholder, happening, facts));
  const valueAt = (place: number): string => values[place] ?? "";
  const headers = Object.fromEntries(pairs.map(({ key, place }) => [key, headerValue(valueAt(place))]));
  const report = sources.map((source) => (typeof source === "number" ? valueAt(source) : source));
  if (config.method === "POST") return post(config.url, writeFields(names, report), headers);
  const query = names.map((name, place) => `${name}=${queryValue(report[place] ?? "")}`).join("&");
  return { method: "GET", url: withQuery(config.url, query), headers, body: null };
}

/** Compiled form of a configuration. */
interface Form {
  /** The placeholders that headers or fields use. */
  placeholders: readonly Placeholder[];
  /** Header names with the index of their placeholder. */
  pairs: readonly { key: string; place: number }[];
  /** Names of the fields. */
  names: readonly string[];
  /** For each field the index of its placeholder, or its constant text. */
  sources: readonly (number | string)[];
}

/** Compiled once per configuration, because every report needs it. */
const forms = new WeakMap<DlrConfigContent, Form>();

function formOf(config: DlrConfigContent): Form {
  const known = forms.get(config);
  if (known) return known;
  const pairs = config.headers.flatMap(({ key, value }) => {
    const placeholder = readPlaceholder(value);
    return placeholder === null ? [] : [{ key, placeholder }];
  });
  const inHeaders = [...new Set(pairs.map(({ placeholder }) => placeholder))];
  const byHeaders = (pairs.length === 0 ? USUAL : inHeaders).map((name) => ({ name, value: `{{${name}}}` }));
  const fields = (config.fields ?? byHeaders).map(({ name, value }) => ({
    name,
    placeholder: readPlaceholder(value),
    value,
  }));
  const placeholders = [...new Set([...inHeaders, ...fields.flatMap(({ placeholder }) => placeholder ?? [])])];
  const form = {
    placeholders,
    pairs: pairs.map(({ key, placeholder }) => ({ key, place: placeholders.indexOf(placeholder) })),
    names: fields.map(({ name }) => name),
    sources: fields.map(({ placeholder, value }) => (placeholder === null ? value : placeholders.indexOf(placeholder))),
  };
  forms.set(config, form);
  return form;
}

/** Uses the same URL parser as the request, so that the signed query is the one that is sent. */
function withQuery(address: string, query: string): string {
  const url = new URL(address);
  url.search = url.search === "" ? query : `${url.search}&${query}`;
  url.hash = "";
  return url.href;
}

/**
 * A text as a header value. Carrier texts may contain line breaks (header injection) and characters outside Latin-1. Control
 * characters are dropped; the others are percent-encoded.
 */
export function headerValue(text: string): string {
  if (text.length <= HEADER_BYTES_MAX && PLAIN.test(text)) return text;
  return join(text, HEADER_BYTES_MAX, (character) => {
    if (character > "\u00ff") return encodeURIComponent(character);
    return CONTROL.test(character) ? "" : character;
  });
}

/** A text as a query value. */
export function queryValue(text: string): string {
  const whole = text.toWellFormed();
  const encoded = encodeURIComponent(whole);
  return encoded.length <= QUERY_BYTES_MAX ? encoded : join(whole, QUERY_BYTES_MAX, encodeURIComponent);
}

/** Truncates between two characters, so that the result can be decoded. */
function join(text: string, bytesMax: number, write: (character: string) => string): string {
  let joined = "";
  for (const character of text.toWellFormed()) {
    const written = write(character);
    if (joined.length + written.length > bytesMax) break;
    joined += written;
  }
  return joined;
}
