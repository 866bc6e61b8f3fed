import Type, { type TSchema } from "typebox";
import { nullable } from "../../lib/nullable.ts";

/** Ids in the registers of operators are digits in India; others have letters too. */
export const registerId = (description: string): TSchema =>
  nullable(Type.String({ minLength: 1, maxLength: 50, pattern: "^[0-9A-Za-z_-]+$" }), description);
