import type { State } from "./message.ts";

/** How a provider that offers only an HTTP API is asked to send a text and how it calls back, as people set it. */
export interface HttpSettings {
  /** Whose request this is, where it is a well-known one: it filled in what was not given. */
  preset: HttpPresetName | null;
  /** Scheme, host and perhaps a path: everything that secrets are given for. It has no placeholders. */
  baseUrl: string;
  method: HttpMethod;
  /** A template: what follows the base, with its query. */
  path: string;
  /** Templates by name. */
  headers: Readonly<Record<string, string>>;
  /** Templates; null where the provider does not ask for it. */
  basicAuth: { user: string; password: string } | null;
  bodyType: HttpBodyType;
  /** A template; empty where there is none. */
  body: string;
  /** What is the same every time and no secret, by the name that `{{value:name}}` has. */
  values: Readonly<Record<string, string>>;
  /** For the whole exchange. */
  timeoutSeconds: number;
  /** Requests under way at a time, on each node. */
  requestsMax: number;
  success: HttpSuccess;
  /** Where the answer has the provider's id; null where it gives none, and then our own is the id. */
  id: HttpPick | null;
  /** Where an answer that is no yes has the provider's code. */
  errorCode: HttpPick | null;
  /** The first that fits decides; where none does, the status. */
  errors: readonly HttpErrorRule[];
  /** What the provider's codes mean. */
  errorTexts: Readonly<Record<string, string>>;
  /** A template: what our callback address has besides. */
  callbackQuery: string;
  proof: HttpProof;
  receipts: HttpReceipts | null;
  inbound: HttpInbound | null;
  /** What a call is answered with once all of it is on disk. */
  answer: string;
}

/** What nobody is ever shown, by name. */
export type HttpSecrets = Readonly<Record<string, string>>;

/** A line as it is stored. */
export interface HttpLine extends HttpSettings {
  /** Sealed, by name. */
  secrets: HttpSecrets;
}

/** The secret by which a call shows that it comes from the provider. */
export const CALLBACK_SECRET = "callback";
/** The one before it, which stays good: calls about what was sent before a change still have it. */
export const CALLBACK_SECRET_BEFORE = "callbackBefore";

export const HTTP_METHODS = ["GET", "POST", "PUT"] as const;
type HttpMethod = (typeof HTTP_METHODS)[number];

export const HTTP_BODY_TYPES = ["none", "form", "json", "raw"] as const;
export type HttpBodyType = (typeof HTTP_BODY_TYPES)[number];

export const HTTP_PRESETS = ["kannel", "twilio", "sinch", "vonage"] as const;
export type HttpPresetName = (typeof HTTP_PRESETS)[number];

/** Where something stands: in all of the text, or in a field of it, and there all or what a pattern finds. */
export interface HttpPick {
  path: string | null;
  pattern: string | null;
}

/** Which answers are a yes: those of a status, and where there is a condition those that it holds for. */
export interface HttpSuccess extends HttpPick {
  statuses: readonly string[];
  equals: readonly string[] | null;
}

export const HTTP_MEANINGS = ["retry", "throttle", "refuse", "carrier", "stop", "unknown"] as const;
/**
 * What a no means.
 * - `retry`: not now.
 * - `throttle`: too fast; the whole line goes slower for a while.
 * - `refuse`: never this message.
 * - `carrier`: not here; another carrier might.
 * - `stop`: nothing goes until somebody has done something.
 * - `unknown`: it may or may not have been taken.
 */
export type HttpMeaning = (typeof HTTP_MEANINGS)[number];

/** What an answer means: all that is given of it has to fit. */
export interface HttpErrorRule extends HttpPick {
  status: string | null;
  equals: readonly string[] | null;
  meaning: HttpMeaning;
}

export const HTTP_DIGESTS = ["sha256", "sha1", "sha512"] as const;
export const HTTP_DIGEST_FORMS = ["hex", "base64"] as const;

/** How a call shows that it comes from the provider. Nothing is taken from a call that does not. */
export type HttpProof =
  /** The secret stands in our callback address, as `key`. */
  | { kind: "key" }
  /** The secret stands in a header, behind a prefix. */
  | { kind: "header"; header: string; prefix: string }
  /** A header has the digest of the body under the secret, behind a prefix. */
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

/** Where a call has what became of a message. */
export interface HttpReceipts {
  /** The list of a call that tells of several; null where it tells of one. */
  each: string | null;
  /** The provider's id; null where it gives none. */
  id: HttpPick | null;
  /** Our own `{{messageId}}`, where the provider gives it back. */
  ref: HttpPick | null;
  status: HttpPick;
  /** What its words mean, whatever their case. */
  states: Readonly<Record<string, HttpState>>;
  errorCode: HttpPick | null;
  description: HttpPick | null;
  time: HttpPick | null;
  recipient: HttpPick | null;
}

/** Where a call has what a phone sent. */
export interface HttpInbound {
  each: string | null;
  from: HttpPick;
  to: HttpPick;
  text: HttpPick;
  /** By which a repetition is known; null where the provider gives none. */
  id: HttpPick | null;
  time: HttpPick | null;
}

/** What most providers take; who they are and what they want to be asked, everybody has to say. */
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

/** A stored line as it is spoken on; one of an earlier release has the defaults of what that could not know. */
export const openedHttpLine = (
  { secrets, ...settings }: HttpLine,
  open: (sealed: string) => string,
): { settings: HttpSettings; secrets: HttpSecrets } => ({
  settings: { ...HTTP_DEFAULTS, ...settings },
  secrets: Object.fromEntries(Object.entries(secrets).map(([name, sealed]) => [name, open(sealed)])),
});
