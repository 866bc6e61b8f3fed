import { nullable } from "../../lib/nullable.ts";
import { Type, type Schema } from "../../lib/schema.ts";

/** Ids in the registers of operators are digits in India; others have letters too. */
export const registerId = (description: string): Schema =>
  nullable(Type.String({ minLength: 1, maxLength: 50, pattern: "^[0-9A-Za-z_-]+$" }), description);
