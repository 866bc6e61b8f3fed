import { Problem } from "../model/problem.ts";

const DEPTH_MAX = 20;

/** Parses a body; refuses what is no JSON, and nesting that only an attack would have. */
export function readJson(text: string): unknown {
  if (depthOf(text) > DEPTH_MAX) {
    throw new Problem("INVALID_JSON", { message: `The body nests deeper than ${DEPTH_MAX} levels.` });
  }
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Problem("INVALID_JSON", { cause: error });
  }
}

const QUOTE = 34;
const BACKSLASH = 92;
const OPEN_ARRAY = 91;
const CLOSE_ARRAY = 93;
const OPEN_OBJECT = 123;
const CLOSE_OBJECT = 125;

/** The deepest nesting, by counting brackets outside of strings: cheaper than parsing what will be refused. */
function depthOf(text: string): number {
  let depth = 0;
  let deepest = 0;
  let inString = false;
  for (let i = 0; i < text.length; i += 1) {
    const unit = text.charCodeAt(i);
    if (inString) {
      if (unit === BACKSLASH) i += 1;
      else if (unit === QUOTE) inString = false;
    } else if (unit === QUOTE) inString = true;
    else if (unit === OPEN_OBJECT || unit === OPEN_ARRAY) {
      depth += 1;
      if (depth > deepest) deepest = depth;
    } else if (unit === CLOSE_OBJECT || unit === CLOSE_ARRAY) depth -= 1;
  }
  return deepest;
}
