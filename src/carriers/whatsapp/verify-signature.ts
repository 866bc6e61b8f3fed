import { createHmac, hash, timingSafeEqual } from "node:crypto";
import type { PlatformAnswer, PlatformWebhook } from "../http-platform.ts";

const SIGNATURE = /^sha256=([0-9a-fA-F]{64})$/;

/** Verifies the HMAC over the raw body. Without an app secret every request is refused. */
export function isSigned({ headers, body }: PlatformWebhook, appSecret: string | null): boolean {
  const written = headers["x-hub-signature-256"];
  const hex = typeof written === "string" ? SIGNATURE.exec(written)?.[1] : undefined;
  if (hex === undefined || !appSecret) return false;
  return timingSafeEqual(Buffer.from(hex, "hex"), createHmac("sha256", appSecret).update(body).digest());
}

const REFUSED: PlatformAnswer = { status: 403, text: "Forbidden" };
const CHALLENGE_MAX = 1000;

/** Answers the verification request that the platform sends when its webhook URL is configured. */
export function answerHandshake(query: string, verifyToken: string | null): PlatformAnswer {
  const params = new URLSearchParams(query);
  const challenge = params.get("hub.challenge");
  const token = params.get("hub.verify_token");
  if (params.get("hub.mode") !== "subscribe" || challenge === null || token === null || !verifyToken) return REFUSED;
  if (challenge.length > CHALLENGE_MAX || !isSame(token, verifyToken)) return REFUSED;
  return { status: 200, text: challenge };
}

/** Constant-time comparison, independent of length (timing attacks). */
const isSame = (one: string, other: string): boolean => timingSafeEqual(digestOf(one), digestOf(other));

const digestOf = (value: string): Buffer => hash("sha256", value, "buffer");
