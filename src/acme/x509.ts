import { randomBytes, sign, type KeyPairKeyObjectResult } from "node:crypto";
import { DER, der, pem } from "../lib/der.ts";

const oid = (hex: string): Buffer => der(DER.oid, Buffer.from(hex, "hex"));
const COMMON_NAME = oid("550403");
const SUBJECT_ALT_NAME = oid("551d11");
const EXTENSION_REQUEST = oid("2a864886f70d01090e");
const ECDSA_WITH_SHA256 = der(DER.sequence, oid("2a8648ce3d040302"));
const DNS_NAME = 2;

const DAY_MS = 86_400_000;

/** The extension that lists the DNS names of a certificate. */
function alternativeNames(domains: readonly string[]): Buffer {
  const names = domains.map((domain) => der(DER.context(DNS_NAME), Buffer.from(domain, "latin1")));
  const extension = der(DER.sequence, SUBJECT_ALT_NAME, der(DER.octetString, der(DER.sequence, ...names)));
  return der(DER.sequence, extension);
}

/** A structure with its signature, as a certificate and a signing request have it. */
function signed(body: Buffer, { privateKey }: KeyPairKeyObjectResult): Buffer {
  const signature = der(DER.bitString, Buffer.from([0]), sign("sha256", body, privateKey));
  return der(DER.sequence, body, ECDSA_WITH_SHA256, signature);
}

/** A certificate signing request (PKCS #10) in DER, for a pair of P-256 keys. The names are in its extension only (RFC 8555, 7.4). */
export function signingRequest(domains: readonly string[], keys: KeyPairKeyObjectResult): Buffer {
  const extensions = der(DER.sequence, EXTENSION_REQUEST, der(DER.set, alternativeNames(domains)));
  const body = der(
    DER.sequence,
    der(DER.integer, Buffer.from([0])),
    der(DER.sequence),
    keys.publicKey.export({ type: "spki", format: "der" }),
    der(DER.contextConstructed(0), extensions),
  );
  return signed(body, keys);
}

/** A self-signed certificate, PEM. No client trusts it; it only allows a server to listen until it has a real one. */
export function selfSigned(domains: readonly string[], keys: KeyPairKeyObjectResult, now: number): string {
  const name = der(
    DER.sequence,
    der(DER.set, der(DER.sequence, COMMON_NAME, der(DER.utf8String, Buffer.from("Heliograph, no certificate yet")))),
  );
  const body = der(
    DER.sequence,
    der(DER.contextConstructed(0), der(DER.integer, Buffer.from([2]))),
    der(DER.integer, Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    ECDSA_WITH_SHA256,
    name,
    der(DER.sequence, utcTime(now - DAY_MS), utcTime(now + 7 * DAY_MS)),
    name,
    keys.publicKey.export({ type: "spki", format: "der" }),
    der(DER.contextConstructed(3), alternativeNames(domains)),
  );
  return pem("CERTIFICATE", signed(body, keys));
}

function utcTime(at: number): Buffer {
  const digits = new Date(at).toISOString().replaceAll(/[-:T]/g, "").slice(2, 14);
  return der(DER.utcTime, Buffer.from(`${digits}Z`));
}
