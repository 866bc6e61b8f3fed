import { generateKeyPairSync, randomBytes, sign, type KeyObject } from "node:crypto";
import { der, pem } from "../../src/lib/der.ts";

/** Certificate and key of a TLS server and the CA of its clients, as PEM. */
export interface Certificates {
  /** The CA that signed `cert`. */
  ca: string;
  /** For localhost and 127.0.0.1. */
  cert: string;
  key: string;
}

/** Creates a CA and a certificate, so that tests need neither files that expire nor openssl. */
export function issueCertificates(): Certificates {
  const authority = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const server = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const name = `Test authority ${randomBytes(4).toString("hex")}`;
  const isAuthority = extension("551d13", der(0x30, der(0x01, Buffer.from([0xff]))));
  const names = extension(
    "551d11",
    der(0x30, der(0x82, Buffer.from("localhost")), der(0x87, Buffer.from([127, 0, 0, 1]))),
  );
  return {
    ca: certificate(name, name, authority.publicKey, authority.privateKey, isAuthority),
    cert: certificate(name, "localhost", server.publicKey, authority.privateKey, names),
    key: server.privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
  };
}

function certificate(issuer: string, subject: string, of: KeyObject, signer: KeyObject, about: Buffer): string {
  const day = 86_400_000;
  const body = der(
    0x30,
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    ECDSA_WITH_SHA256,
    commonName(issuer),
    der(0x30, time(Date.now() - day), time(Date.now() + day)),
    commonName(subject),
    of.export({ type: "spki", format: "der" }),
    der(0xa3, der(0x30, about)),
  );
  const signature = der(0x03, Buffer.from([0]), sign("sha256", body, signer));
  return pem("CERTIFICATE", der(0x30, body, ECDSA_WITH_SHA256, signature));
}

const oid = (hex: string): Buffer => der(0x06, Buffer.from(hex, "hex"));
const ECDSA_WITH_SHA256 = der(0x30, oid("2a8648ce3d040302"));

const commonName = (name: string): Buffer =>
  der(0x30, der(0x31, der(0x30, oid("550403"), der(0x0c, Buffer.from(name)))));

const extension = (id: string, value: Buffer): Buffer => der(0x30, oid(id), der(0x04, value));

/** UTCTime with a two-digit year. */
function time(at: number): Buffer {
  const digits = new Date(at).toISOString().replaceAll(/[-:T]/g, "").slice(2, 14);
  return der(0x17, Buffer.from(`${digits}Z`));
}
