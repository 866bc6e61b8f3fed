import {
  EVERY_PROVIDER,
  type DlrConfigContent,
  type Happening,
  type Push,
  type StatusWord,
} from "../model/callback.ts";
import { readPlaceholder, type Placeholder } from "../model/placeholder.ts";
import { placeholderValue, type ReportFacts } from "./placeholders.ts";
import { post, writeFields } from "./post-json.ts";
import { headerValue, queryValue } from "./wire-text.ts";

/** What a configuration without pairs is told. */
const USUAL: readonly Placeholder[] = [
  "messageId", "mobileNumber", "senderName", "errCode", "status", "createdAt", "deliveredDate", "statusDescription",
]; // prettier-ignore

/**
 * What ends the wait for a text message, each a word of its own to the customer. That a carrier has taken it is no news:
 * it is Pending since it was accepted.
 */
const REPORTED: ReadonlySet<StatusWord> = new Set(["delivered", "failed", "unknown"]);

/** The delivery report of a text message, as a configuration has it; null where it is not to be told. */
export function dlrPush(config: DlrConfigContent, happening: Happening, facts: ReportFacts): Push | null {
  if (happening.kind !== "status" || happening.message.channel !== "sms") return null;
  if (!REPORTED.has(happening.status)) return null;
  if (config.provider !== EVERY_PROVIDER && config.provider !== happening.gateway) return null;

  const { pairs, fields } = formOf(config);
  const values = fields.map((field) => placeholderValue(field, happening, facts));
  const valueAt = (place: number): string => values[place] ?? "";
  const headers = Object.fromEntries(pairs.map(({ key, place }) => [key, headerValue(valueAt(place))]));
  if (config.method === "POST") return post(config.url, writeFields(fields, values), headers);
  const query = fields.map((field, place) => `${field}=${queryValue(valueAt(place))}`).join("&");
  return { method: "GET", url: withQuery(config.url, query), headers, body: null };
}

/** What a configuration tells, and in which headers as well. */
interface Form {
  /** With the place of its value among the fields. */
  pairs: readonly { key: string; place: number }[];
  fields: readonly Placeholder[];
}

/** Read once for each configuration: every report of an account asks. */
const forms = new WeakMap<DlrConfigContent, Form>();

function formOf(config: DlrConfigContent): Form {
  const known = forms.get(config);
  if (known) return known;
  const pairs = config.headers.flatMap(({ key, value }) => {
    const placeholder = readPlaceholder(value);
    return placeholder === null ? [] : [{ key, placeholder }];
  });
  const fields = pairs.length === 0 ? USUAL : [...new Set(pairs.map(({ placeholder }) => placeholder))];
  const form = { pairs: pairs.map(({ key, placeholder }) => ({ key, place: fields.indexOf(placeholder) })), fields };
  forms.set(config, form);
  return form;
}

/** Written by the parser that the request goes through as well, so that what is signed is what is sent. */
function withQuery(address: string, query: string): string {
  const url = new URL(address);
  url.search = url.search === "" ? query : `${url.search}&${query}`;
  url.hash = "";
  return url.href;
}
