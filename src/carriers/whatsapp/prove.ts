import { createHmac, hash, timingSafeEqual } from "node:crypto";
import type { PlatformAnswer, PlatformCall } from "../platform.ts";

const SIGNATURE = /^sha256=([0-9a-fA-F]{64})$/;

/** Whether a call was signed with the app secret, byte for byte as it came. Without a secret nothing is. */
export function isSigned({ headers, body }: PlatformCall, appSecret: string | null): boolean {
  const written = headers["x-hub-signature-256"];
  const hex = typeof written === "string" ? SIGNATURE.exec(written)?.[1] : undefined;
  if (hex === undefined || !appSecret) return false;
  return timingSafeEqual(Buffer.from(hex, "hex"), createHmac("sha256", appSecret).update(body).digest());
}

const REFUSED: PlatformAnswer = { status: 403, text: "Forbidden" };
const CHALLENGE_MAX = 1000;

/** Answers the platform's question whether this address is ours, which it asks when somebody enters it there. */
export function answerHandshake(query: string, verifyToken: string | null): PlatformAnswer {
  const asked = new URLSearchParams(query);
  const challenge = asked.get("hub.challenge");
  const token = asked.get("hub.verify_token");
  if (asked.get("hub.mode") !== "subscribe" || challenge === null || token === null || !verifyToken) return REFUSED;
  if (challenge.length > CHALLENGE_MAX || !isSame(token, verifyToken)) return REFUSED;
  return { status: 200, text: challenge };
}

/** In a time that tells nothing of either, not even its length. */
const isSame = (one: string, other: string): boolean => timingSafeEqual(digestOf(one), digestOf(other));

const digestOf = (words: string): Buffer => hash("sha256", words, "buffer");
