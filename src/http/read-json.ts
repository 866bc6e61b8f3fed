import { isUtf8 } from "node:buffer";
import { Problem } from "../model/problem.ts";

const DEPTH_MAX = 20;
const REPLACEMENT = "\ufffd";
const BYTE_ORDER_MARK = 0xfeff;

/**
 * Decodes a body; null if it is not UTF-8. Invalid bytes decode to the replacement character, so only a text that contains
 * one is validated, and an ordinary send does not pay for it.
 */
export function decodeUtf8(bytes: Buffer, from = 0, to = bytes.length): string | null {
  const text = bytes.toString("utf8", from, to);
  return text.includes(REPLACEMENT) && !isUtf8(bytes.subarray(from, to)) ? null : text;
}

/** Parses a JSON body; limits its depth (denial of service). */
export function readJson(text: string | null): unknown {
  if (text === null) throw new Problem("INVALID_JSON", { message: "The body is not UTF-8." });
  const value = parse(text);
  if (isDeeperThan(value, DEPTH_MAX)) {
    throw new Problem("INVALID_JSON", { message: `The body nests deeper than ${DEPTH_MAX} levels.` });
  }
  return value;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (text.charCodeAt(0) !== BYTE_ORDER_MARK) throw new Problem("INVALID_JSON", { cause: error });
    const message = "The body begins with a byte order mark (the bytes EF BB BF): remove it.";
    throw new Problem("INVALID_JSON", { message, cause: error });
  }
}

/** Stops at the limit, so its own recursion is bounded too. */
function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (levels === 0) return true;
  if (Array.isArray(value)) return value.some((item) => isDeeperThan(item, levels - 1));
  for (const name in value) if (isDeeperThan((value as Record<string, unknown>)[name], levels - 1)) return true;
  return false;
}
