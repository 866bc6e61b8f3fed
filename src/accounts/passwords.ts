import { argon2, randomBytes, timingSafeEqual } from "node:crypto";
import { promisify } from "node:util";
import { createSemaphore } from "../lib/async.ts";

const argon2Async = promisify(argon2);

/** Each hash takes a thread of the libuv pool and 19 MiB, so a flood of logins must not starve other work. */
const limitHashes = createSemaphore({ atOnce: 2, waiting: 100 });

const hash = (...args: Parameters<typeof argon2Async>): Promise<Buffer> => limitHashes(() => argon2Async(...args));

/** The OWASP minimum for argon2id: 19 MiB and two passes. */
export const OWASP_COST = { parallelism: 1, memory: 19_456, passes: 2, tagLength: 32 };

let newHashCost = OWASP_COST;

/** For tests, which create a thousand passwords: a hash takes 50 ms by design. */
export function setNewHashCost(cost: typeof OWASP_COST): void {
  newHashCost = cost;
}

export async function hashPassword(password: string, cost = newHashCost): Promise<string> {
  const nonce = randomBytes(16);
  const tag = await hash("argon2id", { message: password.normalize("NFKC"), nonce, ...cost });
  return `$argon2id$v=19$m=${cost.memory},t=${cost.passes},p=${cost.parallelism}$${base64(nonce)}$${base64(tag)}`;
}

export async function checkPassword(password: string, stored: string): Promise<boolean> {
  const parts = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([^$]+)\$([^$]+)$/.exec(stored);
  if (!parts?.[4] || !parts[5]) return false;
  const expected = Buffer.from(parts[5], "base64");
  const tag = await hash("argon2id", {
    message: password.normalize("NFKC"),
    nonce: Buffer.from(parts[4], "base64"),
    memory: Number(parts[1]),
    passes: Number(parts[2]),
    parallelism: Number(parts[3]),
    tagLength: expected.length,
  });
  return timingSafeEqual(tag, expected);
}

const base64 = (bytes: Buffer): string => bytes.toString("base64").replaceAll("=", "");
