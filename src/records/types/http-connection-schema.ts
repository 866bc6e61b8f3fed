import { nullable, Type, type Infer, type Typed } from "../../lib/schema.ts";
import { isPlainText } from "../../lib/text.ts";
import {
  HTTP_BODY_TYPES,
  HTTP_DIGEST_FORMS,
  HTTP_DIGESTS,
  HTTP_MEANINGS,
  HTTP_METHODS,
  HTTP_PRESETS,
  HTTP_PROOFS,
  HTTP_STATES,
} from "../../model/http-connection.ts";
import { oneOf } from "./shared-fields.ts";

const TEMPLATE_MAX = 10_000;
const TEXT_MAX = 500;
const SECRET_MAX = 4000;
const LIST_MAX = 100;
const MAP_MAX = 1000;

/** The error text of a mapping of statuses that is missing, empty or too long. */
export const STATES_RULE = `Specify the meaning of 1 to ${MAP_MAX} statuses.`;

const text = (maxLength: number, description: string): Typed<string> => Type.String({ maxLength, description });
const line = Type.String({
  maxLength: TEXT_MAX,
  check: (value) => (isPlainText(value) ? null : "This must be one line of plain text."),
});
const isFew = (map: object): boolean => Object.keys(map).length <= MAP_MAX;
const list = <T>(items: Typed<T>, description: string): Typed<readonly T[]> =>
  Type.Array(items, { maxItems: LIST_MAX, description });

const STATUS = /^(?:[1-5]xx|[1-5]\d\d)$/;
const STATUS_RULE = "A status must be written like 202, or like 2xx for a class.";
const httpStatus = (maxLength: number): Typed<string> =>
  Type.String({ maxLength, check: (written) => (STATUS.test(written) ? null : STATUS_RULE) });

/** The error text of a missing or wrong base URL. */
export const BASE_URL_RULE =
  "baseUrl must be a URL such as https://api.provider.example, without placeholders, user name or query.";

function isBase(written: string): boolean {
  const url = URL.parse(written);
  const isWeb = url !== null && (url.protocol === "https:" || url.protocol === "http:");
  return isWeb && url.username === "" && url.password === "" && !/[?#{}\s\\]/.test(written);
}

const pickFields = {
  path: nullable(text(TEXT_MAX, ""), "Field, such as messages[0].id; null for the whole text."),
  pattern: nullable(text(TEXT_MAX, ""), "Pattern to search for, such as OK (*); null for the whole value."),
};
const shownPick = Type.Object(pickFields);
const pickRequest = Type.Union([text(TEXT_MAX, "Path."), Type.Partial(Type.Object(pickFields))]);
const described = <T>(pick: Typed<T>, description: string): Typed<T> => ({ ...pick, description });
const equals = nullable(list(text(TEXT_MAX, ""), ""), "Matching values; null for any.");
const state = oneOf(HTTP_STATES, "");

const receiptFields = <T>(pick: Typed<T>) => ({
  each: nullable(text(TEXT_MAX, ""), "Path of the list if a request reports several messages; null for one."),
  id: nullable(pick, "Provider's message ID; null if there is none."),
  ref: nullable(pick, "Field that returns {{messageId}}, once per message; null if there is none."),
  status: described(pick, "Delivery status in the provider's terms."),
  states: Type.Record(state, {
    description: "Mapping of the provider's statuses.",
    check: (states) => (isFew(states) && Object.keys(states).length > 0 ? null : STATES_RULE),
  }),
  errorCode: nullable(pick, "Provider's error code."),
  description: nullable(pick, "Provider's error description, shown to the sender of the message."),
  time: nullable(pick, "Time of the event."),
  recipient: nullable(pick, "Phone number."),
});
const inboundFields = <T>(pick: Typed<T>) => ({
  each: nullable(text(TEXT_MAX, ""), "Path of the list if a request contains several texts; null for one."),
  from: described(pick, "Phone number of the sender."),
  to: described(pick, "Your sender ID that received it."),
  text: described(pick, "Text."),
  id: nullable(pick, "ID for detecting duplicates; null if there is none."),
  time: nullable(pick, "Time of sending; together with id it identifies duplicates reliably."),
  charset: Type.Optional(
    nullable(pick, "Charset of texts in a query or form: UTF-16BE, windows-1252 and others. Defaults to UTF-8."),
  ),
});
const PROOF = "Authentication of the provider's requests, with the secret named callback.";
const proofFields = {
  kind: oneOf(HTTP_PROOFS, "key: in the URL. header: in a header. hmac: HMAC of the body in a header."),
  header: text(100, "Name of the header."),
  prefix: text(100, "Prefix of the value in the header, such as sha256=."),
  algorithm: oneOf(HTTP_DIGESTS, "Hash algorithm. Defaults to sha256."),
  encoding: oneOf(HTTP_DIGEST_FORMS, "Encoding. Defaults to hex."),
};
const successFields = {
  statuses: Type.Array(httpStatus(TEXT_MAX), {
    minItems: 1,
    maxItems: LIST_MAX,
    description: "Success statuses, such as 2xx or 202.",
    error: { minItems: "At least one success status is required, such as 2xx." },
  }),
  ...pickFields,
  equals,
};
const errorFields = {
  status: nullable(httpStatus(3), "Status, such as 409 or 5xx; null for any."),
  ...pickFields,
  equals,
};
const meaning = oneOf(
  HTTP_MEANINGS,
  "retry; throttle: lower the rate; refuse: the message fails; carrier: try another carrier; stop: pause until fixed; or unknown.",
);

export const plainFields = {
  preset: nullable(oneOf(HTTP_PRESETS, ""), "Provider preset for omitted fields; null for none."),
  baseUrl: Type.String({
    maxLength: TEXT_MAX,
    description: "Scheme and host, and a path if the whole API is below it. No placeholders.",
    check: (url) => (isBase(url) ? null : BASE_URL_RULE),
  }),
  method: oneOf(HTTP_METHODS, "HTTP method. Defaults to POST."),
  path: Type.String({
    maxLength: TEMPLATE_MAX,
    description: "Template of the path and query after the base URL; begins with a slash.",
    check: (path) => (path.startsWith("/") ? null : "path must begin with a slash."),
  }),
  headers: Type.Record(Type.String({ maxLength: TEXT_MAX }), { description: "Header templates by name." }),
  basicAuth: nullable(
    Type.Object({ user: text(TEXT_MAX, "Template."), password: text(TEXT_MAX, "Template.") }),
    "User and password for basic authentication, such as {{value:user}} and {{secret:password}}.",
  ),
  bodyType: oneOf(HTTP_BODY_TYPES, "Type of the body, which determines how values are escaped. Defaults to none."),
  body: text(TEMPLATE_MAX, "Template of the body."),
  values: Type.Record(line, {
    description: "Constants that are not secret, used as {{value:name}}.",
    check: (values) => (isFew(values) ? namesFault(values) : `values must have at most ${MAP_MAX} entries.`),
  }),
  timeoutSeconds: Type.Integer({ minimum: 1, maximum: 60, description: "Timeout of a request. Defaults to 15." }),
  requestsMax: Type.Integer({
    minimum: 1,
    maximum: 1000,
    description: "Maximum concurrent requests per node. Defaults to 10.",
  }),
  errorTexts: Type.Record(line, {
    description: "Meanings of the provider's error codes, shown as statusDescription.",
    check: (texts) => (isFew(texts) ? null : `errorTexts must have at most ${MAP_MAX} entries.`),
  }),
  callbackQuery: text(
    TEXT_MAX,
    "Template of additional query parameters for {{callbackUrl}}, such as ref={{messageId}}.",
  ),
  answer: text(TEXT_MAX, "Response to the provider's requests. Defaults to OK."),
};

/** Schema of responses. */
export const httpResponseSchema = Type.Object({
  ...plainFields,
  success: Type.Object(successFields, { description: "Success criteria of responses." }),
  id: nullable(shownPick, "Location of the provider's message ID in the response; null if there is none."),
  errorCode: nullable(shownPick, "Location of the error code in error responses."),
  errors: Type.Array(Type.Object({ ...errorFields, meaning }), { description: "How to classify error responses." }),
  proof: Type.Object(
    { ...Type.Partial(Type.Object(proofFields)).properties, kind: proofFields.kind },
    { description: PROOF },
  ),
  receipts: nullable(Type.Object(receiptFields(shownPick)), "Location of receipt fields in the provider's requests."),
  inbound: nullable(
    Type.Object(inboundFields(shownPick)),
    "Location of inbound message fields in the provider's requests.",
  ),
  secretNames: Type.Array(Type.String(), { description: "Names of the secrets. Values are never returned." }),
});

export const requestFields = {
  ...plainFields,
  success: Type.Partial(Type.Object(successFields), { description: "Success criteria of responses." }),
  id: nullable(pickRequest, "Location of the provider's message ID in the response: a path, or {path, pattern}."),
  errorCode: nullable(pickRequest, "Location of the error code in error responses."),
  errors: Type.Array(Type.Object({ ...Type.Partial(Type.Object(errorFields)).properties, meaning }), {
    maxItems: LIST_MAX,
    description: "How to classify error responses. The first match applies; without a match, the HTTP status decides.",
  }),
  proof: Type.Partial(Type.Object(proofFields), { description: PROOF }),
  receipts: nullable(
    Type.Partial(Type.Object(receiptFields(pickRequest))),
    "Location of receipt fields in the provider's requests; null if it sends none.",
  ),
  inbound: nullable(
    Type.Partial(Type.Object(inboundFields(pickRequest))),
    "Location of inbound message fields in the provider's requests; null if it sends none.",
  ),
  secrets: Type.Record(nullable(Type.String({ minLength: 1, maxLength: SECRET_MAX }), ""), {
    description:
      "Secrets by name, used as {{secret:name}}. Stored encrypted and never returned; null deletes one, omitted ones stay.",
    check: namesFault,
  }),
  secretNames: Type.Array(Type.String(), { description: "Read-only." }),
};

/** Schema of requests. */
export const httpRequestSchema = Type.Partial(Type.Object(requestFields));

/** Settings in requests. Omitted fields keep their value, or use that of the preset or the default. */
export type HttpFields = Infer<typeof httpRequestSchema>;

const NAME = /^[A-Za-z][A-Za-z0-9_]{0,49}$/;

function namesFault(map: object): string | null {
  const isRight = Object.keys(map).every((name) => NAME.test(name));
  return isRight ? null : "A name must begin with a letter and have at most 50 letters and digits.";
}
