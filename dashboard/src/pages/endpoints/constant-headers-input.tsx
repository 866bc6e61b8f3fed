import { t } from "../../i18n/t.ts";
import type { Field, OwnInputProps } from "../../parts/record/field.ts";
import { RowsInput, type Rows } from "../../parts/record/rows-input.tsx";

const NAME = "constantHeaders";

const ROWS: Rows = {
  columns: [
    { name: "name", label: t("Header"), placeholder: "Authorization" },
    { name: "value", label: t("Value"), secret: true },
  ],
  starts: { name: "", value: "" },
  add: t("Add header"),
  read: (value) => ((value ?? []) as { name: string }[]).map(({ name }) => ({ name, value: "" })),
  write: (rows) => rows.map(({ name, value }) => ({ name, value: value === "" ? null : value })),
  faultPath: (place, column) => `${NAME}[${place}].${column}`,
};

const ConstantHeadersInput = (props: OwnInputProps) => <RowsInput {...props} name={NAME} rows={ROWS} />;

/** Constant headers of an endpoint. Their values are write-only. */
export const CONSTANT_HEADERS: Field = {
  name: NAME,
  label: t("Constant headers"),
  hint: t(
    "Sent with every request, such as Authorization. Values are stored encrypted and never displayed; an empty value keeps the stored one.",
  ),
  input: { kind: "own", component: ConstantHeadersInput },
  secret: true,
};
