import { createHmac, hash, timingSafeEqual } from "node:crypto";
import { CALLBACK_SECRET, CALLBACK_SECRET_BEFORE, type HttpProof, type HttpSecrets } from "../../model/http-line.ts";
import type { PlatformCall } from "../platform.ts";

/** What of a call comes from the provider for certain: nothing, its body, or all of it. */
export type Proven = "nothing" | "body" | "all";

/** Makes what looks whether a call comes from the provider. It takes as long for a wrong proof as for a right one. */
export function createProof(proof: HttpProof, secrets: HttpSecrets): (call: PlatformCall) => Proven {
  const keys = [secrets[CALLBACK_SECRET], secrets[CALLBACK_SECRET_BEFORE]].filter(
    (key): key is string => key !== undefined && key !== "",
  );
  const isOne = (given: string, rights: readonly string[]): boolean => {
    const isSame = rights.map((right) => timingSafeEqual(digestOf(given), digestOf(right)));
    return isSame.includes(true);
  };
  return (call) => {
    if (proof.kind === "key") {
      const given = keyIn(call.query);
      return given !== null && isOne(given, keys) ? "all" : "nothing";
    }
    const written = call.headers[proof.header.toLowerCase()];
    if (typeof written !== "string" || !written.startsWith(proof.prefix)) return "nothing";
    const given = written.slice(proof.prefix.length);
    if (proof.kind === "header") return isOne(given, keys) ? "all" : "nothing";
    // The digest of nothing is the same for every call, and would prove all of them.
    if (call.body.length === 0) return "nothing";
    const digests = keys.map((key) => createHmac(proof.algorithm, key).update(call.body).digest(proof.encoding));
    // In hex, large letters are as good as small ones.
    return isOne(proof.encoding === "hex" ? given.toLowerCase() : given, digests) ? "body" : "nothing";
  };
}

/** Of the same length whatever was given, so that a comparison tells nothing of it. */
const digestOf = (text: string): Buffer => hash("sha256", text, "buffer");

/** The one key of the query; null where there is none, or more than one, of which nobody could say which counts. */
function keyIn(query: string): string | null {
  const [key, ...others] = new URLSearchParams(query).getAll("key");
  return key === undefined || others.length > 0 ? null : key;
}
