import { createHmac, hash, timingSafeEqual } from "node:crypto";
import {
  CALLBACK_SECRET,
  CALLBACK_SECRET_BEFORE,
  type HttpProof,
  type HttpSecrets,
} from "../../model/http-connection.ts";
import type { PlatformWebhook } from "../http-platform.ts";

/** The part of a request that the signature proves. */
export type VerifiedWebhook = "nothing" | "body" | "all";

/** Verifies that a request comes from the provider, in constant time (timing attacks). */
export function createSignatureCheck(
  proof: HttpProof,
  secrets: HttpSecrets,
): (webhook: PlatformWebhook) => VerifiedWebhook {
  const keys = [secrets[CALLBACK_SECRET], secrets[CALLBACK_SECRET_BEFORE]].filter(
    (key): key is string => key !== undefined && key !== "",
  );
  const matchesAny = (given: string, expected: readonly string[]): boolean => {
    const isSame = expected.map((each) => timingSafeEqual(digestOf(given), digestOf(each)));
    return isSame.includes(true);
  };
  return (webhook) => {
    if (proof.kind === "key") {
      const given = keyIn(webhook.query);
      return given !== null && matchesAny(given, keys) ? "all" : "nothing";
    }
    const written = webhook.headers[proof.header.toLowerCase()];
    if (typeof written !== "string" || !written.startsWith(proof.prefix)) return "nothing";
    const given = written.slice(proof.prefix.length);
    if (proof.kind === "header") return matchesAny(given, keys) ? "all" : "nothing";
    // The digest of an empty body is constant, and would be valid for every request.
    if (webhook.body.length === 0) return "nothing";
    const digests = keys.map((key) => createHmac(proof.algorithm, key).update(webhook.body).digest(proof.encoding));
    // Hex digits may be upper case.
    return matchesAny(proof.encoding === "hex" ? given.toLowerCase() : given, digests) ? "body" : "nothing";
  };
}

/** Hashed to equal length, so that the comparison reveals nothing about the secret. */
const digestOf = (text: string): Buffer => hash("sha256", text, "buffer");

/** Null if the query has no key, or more than one, which would be ambiguous. */
function keyIn(query: string): string | null {
  const [key, ...others] = new URLSearchParams(query).getAll("key");
  return key === undefined || others.length > 0 ? null : key;
}
