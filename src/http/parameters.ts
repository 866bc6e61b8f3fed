import { Type } from "../lib/schema.ts";
import { LIMIT_DEFAULT, LIMIT_MAX } from "./pagination.ts";
import type { TypedParameter } from "./route.ts";

/**
 * A string parameter with a sample value for tools such as Postman, which send every parameter. The curl commands of the
 * reference omit it, because they contain only parameters with an `example`.
 */
export const textParameter = (meaning: string, sample: string): TypedParameter => ({
  meaning,
  schema: Type.String({ examples: [sample] }),
});

/** The page size of a list. */
export const limitParameter: TypedParameter = {
  meaning: `Records per page, 1 to ${LIMIT_MAX}. Defaults to ${LIMIT_DEFAULT}.`,
  schema: Type.Integer({ minimum: 1, maximum: LIMIT_MAX, default: LIMIT_DEFAULT }),
  example: 20,
};

/** Cursor and page size of a list. Cursors are opaque; `sample` is one of this list. */
export const pageParameters = (sample: string): Readonly<Record<"cursor" | "limit", TypedParameter>> => ({
  cursor: textParameter("`nextCursor` of the previous page.", sample),
  limit: limitParameter,
});

const SPAN = { begin: "2026-01-01T00:00:00Z", end: "2026-01-02T00:00:00Z" };

/** A time, as `readTime` parses it: begin or end of a span. */
export function timeParameter(meaning: string, place: keyof typeof SPAN = "begin"): TypedParameter {
  const examples = [SPAN[place]];
  // Some tools use only the first branch of a union.
  const branches = [Type.String({ format: "date-time", examples }), Type.Integer({ minimum: 0 })];
  return { meaning, schema: Type.Union(branches, { examples }) };
}

/** A phone number, as `readNumber` parses it. */
export const phoneParameter = (meaning: string): TypedParameter => ({
  meaning,
  schema: Type.String({ format: "phone", examples: ["15550100100"] }),
});

/** An enumeration. */
export const choiceParameter = (values: readonly string[], meaning: string): TypedParameter => ({
  meaning,
  schema: Type.Union(values.map((value) => Type.Literal(value))),
});
