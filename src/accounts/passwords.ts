import { argon2, randomBytes, timingSafeEqual } from "node:crypto";
import { promisify } from "node:util";
import { createNarrowDoor } from "../lib/narrow-door.ts";

const work = promisify(argon2);

/** A hash takes a thread that others need too, and memory: a flood of logins must leave the rest of the house alone. */
const throughDoor = createNarrowDoor({ atOnce: 2, waiting: 100 });

const hash = (...given: Parameters<typeof work>): Promise<Buffer> => throughDoor(() => work(...given));

/** 19 MiB and two passes: what OWASP asks of argon2id at the least. */
const COST = { parallelism: 1, memory: 19_456, passes: 2, tagLength: 32 };

export async function hashPassword(password: string): Promise<string> {
  const nonce = randomBytes(16);
  const tag = await hash("argon2id", { message: password.normalize("NFKC"), nonce, ...COST });
  return `$argon2id$v=19$m=${COST.memory},t=${COST.passes},p=${COST.parallelism}$${base64(nonce)}$${base64(tag)}`;
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
