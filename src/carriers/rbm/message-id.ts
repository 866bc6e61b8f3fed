import { createHash } from "node:crypto";
import { messageIdOf, type MessageRef } from "../../model/message.ts";

/** Constant forever: all message ids are derived from it. */
const NAMESPACE = Buffer.from("5e1f7c0a3b6d4c58a2c99d0f46b7e813", "hex");

/**
 * Message id on the platform: a UUIDv5 of our own id. The platform deduplicates by it, so a message is sent once however
 * often any node submits it.
 */
export function platformIdOf(ref: Pick<MessageRef, "requestId" | "n">): string {
  const digest = createHash("sha1").update(NAMESPACE).update(messageIdOf(ref)).digest();
  digest[6] = ((digest[6] ?? 0) & 0x0f) | 0x50;
  digest[8] = ((digest[8] ?? 0) & 0x3f) | 0x80;
  const hex = digest.toString("hex", 0, 16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
