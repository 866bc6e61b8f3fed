import { createHmac, createSecretKey, randomBytes, timingSafeEqual } from "node:crypto";
import { memoize } from "../lib/memoize.ts";
import type { WebhookRequest } from "../model/callback.ts";

/** Standard Webhooks asks for 24 to 64 bytes; 24 have no padding that a copied secret could lose. */
const SECRET_BYTES = 24;
const OWN_BYTES_MIN = 24;
const OWN_BYTES_MAX = 64;
const PREFIX = "whsec_";
const KEYS_MAX = 10_000;

/** Inputs of a signature. */
export interface Signing {
  /** Same at every attempt, so that a receiver can recognise a repeat. */
  id: string;
  /** Time of this attempt: receivers refuse old timestamps (replay protection). */
  timestampSeconds: number;
  /** All valid secrets: during a rotation a receiver may know either. */
  secrets: readonly string[];
}

/** A new secret in the format of Standard Webhooks. */
export const newSecret = (): string => `${PREFIX}${randomBytes(SECRET_BYTES).toString("base64")}`;

/** Checks a secret chosen by the customer: format and minimum length. */
export function isSecret(written: string): boolean {
  const key = Buffer.from(written.slice(PREFIX.length), "base64");
  // Node decodes Base64 leniently; receivers' libraries may be strict.
  const isWhole = written === PREFIX + key.toString("base64");
  return isWhole && key.length >= OWN_BYTES_MIN && key.length <= OWN_BYTES_MAX;
}

/** The request with its signature headers. */
export function signed(request: WebhookRequest, signing: Signing): WebhookRequest {
  const signature = sign({ ...signing, payload: signedPayload(request) });
  return { ...request, headers: { ...request.headers, ...signature } };
}

/** Signature headers of Standard Webhooks. */
export function sign({
  id,
  timestampSeconds,
  payload,
  secrets,
}: Signing & { payload: string }): Record<string, string> {
  if (secrets.length === 0) throw new Error("an endpoint has no secret to sign with");
  const content = `${id}.${timestampSeconds}.${payload}`;
  return {
    "webhook-id": id,
    "webhook-timestamp": String(timestampSeconds),
    "webhook-signature": secrets.map((secret) => `v1,${hmac(secret, content)}`).join(" "),
  };
}

/** Signed content: the body, or the query string of a request without one. */
export const signedPayload = ({ url, body }: WebhookRequest): string => body ?? new URL(url).search.slice(1);

/** Imported keys are cached: importing costs seven times the signature. */
const keyOf = memoize(KEYS_MAX, (secret) => createSecretKey(Buffer.from(secret.slice(PREFIX.length), "base64")));

const hmac = (secret: string, content: string): string =>
  createHmac("sha256", keyOf(secret)).update(content).digest("base64");

/** Replay protection: the largest difference between a request's timestamp and the clock. */
export const TOLERANCE_SECONDS = 300;

interface SignedHeaders {
  id: string;
  timestamp: string;
  /** One or more signatures, separated by spaces or commas. */
  signature: string;
}

/** Verifies the signature of a request that another service signed by Standard Webhooks. */
export function isSignedBy(secret: string, headers: SignedHeaders, payload: string, nowSeconds: number): boolean {
  const { id, timestamp, signature } = headers;
  const timestampSeconds = Number(timestamp);
  if (id === "" || !/^\d{1,15}$/.test(timestamp)) return false;
  if (Math.abs(nowSeconds - timestampSeconds) > TOLERANCE_SECONDS) return false;
  const expected = Buffer.from(hmac(secret, `${id}.${timestamp}.${payload}`));
  const given = signature.split(/[\s,]+/).filter((part) => part !== "" && part !== "v1");
  // Every signature is compared, in constant time.
  return given.slice(0, SIGNATURES_MAX).filter((each) => isSame(Buffer.from(each), expected)).length > 0;
}

const SIGNATURES_MAX = 10;

const isSame = (one: Buffer, other: Buffer): boolean => one.length === other.length && timingSafeEqual(one, other);
