import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import { base32 } from "../lib/base32.ts";

const STEP_MS = 30_000;
const DIGITS = 6;
/** The output length of SHA-1, as RFC 4226 recommends. */
const SECRET_BYTES = 20;
/** Clocks of phones may be off by one step. */
const DRIFT_STEPS = [0, -1, 1];

export const newTotpSecret = (): Buffer => randomBytes(SECRET_BYTES);

const stepAt = (now: number): number => Math.floor(now / STEP_MS);

/** The code of a time step (RFC 6238: RFC 4226 with the time as counter). */
export function totpCode(secret: Buffer, step: number, digits: number = DIGITS): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const mac = createHmac("sha1", secret).update(counter).digest();
  const offset = (mac.at(-1) ?? 0) & 0x0f;
  const number = mac.readUInt32BE(offset) & 0x7f_ff_ff_ff;
  return String(number % 10 ** digits).padStart(digits, "0");
}

/** The time step of a code; null if it is not valid now. Timing attack: every step is compared. */
export function stepOfCode(secret: Buffer, code: string, now: number): number | null {
  const given = Buffer.from(/^\d{6}$/.test(code) ? code : "------");
  let found: number | null = null;
  for (const drift of DRIFT_STEPS) {
    const step = stepAt(now) + drift;
    if (timingSafeEqual(given, Buffer.from(totpCode(secret, step)))) found = step;
  }
  return found;
}

/** The key URI for authenticator apps, shown as a QR code. */
export function otpauthUrl(secret: Buffer, email: string, issuer: string): string {
  const label = `${encodeURIComponent(issuer)}:${encodeURIComponent(email)}`;
  const query = new URLSearchParams({ secret: base32(secret), issuer, period: "30", digits: String(DIGITS) });
  return `otpauth://totp/${label}?${query.toString().replaceAll("+", "%20")}`;
}

const RECOVERY_CODES = 10;
/** 80 bits are sixteen characters without padding. */
const RECOVERY_BYTES = 10;

/** Single-use codes for users who lose their phone. */
export const newRecoveryCodes = (): string[] =>
  Array.from({ length: RECOVERY_CODES }, () =>
    (base32(randomBytes(RECOVERY_BYTES)).toLowerCase().match(/.{4}/g) ?? []).join("-"),
  );

/** Normalises a typed recovery code; null if it is none. */
export function readRecoveryCode(written: string): string | null {
  const code = written.toLowerCase().replaceAll(/[\s-]/g, "");
  return /^[a-z2-7]{16}$/.test(code) ? code : null;
}
