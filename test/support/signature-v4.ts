import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";

export interface S3Credentials {
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken?: string;
}

const SKEW_MAX_MS = 900_000;

const sha256 = (content: string | Buffer): string => createHash("sha256").update(content).digest("hex");
const hmac = (key: string | Buffer, text: string): Buffer => createHmac("sha256", key).update(text).digest();

const encoded = (text: string): string =>
  encodeURIComponent(text).replaceAll(/[!'()*]/g, (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`);

const parsed = /^AWS4-HMAC-SHA256\s+Credential=([^,]+),\s*SignedHeaders=([^,]+),\s*Signature=([0-9a-f]{64})$/;

/** Verifies a request as the documentation of signature version 4 says. Returns the code of the fault; null without one. */
export function faultOfSignature(
  { method = "", url = "", headers }: IncomingMessage,
  body: Buffer,
  { region, credentials }: { region: string; credentials: S3Credentials },
): string | null {
  const header = (name: string): string => String(headers[name] ?? "");
  const [, scope = "", signedHeaders = "", signature = ""] = parsed.exec(header("authorization")) ?? [];
  if (signature === "") return "AccessDenied";
  const [accessKeyId, day = "", scopeRegion = "", service, end] = scope.split("/");
  if (accessKeyId !== credentials.accessKeyId) return "InvalidAccessKeyId";
  if (scopeRegion !== region || service !== "s3" || end !== "aws4_request") return "AuthorizationHeaderMalformed";
  if (header("x-amz-security-token") !== (credentials.sessionToken ?? "")) return "InvalidToken";
  const at = header("x-amz-date");
  const time = Date.parse(at.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, "$1-$2-$3T$4:$5:$6Z"));
  if (!at.startsWith(day) || !(Math.abs(time - Date.now()) < SKEW_MAX_MS)) return "RequestTimeTooSkewed";
  const names = signedHeaders.split(";");
  const mustBeSigned = ["host", ...Object.keys(headers).filter((name) => name.startsWith("x-amz-"))];
  if (mustBeSigned.some((name) => !names.includes(name))) return "AccessDenied";
  const [path = "", query = ""] = url.split("?");
  const pairs = [...new URLSearchParams(query)].map(([name, value]) => `${encoded(name)}=${encoded(value)}`);
  const canonical = [
    method,
    path
      .split("/")
      .map((segment) => encoded(decodeURIComponent(segment)))
      .join("/"),
    // oxlint-disable-next-line unicorn/no-array-sort -- code units are the order that the specification asks for
    pairs.sort().join("&"),
    ...names.map((name) => `${name}:${header(name).trim().replaceAll(/ +/g, " ")}`),
    "",
    signedHeaders,
    header("x-amz-content-sha256"),
  ].join("\n");
  const toSign = ["AWS4-HMAC-SHA256", at, `${day}/${region}/s3/aws4_request`, sha256(canonical)].join("\n");
  const keys = [day, region, "s3", "aws4_request"];
  const key = keys.reduce<string | Buffer>((from, part) => hmac(from, part), `AWS4${credentials.secretAccessKey}`);
  if (!timingSafeEqual(hmac(key, toSign), Buffer.from(signature, "hex"))) return "SignatureDoesNotMatch";
  return header("x-amz-content-sha256") === sha256(body) ? null : "XAmzContentSHA256Mismatch";
}
