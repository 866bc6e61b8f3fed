import { t } from "../../i18n/t.ts";
import type { Field, OwnInputProps } from "../../parts/record/field.ts";
import { RowsInput, type Rows } from "../../parts/record/rows-input.tsx";
import type { ReportField } from "./endpoint.ts";
import { PLACEHOLDERS } from "./placeholders.ts";

const NAME = "fields";
const CONSTANT = "constant";

const ROWS: Rows = {
  columns: [
    { name: "name", label: t("Field"), placeholder: "id" },
    {
      name: "source",
      label: t("Value"),
      options: [
        ...PLACEHOLDERS.map(({ name }) => ({ value: `{{${name}}}`, label: `{{${name}}}` })),
        { value: CONSTANT, label: t("Constant") },
      ],
    },
    { name: "value", label: t("Constant"), when: ({ source }) => source === CONSTANT },
  ],
  starts: { name: "", source: "{{messageId}}", value: "" },
  add: t("Add field"),
  read: (value) =>
    ((value ?? []) as ReportField[]).map((field) =>
      field.value.startsWith("{{")
        ? { name: field.name, source: field.value, value: "" }
        : { name: field.name, source: CONSTANT, value: field.value },
    ),
  write: (rows) =>
    rows.length === 0
      ? null
      : rows.map(({ name, source, value }) => ({ name, value: source === CONSTANT ? value : source })),
  faultPath: (place, column) => `${NAME}[${place}].${column === "source" ? "value" : column}`,
};

const ReportFieldsInput = (props: OwnInputProps) => <RowsInput {...props} name={NAME} rows={ROWS} />;

/** Fields of a report's body under custom names, independent of its headers. */
export const REPORT_FIELDS: Field = {
  name: NAME,
  label: t("Custom fields"),
  hint: t(
    "Fields of the report under your own names. Without custom fields, the headers above choose the fields of the report.",
  ),
  input: { kind: "own", component: ReportFieldsInput },
  secretFree: true,
};
