import { Type } from "../lib/schema.ts";
import type { SourcedVerification } from "../model/verification.ts";

/** The fields by which an answer shows the product that made a code. */
export const SOURCE_FIELDS = {
  source: Type.Union([Type.String(), Type.Null()], {
    description: "The product that made the code, such as supabase; null if Heliograph made it.",
  }),
  deliverOnly: Type.Boolean({ description: "The product checks the code itself." }),
};

export const sourceView = ({ source }: Pick<SourcedVerification, "source">): object => ({
  source: source?.name ?? null,
  deliverOnly: source?.deliverOnly ?? false,
});
