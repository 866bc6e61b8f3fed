import { nullable, PATTERN_RULE, Type } from "../../lib/schema.ts";
import { isPlainText } from "../../lib/text.ts";
import type { ReportField } from "../../model/callback.ts";
import { PLACEHOLDERS, readPlaceholder } from "../../model/placeholder.ts";
import type { Fault } from "../../model/problem.ts";

const FIELDS_MAX = 30;
const VALUE_MAX = 500;

const VALUE_RULE = `value is exactly one of ${PLACEHOLDERS.map((name) => `{{${name}}}`).join(", ")}, or a constant text of at most ${VALUE_MAX} characters without {{.`;

export const reportFields = Type.Default(
  nullable(
    Type.Array(
      Type.Object({
        name: Type.String({
          maxLength: 100,
          pattern: "^[A-Za-z][A-Za-z0-9_.-]*$",
          [PATTERN_RULE]: "begin with a letter and have letters, digits, dots, dashes and underscores only",
          description: "Name of the field in the report.",
        }),
        value: Type.String({
          description: "A placeholder such as `{{status}}`, or a constant text.",
          error: VALUE_RULE,
          check: (value) => (isValue(value) ? null : VALUE_RULE),
        }),
      }),
      { minItems: 1, maxItems: FIELDS_MAX },
    ),
    "Fields of the report under names of your own, independent of `headers`. Defaults to null: `headers` choose the fields.",
  ),
  null,
);

const isValue = (value: string): boolean =>
  readPlaceholder(value) !== null ||
  (value.length <= VALUE_MAX && !value.includes("{{") && (value === "" || isPlainText(value)));

/** Two fields of one name would be one to the receiver. */
export function checkReportFields(fields: readonly ReportField[], faults: Fault[]): void {
  const seen = new Set<string>();
  for (const [index, { name }] of fields.entries()) {
    if (seen.has(name))
      faults.push({
        parameter: `fields[${index}].name`,
        message: "Another field has this name: give each field a name of its own.",
      });
    seen.add(name);
  }
}
