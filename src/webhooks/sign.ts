import { createHmac, createSecretKey, randomBytes } from "node:crypto";
import { createRecall } from "../lib/recall.ts";
import type { Push } from "../model/callback.ts";

/** Standard Webhooks asks for 24 to 64 bytes; 24 have no padding that a copied secret could lose. */
const SECRET_BYTES = 24;
const OWN_BYTES_MIN = 24;
const OWN_BYTES_MAX = 64;
const PREFIX = "whsec_";
const KEYS_MAX = 10_000;

/** What a push is signed with. */
export interface Signing {
  /** The same at every try, so that a receiver can tell a repetition. */
  id: string;
  /** Of this try: receivers refuse what is older than minutes. */
  timestampSeconds: number;
  /** All that count now: while one is replaced by another, a receiver may know either. */
  secrets: readonly string[];
}

/** A new secret for an endpoint, in the form that libraries for Standard Webhooks take. */
export const newSecret = (): string => `${PREFIX}${randomBytes(SECRET_BYTES).toString("base64")}`;

/** Whether somebody's own secret has that form: a key that is too short could be guessed. */
export function isSecret(written: string): boolean {
  const key = Buffer.from(written.slice(PREFIX.length), "base64");
  // Base64 is read leniently, and libraries of receivers may be strict.
  const isWhole = written === PREFIX + key.toString("base64");
  return isWhole && key.length >= OWN_BYTES_MIN && key.length <= OWN_BYTES_MAX;
}

/** A push with the headers that its receiver knows it by. */
export function signed(request: Push, signing: Signing): Push {
  const signature = sign({ ...signing, payload: signedPayload(request) });
  return { ...request, headers: { ...request.headers, ...signature } };
}

/** The headers by which a receiver can tell that a push is ours and whole (Standard Webhooks). */
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

/** What is signed of a push: its body, and where it has none everything behind the question mark, as it is sent. */
export const signedPayload = ({ url, body }: Push): string => body ?? new URL(url).search.slice(1);

/** Made of bytes anew for every push, a key would cost seven times what the signature does. */
const keyOf = createRecall(KEYS_MAX, (secret) => createSecretKey(Buffer.from(secret.slice(PREFIX.length), "base64")));

const hmac = (secret: string, content: string): string =>
  createHmac("sha256", keyOf(secret)).update(content).digest("base64");
