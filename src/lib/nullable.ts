import Type, { type TSchema } from "typebox";

/** A schema that takes null too; the words are the field's, because those of a branch would be shown nowhere. */
export const nullable = (schema: TSchema, description: string): TSchema =>
  Type.Union([schema, Type.Null()], { description });
