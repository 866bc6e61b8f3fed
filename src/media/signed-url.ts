import { createHmac, timingSafeEqual } from "node:crypto";
import type { StoredMedia } from "../model/media.ts";

type MediaRef = Pick<StoredMedia, "accountId" | "id">;

/** Tokens of URLs by which a platform fetches media without a key, for a limited time. */
export interface MediaTokens {
  create(ref: MediaRef, expiresAt: number): string;
  /** Null for a token that is invalid or has expired. */
  read(token: string, now: number): MediaRef | null;
}

const TOKEN = /^([1-9]\d{0,9})-([0-9a-z]{1,11})-([0-9a-f]{32})-([\w-]{43})$/;

/** The signature covers account, media and expiry, and is compared in constant time (timing attack). */
export function createMediaTokens(key: Buffer): MediaTokens {
  const signatureOf = (signed: string): Buffer => createHmac("sha256", key).update(signed).digest();
  return {
    create({ accountId, id }, expiresAt) {
      const signed = `${accountId}-${expiresAt.toString(36)}-${id.replaceAll("-", "")}`;
      return `${signed}-${signatureOf(signed).toString("base64url")}`;
    },
    read(token, now) {
      const [, account = "", expiry = "", hex = "", given = ""] = TOKEN.exec(token) ?? [];
      if (account === "") return null;
      const signature = Buffer.from(given, "base64url");
      const wanted = signatureOf(`${account}-${expiry}-${hex}`);
      if (signature.length !== wanted.length || !timingSafeEqual(signature, wanted)) return null;
      if (Number.parseInt(expiry, 36) <= now) return null;
      const id = hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
      return { accountId: Number(account), id };
    },
  };
}
