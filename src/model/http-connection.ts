import type { State } from "./message.ts";

/** Settings of a provider's HTTP API: the request that sends an SMS, its responses and its webhooks. */
export interface HttpSettings {
  /** Name of the preset that supplied the defaults. */
  preset: HttpPresetName | null;
  /** Scheme, host and optional path. Secrets are sent only here, so it has no placeholders. */
  baseUrl: string;
  method: HttpMethod;
  /** Template of the path and query after the base URL. */
  path: string;
  /** Templates by name. */
  headers: Readonly<Record<string, string>>;
  /** Templates; null without basic authentication. */
  basicAuth: { user: string; password: string } | null;
  bodyType: HttpBodyType;
  /** Template; empty for no body. */
  body: string;
  /** Constants that are not secret, for `{{value:name}}`. */
  values: Readonly<Record<string, string>>;
  /** For the whole exchange. */
  timeoutSeconds: number;
  /** Concurrent requests per node. */
  requestsMax: number;
  success: HttpSuccess;
  /** Message id in the response; null if the provider returns none, and then our own id is used. */
  id: HttpPick | null;
  /** Error code in the response. */
  errorCode: HttpPick | null;
  /** The first match decides; without a match the status does. */
  errors: readonly HttpErrorRule[];
  /** Descriptions of the provider's codes. */
  errorTexts: Readonly<Record<string, string>>;
  /** Template of the query added to our webhook URL. */
  callbackQuery: string;
  proof: HttpProof;
  receipts: HttpReceipts | null;
  inbound: HttpInbound | null;
  /** Response body once a webhook is committed. */
  answer: string;
}

/** Never shown. By name. */
export type HttpSecrets = Readonly<Record<string, string>>;

/** As stored. */
export interface HttpConnectionSettings extends HttpSettings {
  /** Encrypted, by name. */
  secrets: HttpSecrets;
}

/** Secret that authenticates the provider's webhooks. */
export const CALLBACK_SECRET = "callback";
/** Previous secret, still valid: webhooks about earlier messages carry it. */
export const CALLBACK_SECRET_BEFORE = "callbackBefore";

export const HTTP_METHODS = ["GET", "POST", "PUT"] as const;
type HttpMethod = (typeof HTTP_METHODS)[number];

export const HTTP_BODY_TYPES = ["none", "form", "json", "raw"] as const;
export type HttpBodyType = (typeof HTTP_BODY_TYPES)[number];

export const HTTP_PRESETS = [
  "kannel",
  "twilio",
  "sinch",
  "vonage",
  "infobip",
  "exotel",
  "msg91",
  "gupshup",
  "kaleyra",
  "routemobile",
  "smsgate",
  "textbee",
  "httpsms",
] as const;
export type HttpPresetName = (typeof HTTP_PRESETS)[number];

/** Location of a value: the whole text or a field, optionally narrowed by a pattern. */
export interface HttpPick {
  path: string | null;
  pattern: string | null;
}

/** Responses that mean success: by status, and by condition if there is one. */
interface HttpSuccess extends HttpPick {
  statuses: readonly string[];
  equals: readonly string[] | null;
}

export const HTTP_MEANINGS = ["retry", "throttle", "refuse", "carrier", "stop", "unknown"] as const;
/**
 * Meaning of an error response.
 * - `retry`: temporary.
 * - `throttle`: reduces the rate of the connection.
 * - `refuse`: permanent for this message.
 * - `carrier`: not here; another carrier might accept it.
 * - `stop`: blocked until an operator acts.
 * - `unknown`: it may or may not have been accepted.
 */
export type HttpMeaning = (typeof HTTP_MEANINGS)[number];

/** All given criteria must match. */
export interface HttpErrorRule extends HttpPick {
  status: string | null;
  equals: readonly string[] | null;
  meaning: HttpMeaning;
}

export const HTTP_DIGESTS = ["sha256", "sha1", "sha512"] as const;
export const HTTP_DIGEST_FORMS = ["hex", "base64"] as const;

/** Authentication of webhooks. Unauthenticated requests are refused. */
export type HttpProof =
  /** Secret in our webhook URL, as `key`. */
  | { kind: "key" }
  /** Secret in a header, after a prefix. */
  | { kind: "header"; header: string; prefix: string }
  /** HMAC of the body in a header, after a prefix. */
  | {
      kind: "hmac";
      header: string;
      prefix: string;
      algorithm: (typeof HTTP_DIGESTS)[number];
      encoding: (typeof HTTP_DIGEST_FORMS)[number];
    };

export const HTTP_PROOFS = ["key", "header", "hmac"] as const satisfies readonly HttpProof["kind"][];

export const HTTP_STATES = ["enroute", "delivered", "undelivered", "expired", "rejected", "unknown"] as const;
export type HttpState = Extract<State, (typeof HTTP_STATES)[number]>;

/** Locations of receipt fields in a webhook. */
export interface HttpReceipts {
  /** Path of the list in a webhook with several receipts; null for one. */
  each: string | null;
  /** Provider's message id; null if absent. */
  id: HttpPick | null;
  /** Our own `{{messageId}}`, if the provider returns it. */
  ref: HttpPick | null;
  status: HttpPick;
  /** States by the provider's words, in any case. */
  states: Readonly<Record<string, HttpState>>;
  errorCode: HttpPick | null;
  description: HttpPick | null;
  time: HttpPick | null;
  recipient: HttpPick | null;
}

/** Locations of inbound message fields in a webhook. */
export interface HttpInbound {
  each: string | null;
  from: HttpPick;
  to: HttpPick;
  text: HttpPick;
  /** Id for deduplication; null if absent. */
  id: HttpPick | null;
  time: HttpPick | null;
  /** Charset of text in a query or form; absent or null means UTF-8. */
  charset?: HttpPick | null;
}

/** Defaults for most providers. URL and request have no default. */
export const HTTP_DEFAULTS: HttpSettings = {
  preset: null,
  baseUrl: "",
  method: "POST",
  path: "/",
  headers: {},
  basicAuth: null,
  bodyType: "none",
  body: "",
  values: {},
  timeoutSeconds: 15,
  requestsMax: 10,
  success: { statuses: ["2xx"], path: null, pattern: null, equals: null },
  id: null,
  errorCode: null,
  errors: [],
  errorTexts: {},
  callbackQuery: "",
  proof: { kind: "key" },
  receipts: null,
  inbound: null,
  answer: "OK",
};

/** Decrypts a stored connection. Settings that an earlier release did not know get their defaults. */
export const decryptedHttpConnection = (
  { secrets, ...settings }: HttpConnectionSettings,
  open: (sealed: string) => string,
): { settings: HttpSettings; secrets: HttpSecrets } => ({
  settings: { ...HTTP_DEFAULTS, ...settings },
  secrets: Object.fromEntries(Object.entries(secrets).map(([name, sealed]) => [name, open(sealed)])),
});

/** Template section for single-part texts only. */
const SHORT_ONLY = /\{\{!long\}\}.*?\{\{\/long\}\}/gsu;

/** True if each part has its own id and our id is returned with long texts as well. */
export function echoesIdWithParts({ id, path, headers, body, callbackQuery }: HttpSettings): boolean {
  if (!id?.path?.includes("[*]")) return false;
  const templates = [path, body, callbackQuery, ...Object.values(headers)].join("\n").replaceAll(SHORT_ONLY, "");
  return templates.includes("{{messageId}}");
}
