import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { isSignedBy, TOLERANCE_SECONDS } from "../../webhooks/sign.ts";

/** A request whose sender is to be proven by the hook's secret. */
interface SignedRequest {
  headers: IncomingHttpHeaders;
  body: Buffer;
  nowSeconds: number;
}

export type SecretCheck = (secret: string, request: SignedRequest) => boolean;

const headerOf = (headers: IncomingHttpHeaders, name: string): string => [headers[name] ?? ""].flat().join(",");

/** Standard Webhooks: a signature over the raw body. Supabase shows its secrets as `v1,whsec_…`. */
export const standardWebhooks: SecretCheck = (secret, { headers, body, nowSeconds }) =>
  isSignedBy(
    secret,
    {
      id: headerOf(headers, "webhook-id"),
      timestamp: headerOf(headers, "webhook-timestamp"),
      signature: headerOf(headers, "webhook-signature"),
    },
    body.toString("utf8"),
    nowSeconds,
  );

const SIGNATURES_MAX = 10;

/** `ZITADEL-Signature: t=…,v1=…`: an HMAC in hexadecimal over time and raw body. A rotation has two signatures. */
export const zitadelSignature: SecretCheck = (secret, { headers, body, nowSeconds }) => {
  const parts = headerOf(headers, "zitadel-signature")
    .split(",")
    .map((part) => part.trim().split("="));
  const time = parts.find(([name]) => name === "t")?.[1] ?? "";
  if (!/^\d{1,15}$/.test(time) || Math.abs(nowSeconds - Number(time)) > TOLERANCE_SECONDS) return false;
  const expected = createHmac("sha256", secret).update(`${time}.`).update(body).digest("hex");
  const given = parts.filter(([name]) => name === "v1").map(([, value = ""]) => value.toLowerCase());
  return given.slice(0, SIGNATURES_MAX).filter((each) => isSameText(each, expected)).length > 0;
};

const BEARER = /^bearer +/i;
const BASIC = /^basic +/i;

/** The secret itself: as the Authorization header, as a Bearer token, as the password of Basic, or as `X-Api-Key`. */
export const presentedSecret: SecretCheck = (secret, { headers }) => {
  const authorization = headerOf(headers, "authorization").trim();
  const decoded = BASIC.test(authorization) ? Buffer.from(authorization.replace(BASIC, ""), "base64").toString() : ":";
  const given = [
    authorization,
    authorization.replace(BEARER, ""),
    decoded.slice(decoded.indexOf(":") + 1),
    headerOf(headers, "x-api-key"),
  ];
  return given.filter((each) => isSameText(each, secret)).length > 0;
};

/** Timing attack: digests of equal length are compared, so the time tells neither length nor content. */
const isSameText = (one: string, other: string): boolean => timingSafeEqual(sha256(one), sha256(other));

const sha256 = (text: string): Buffer => createHash("sha256").update(text).digest();
