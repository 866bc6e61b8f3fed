import { randomFillSync } from "node:crypto";

/** Digits and letters that nobody mixes up when reading a link aloud: there is no 0, O, I or l. */
const ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
const LENGTH = 7;
/** Bytes from here on would favour the first letters; they are thrown away. */
const UNFAIR = 256 - (256 % ALPHABET.length);

const POOL_BYTES = 4096;
const pool = Buffer.alloc(POOL_BYTES);
let used = POOL_BYTES;

/**
 * A code that cannot be guessed from others: of two million million, each as likely as any other.
 * It may be taken all the same, about once in 200,000 when there are ten million links: whoever stores it must look.
 */
export function newCode(): string {
  let code = "";
  while (code.length < LENGTH) {
    if (used === POOL_BYTES) {
      randomFillSync(pool);
      used = 0;
    }
    const byte = pool[used++] ?? UNFAIR;
    if (byte < UNFAIR) code += ALPHABET.charAt(byte % ALPHABET.length);
  }
  return code;
}

/** What a code looks like, as the source of a regular expression; also for the table of routes. */
export const CODE_PATTERN = `[1-9A-HJ-NP-Za-km-z]{${LENGTH}}`;

const CODE = new RegExp(`^${CODE_PATTERN}$`);

export const isCode = (value: string): boolean => CODE.test(value);
