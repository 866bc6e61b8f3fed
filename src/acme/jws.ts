import { createHash, sign, type KeyObject } from "node:crypto";

interface Protected {
  url: string;
  nonce: string;
  /** URL of the account; null for the request that creates it, which carries the public key instead. */
  account: string | null;
}

const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");

/** The public key of a P-256 pair with its members in the order of RFC 7638. */
function publicKeyOf(key: KeyObject): { crv?: string; kty?: string; x?: string; y?: string } {
  const { crv, kty, x, y } = key.export({ format: "jwk" });
  return { crv, kty, x, y } as ReturnType<typeof publicKeyOf>;
}

/** Signs a request to an ACME server (RFC 8555, 6.2). A null payload makes a POST-as-GET. */
export function signRequest(key: KeyObject, { url, nonce, account }: Protected, payload: object | null): string {
  const identity = account === null ? { jwk: publicKeyOf(key) } : { kid: account };
  const head = encode({ alg: "ES256", nonce, url, ...identity });
  const body = payload === null ? "" : encode(payload);
  const signature = sign("sha256", Buffer.from(`${head}.${body}`), { key, dsaEncoding: "ieee-p1363" });
  return JSON.stringify({ protected: head, payload: body, signature: signature.toString("base64url") });
}

/** The text that the server expects at the URL of an HTTP-01 challenge (RFC 8555, 8.1). */
export function keyAuthorization(key: KeyObject, token: string): string {
  const thumbprint = createHash("sha256")
    .update(JSON.stringify(publicKeyOf(key)))
    .digest("base64url");
  return `${token}.${thumbprint}`;
}
