import { createHmac, hash, timingSafeEqual } from "node:crypto";
import { isObject } from "../../lib/plain-object.ts";
import type { PlatformCall } from "../platform.ts";

/**
 * What somebody calls with.
 * - `handshake`: the platform sees whether the address is ours, and wants its secret back.
 * - `event`: the platform tells something; null where it cannot be read, though the platform has signed it.
 * - `stranger`: it could be anybody.
 */
export type ReadCall = { kind: "handshake"; secret: string } | { kind: "event"; event: unknown } | { kind: "stranger" };

const SECRET_MAX = 4096;

/** Reads a call, and looks whether it is the platform's, before anything in it is believed. */
export function readCall({ body, headers }: PlatformCall, clientToken: string): ReadCall {
  const outer = parsed(body);
  if (!isObject(outer)) return { kind: "stranger" };
  const { clientToken: token, secret, message } = outer;
  if (typeof token === "string" && typeof secret === "string") {
    const isOurs = isSame(token, clientToken) && secret.length <= SECRET_MAX;
    return isOurs ? { kind: "handshake", secret } : { kind: "stranger" };
  }
  const signature = headers["x-goog-signature"];
  const data = isObject(message) ? message.data : null;
  if (typeof data !== "string" || typeof signature !== "string") return { kind: "stranger" };
  const bytes = Buffer.from(data, "base64");
  if (!isSame(signature, signatureOf(bytes, clientToken))) return { kind: "stranger" };
  return { kind: "event", event: parsed(bytes) };
}

/** What the platform signs its calls with. */
const signatureOf = (bytes: Buffer, clientToken: string): string =>
  createHmac("sha512", clientToken).update(bytes).digest("base64");

/** Takes as long whatever differs, and however long what was given is. */
const isSame = (given: string, wanted: string): boolean => timingSafeEqual(digestOf(given), digestOf(wanted));

const digestOf = (text: string): Buffer => hash("sha256", text, "buffer");

function parsed(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString("utf8"));
  } catch {
    // Anybody may send anything: what cannot be read is nothing.
    return null;
  }
}
