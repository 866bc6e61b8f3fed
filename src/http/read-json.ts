import { Problem } from "../model/problem.ts";

const DEPTH_MAX = 20;

/** Parses a body; refuses what is no JSON, and nesting that only an attack would have. */
export function readJson(text: string): unknown {
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
    throw new Problem("INVALID_JSON", { cause: error });
  }
}

/** Looks no deeper than it has to, so its own recursion is bounded too. */
function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (levels === 0) return true;
  if (Array.isArray(value)) return value.some((item) => isDeeperThan(item, levels - 1));
  for (const name in value) if (isDeeperThan((value as Record<string, unknown>)[name], levels - 1)) return true;
  return false;
}
