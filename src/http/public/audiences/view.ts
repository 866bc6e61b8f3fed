import { isUuid } from "../../../lib/ids.ts";
import { nullable, Type } from "../../../lib/schema.ts";
import {
  AUDIENCE_FAILURES,
  AUDIENCE_FILE_MS,
  AUDIENCE_STATES,
  type Audience,
  type AudienceMapping,
} from "../../../model/audience.ts";
import { Problem } from "../../../model/problem.ts";
import { seesTestsOnly } from "../../auth/test-mode.ts";
import type { AuthenticCall, Services } from "../../route.ts";

export const EXAMPLE_ID = "0198f3a2-7c40-7d1e-9a51-3f0c8e2b6d47";

/** The audience that a request names. A test key finds only those of test keys. */
export async function findAudience(
  { store }: Pick<Services, "store">,
  { params, caller }: Pick<AuthenticCall, "params" | "caller">,
): Promise<Audience> {
  const { id = "" } = params;
  const audience = isUuid(id) ? await store.findAudience({ accountId: caller.account.id, id }) : null;
  if (!audience || (seesTestsOnly(caller) && !audience.test))
    throw new Problem("RECORD_NOT_FOUND", { message: "There is no audience with this id." });
  return audience;
}

/** An audience as the API returns it. */
export function viewOf(audience: Audience): object {
  const { id, name, test, state, size, received, checked, layout, rows, recipients, faults, optedOut } = audience;
  const { failure, createdAt, endedAt, hasFile, segment } = audience;
  return {
    id,
    name,
    test,
    segment: segment?.name ?? null,
    state,
    size,
    received,
    // The bytes of a spreadsheet's CSV are counted, and these may be more.
    checked: Math.min(checked, size),
    sheet: audience.sheet,
    sheets: layout?.sheets ?? null,
    columns: layout && layout.columns.length > 0 ? layout.columns : null,
    mapping: mappingOf(audience),
    rows,
    recipients,
    faults,
    duplicates: rows - faults - recipients,
    optedOut,
    failure: failure && { code: failure, message: AUDIENCE_FAILURES[failure] },
    createdAt,
    endedAt,
    fileUntil: hasFile && endedAt !== null ? endedAt + AUDIENCE_FILE_MS : null,
  };
}

/** The columns that were recognised, or those that the caller named. */
function mappingOf({ layout, mapping }: Audience): AudienceMapping | null {
  const number = layout?.columns[layout.number];
  if (!layout || number === undefined) return mapping;
  const variables = layout.variables.map(({ name, column }) => [name, layout.columns[column] ?? ""] as const);
  return { number, variables: Object.fromEntries(variables) };
}

export const count = (description: string) => Type.Integer({ description });

export const AudienceView = Type.Object(
  {
    id: Type.String({ description: "Audience ID." }),
    name: Type.String({ description: "Its name." }),
    test: Type.Boolean({ description: "True if it was created with a test key." }),
    segment: nullable(Type.String(), "Segment whose contacts it has, as they were at its creation; null for a file."),
    state: Type.Union(
      AUDIENCE_STATES.map((state) => Type.Literal(state)),
      {
        description:
          "uploading: parts are missing. checking: rows are read. ready: it can be sent to. failed: `failure` has the reason.",
      },
    ),
    size: count("Bytes of the file."),
    received: count("Bytes that were uploaded: the offset of the next part."),
    checked: count("Bytes that were checked."),
    sheet: nullable(Type.String(), "Chosen sheet of a workbook; null for the first visible one."),
    sheets: nullable(Type.Array(Type.String()), "Visible sheets of a workbook; null for CSV, and until it is read."),
    columns: nullable(Type.Array(Type.String()), "Columns of the file; null until its first row is read."),
    mapping: nullable(
      Type.Object({
        number: Type.String({ description: "Column of the phone number." }),
        variables: Type.Record(Type.String(), { description: "Variables by name, each with its column." }),
      }),
      "The columns that are used; null until they are recognised.",
    ),
    rows: count("Rows that were checked, without the header and empty rows."),
    recipients: count("Distinct numbers."),
    faults: count("Rows with a fault."),
    duplicates: count("Rows whose number an earlier row has; they are left out."),
    optedOut: count("Recipients that are on the opt-out list. They get no PROMO messages."),
    failure: nullable(
      Type.Object({
        code: Type.Union(
          Object.keys(AUDIENCE_FAILURES).map((code) => Type.Literal(code)),
          { description: "Reason." },
        ),
        message: Type.String({ description: "Reason and fix." }),
      }),
      "Reason why the file cannot be used; null otherwise.",
    ),
    createdAt: count("Epoch milliseconds."),
    endedAt: nullable(Type.Integer(), "End of the check; null before."),
    fileUntil: nullable(
      Type.Integer(),
      "Until when the columns can be mapped again; null before the check has ended and once the file is removed.",
    ),
  },
  { title: "Audience" },
);

export const exampleAudience = {
  id: EXAMPLE_ID,
  name: "Autumn sale",
  test: false,
  segment: null,
  state: "ready",
  size: 4_194_304,
  received: 4_194_304,
  checked: 4_194_304,
  sheet: null,
  sheets: null,
  columns: ["phone", "first name", "city"],
  mapping: { number: "phone", variables: { name: "first name" } },
  rows: 100_000,
  recipients: 99_120,
  faults: 212,
  duplicates: 668,
  optedOut: 1304,
  failure: null,
  createdAt: 1767225600000,
  endedAt: 1767225612000,
  fileUntil: 1767312012000,
};
