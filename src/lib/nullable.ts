import { Type, type Schema } from "./schema.ts";

/** A schema that takes null too; the words are the field's, because those of a branch would be shown nowhere. */
export const nullable = (schema: Schema, description: string): Schema =>
  Type.Union([schema, Type.Null()], { description });
