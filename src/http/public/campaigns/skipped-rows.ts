import { Type } from "../../../lib/schema.ts";
import { SKIP_CODES, type SkippedRow } from "../../../model/campaign.ts";

/** A recipient without a message as the API returns it. */
export const skippedRow = ({ row, code }: SkippedRow): object => ({ row, code, message: SKIP_CODES[code] });

export const skippedRows = (description: string) =>
  Type.Array(
    Type.Object({
      row: Type.Integer({ description: "Row of the audience's file." }),
      code: Type.Union(
        Object.keys(SKIP_CODES).map((code) => Type.Literal(code)),
        { description: "Reason." },
      ),
      message: Type.String({ description: "The same as text." }),
    }),
    { description },
  );
