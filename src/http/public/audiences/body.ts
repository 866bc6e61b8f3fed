import { nullable, Type, type Infer } from "../../../lib/schema.ts";
import { isPlainText } from "../../../lib/text.ts";
import type { Fault } from "../../../model/problem.ts";

/** The bodies of requests that create, change and upload audiences. */

const NAME_MAX = 100;
const COLUMN_MAX = 100;
const VARIABLES_MAX = 50;

const nameField = Type.String({
  minLength: 1,
  maxLength: NAME_MAX,
  description: "Name of the audience.",
  check: (name) =>
    name.trim() !== "" && isPlainText(name) ? null : `name is plain text of 1 to ${NAME_MAX} characters.`,
});

const column = (description: string) => Type.String({ minLength: 1, maxLength: COLUMN_MAX, description });

const MappingBody = Type.Object(
  {
    number: column("Column of the phone number, by its name in the first row; by its place from 1 without a header."),
    variables: Type.Optional(
      Type.Record(column("Column of the variable."), {
        description: `Variables by name, each with its column, at most ${VARIABLES_MAX}. Without it, every other column is a variable under its own name.`,
        check: (variables) => variablesFault(Object.keys(variables)),
      }),
    ),
  },
  { description: "The columns of the file. Without it they are recognised." },
);

function variablesFault(names: readonly string[]): string | null {
  if (names.length > VARIABLES_MAX) return `An audience has at most ${VARIABLES_MAX} variables.`;
  const isName = (name: string): boolean => name.length <= COLUMN_MAX && name.trim() !== "" && isPlainText(name);
  return names.every(isName) ? null : `The name of a variable is plain text of 1 to ${COLUMN_MAX} characters.`;
}

const sheetField = nullable(
  Type.String({ minLength: 1, maxLength: 100 }),
  "Sheet of a workbook (XLSX) by its name; null for the first visible one.",
);

export const NewAudience = Type.Object({
  name: nameField,
  size: Type.Optional(Type.Integer({ minimum: 1, description: "Bytes of the file." })),
  sheet: Type.Optional(sheetField),
  mapping: Type.Optional(MappingBody),
  segment: Type.Optional(
    Type.String({ minLength: 1, description: "Name of a segment, whose contacts are copied, instead of a file." }),
  ),
});

type NewFields = Partial<Infer<typeof NewAudience>>;

/** Either a file or a segment. */
export function sourceFaults({ right, wrong }: { right: NewFields; wrong: ReadonlySet<string> }): Fault[] {
  const has = (field: "size" | "segment" | "mapping"): boolean => right[field] !== undefined || wrong.has(field);
  if (has("size") === has("segment")) return [{ parameter: "size", message: "Give either size or segment." }];
  if (!has("segment") || !has("mapping")) return [];
  return [{ parameter: "mapping", message: "A segment has no columns to map: leave mapping out." }];
}

export const AudienceChange = Type.Object({
  name: Type.Optional(nameField),
  sheet: Type.Optional(sheetField),
  mapping: Type.Optional(MappingBody),
});

export const Part = Type.Object({
  offset: Type.Integer({ minimum: 0, description: "Position of the part's first byte in the file." }),
  text: Type.Optional(Type.String({ description: "The part as text, stored in UTF-8." })),
  base64: Type.Optional(
    Type.String({
      description: "The part in base64, instead of `text`. A part may end anywhere, also within a character.",
      check: (written) =>
        /^[A-Za-z0-9+/]*={0,2}$/.test(written) ? null : "base64 holds the bytes of the part in base64.",
    }),
  ),
});

type PartFields = Partial<Infer<typeof Part>>;

/** Exactly one of the two forms. */
export const partFaults = ({ right, wrong }: { right: PartFields; wrong: ReadonlySet<string> }): Fault[] => {
  const has = (field: "text" | "base64"): boolean => right[field] !== undefined || wrong.has(field);
  return has("text") === has("base64") ? [{ parameter: "text", message: "Give either text or base64." }] : [];
};
