import { Type, type Schema } from "../../lib/schema.ts";

/** One of several words. */
export const oneOf = (words: readonly string[], description: string): Schema =>
  Type.Union(
    words.map((word) => Type.Literal(word)),
    { description },
  );

/** How far a template of a platform is. */
export const status = oneOf(
  ["draft", "approved", "paused"],
  "Only an approved one, which it is unless given, can be sent.",
);
