import { WebhookVerificationError } from "./errors.ts";
import type {
  ChatMessageSent,
  ChatMessageStatus,
  ChatUserMessage,
  RcsMessageStatus,
  RcsUserMessage,
  SmsDeliveryReport,
  SmsDeliveryReportEvent,
  SmsLinkClick,
  SmsUserMessage,
  VerifyVerificationStatus,
} from "./schema.ts";

/** An event of a webhook: branch on `event`, then on `channel`. */
export type WebhookEvent =
  | SmsUserMessage
  | SmsDeliveryReportEvent
  | SmsLinkClick
  | RcsMessageStatus
  | RcsUserMessage
  | ChatMessageStatus
  | ChatMessageSent
  | ChatUserMessage
  | VerifyVerificationStatus;

/** The body of a webhook, or the fields of a delivery report, which has no `event`. */
export type WebhookPayload = WebhookEvent | (SmsDeliveryReport & { event?: never });

/** Headers of `Request`, of Node's `IncomingMessage` and of common frameworks. */
export type WebhookHeaders =
  | { get(name: string): string | null }
  | Readonly<Record<string, string | readonly string[] | undefined>>;

export interface WebhookOptions {
  /** Replay protection: largest difference between the webhook's time and now, 300 seconds by default. */
  toleranceSeconds?: number;
  /** The current time in epoch milliseconds, for tests. */
  now?: number;
}

const TOLERANCE_SECONDS = 300;
const PREFIX = "whsec_";
const KEY_BYTES_MIN = 16;
/** Every signature costs a hash of the body. A rotation has two. */
const SIGNATURES_MAX = 10;

/**
 * Verifies the signature of a webhook and returns its payload. `body` is the raw body, not parsed. For a delivery report
 * by GET it is the query string without the question mark. `secret` may be a list during a rotation.
 */
export async function verifyWebhook(
  secret: string | readonly string[],
  headers: WebhookHeaders,
  body: string | Uint8Array,
  { toleranceSeconds = TOLERANCE_SECONDS, now = Date.now() }: WebhookOptions = {},
): Promise<WebhookPayload> {
  const [id, timestamp, signatures] = ["webhook-id", "webhook-timestamp", "webhook-signature"].map((name) => {
    const value = headerOf(headers, name);
    if (value === null || value === "") throw new WebhookVerificationError(`The header ${name} is missing.`);
    return value;
  }) as [string, string, string];
  if (!/^\d{1,12}$/.test(timestamp)) throw new WebhookVerificationError("The header webhook-timestamp is no time.");
  if (Math.abs(now / 1000 - Number(timestamp)) > toleranceSeconds)
    throw new WebhookVerificationError("The webhook is too old, or its time is in the future.");
  const text = typeof body === "string" ? body : new TextDecoder().decode(body);
  const content = new TextEncoder().encode(`${id}.${timestamp}.${text}`);
  for (const one of typeof secret === "string" ? [secret] : secret) {
    const key = await importKey(one);
    for (const signature of signatures.split(" ").slice(0, SIGNATURES_MAX)) {
      const [version, given = ""] = signature.split(",", 2);
      // The runtime compares in constant time.
      if (version === "v1" && (await crypto.subtle.verify("HMAC", key, bytesOf(given), content))) return parse(text);
    }
  }
  throw new WebhookVerificationError("No signature matches: the secret is another one, or the body was changed.");
}

function headerOf(headers: WebhookHeaders, name: string): string | null {
  if (typeof headers["get"] === "function") return (headers as { get(name: string): string | null }).get(name);
  const given = headers as Readonly<Record<string, string | readonly string[] | undefined>>;
  const found = Object.keys(given).find((key) => key.toLowerCase() === name);
  const value = found === undefined ? undefined : given[found];
  return typeof value === "string" ? value : null;
}

/** `CryptoKey`, which is not a global type in every runtime. */
type ImportedKey = Awaited<ReturnType<typeof crypto.subtle.importKey>>;

function importKey(secret: string): Promise<ImportedKey> {
  const key = typeof secret === "string" && secret.startsWith(PREFIX) ? bytesOf(secret.slice(PREFIX.length)) : null;
  // With an empty key any caller could compute a valid signature.
  if (!key || key.length < KEY_BYTES_MIN) throw new TypeError("secret is the signing secret of the endpoint, whsec_….");
  return crypto.subtle.importKey("raw", key, { name: "HMAC", hash: "SHA-256" }, false, ["verify"]);
}

/** The bytes of a Base64 text. Invalid Base64 gives no bytes, which match no signature. */
function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  try {
    return Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
  } catch {
    return new Uint8Array();
  }
}

/** A JSON body, or the query string of a delivery report by GET. */
function parse(text: string): WebhookPayload {
  if (!text.startsWith("{")) return Object.fromEntries(new URLSearchParams(text));
  try {
    return JSON.parse(text) as WebhookPayload;
  } catch (error) {
    throw new WebhookVerificationError("The body is no JSON.", { cause: error });
  }
}
