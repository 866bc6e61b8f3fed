import { createHmac, hash, timingSafeEqual } from "node:crypto";
import { isObject } from "../../lib/json.ts";
import type { PlatformWebhook } from "../http-platform.ts";

/**
 * A webhook request.
 * - `handshake`: the platform verifies that the URL is ours and expects its secret back.
 * - `event`: a signed event; null if it cannot be parsed.
 * - `stranger`: no valid signature.
 */
export type RbmWebhook =
  | { kind: "handshake"; secret: string }
  | { kind: "event"; event: unknown }
  | { kind: "stranger" };

const SECRET_MAX = 4096;

/** Verifies the signature before anything is parsed further. */
export function verifyWebhook({ body, headers }: PlatformWebhook, clientToken: string): RbmWebhook {
  const outer = parsed(body);
  if (!isObject(outer)) return { kind: "stranger" };
  const { clientToken: token, secret, message } = outer;
  if (typeof token === "string" && typeof secret === "string") {
    const isOurs = isSame(token, clientToken) && secret.length <= SECRET_MAX;
    return isOurs ? { kind: "handshake", secret } : { kind: "stranger" };
  }
  const signature = headers["x-goog-signature"];
  const data = isObject(message) ? message.data : null;
  if (typeof data !== "string" || typeof signature !== "string") return { kind: "stranger" };
  const bytes = Buffer.from(data, "base64");
  if (!isSame(signature, signatureOf(bytes, clientToken))) return { kind: "stranger" };
  return { kind: "event", event: parsed(bytes) };
}

/** Signature of the platform's requests. */
const signatureOf = (bytes: Buffer, clientToken: string): string =>
  createHmac("sha512", clientToken).update(bytes).digest("base64");

/** Constant-time comparison, independent of length (timing attacks). */
const isSame = (given: string, wanted: string): boolean => timingSafeEqual(digestOf(given), digestOf(wanted));

const digestOf = (text: string): Buffer => hash("sha256", text, "buffer");

function parsed(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString("utf8"));
  } catch {
    // Input that is not JSON is expected here.
    return null;
  }
}
