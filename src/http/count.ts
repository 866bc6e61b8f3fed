import { Type, type Infer } from "../lib/schema.ts";

/** A count that stops at a limit, so that it takes the same time for any number of rows. */
export const CountView = Type.Object(
  {
    count: Type.Integer({ description: "Number of matches that were counted." }),
    more: Type.Boolean({ description: "True if there are more than `count`." }),
  },
  { title: "Count" },
);

/** The response for rows that were counted up to one more than `max`. */
export const countView = (counted: number, max: number): Infer<typeof CountView> => ({
  count: Math.min(counted, max),
  more: counted > max,
});
