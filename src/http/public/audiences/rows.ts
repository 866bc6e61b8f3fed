import { nullable, Type } from "../../../lib/schema.ts";
import { ROW_FAULTS, type Audience, type AudienceRecipient, type RowFault } from "../../../model/audience.ts";
import { count } from "./view.ts";

/** Rows of an audience as the API returns them. */

export const FaultView = Type.Object({
  row: count("Row of the file, from 1, counted with the header."),
  column: nullable(Type.String(), "Its column; null if the fault is of the whole row."),
  code: Type.Union(
    Object.keys(ROW_FAULTS).map((code) => Type.Literal(code)),
    { description: "Kind of fault." },
  ),
  message: Type.String({ description: "Requirement." }),
});

export const RecipientView = Type.Object({
  row: count("Row of the file, from 1, counted with the header."),
  number: Type.String({ description: "Phone number without plus." }),
  variables: Type.Record(Type.String(), { description: "Values by the names of the variables." }),
  optedOut: Type.Boolean({ description: "On the opt-out list when the row was checked." }),
});

export const faultView = ({ row, column: name, code }: RowFault): object => ({
  row,
  column: name,
  code,
  message: ROW_FAULTS[code],
});

export const recipientView = ({ layout }: Audience, { row, number, values, optedOut }: AudienceRecipient): object => ({
  row,
  number,
  variables: Object.fromEntries((layout?.variables ?? []).map(({ name }, index) => [name, values[index] ?? ""])),
  optedOut,
});
