import { Select } from "@mantine/core";
import { t } from "../../i18n/t.ts";
import type { OwnInputProps } from "../../parts/record/field.ts";
import { HTTP_PRESETS } from "./http-presets.ts";

const OTHER = "other";
const OPTIONS = [
  ...HTTP_PRESETS.map(({ value, label }) => ({ value, label })),
  { value: OTHER, label: t("Another provider") },
];

/** The provider preset. Null means that the request is written under "Advanced". */
export const PresetInput = ({ label, hint, value, onChange, disabled, faultAt }: OwnInputProps) => (
  <Select
    label={label}
    description={hint}
    data={OPTIONS}
    value={typeof value === "string" ? value : OTHER}
    onChange={(next) => onChange(next === OTHER ? null : next)}
    allowDeselect={false}
    error={faultAt("preset")}
    disabled={disabled}
  />
);
