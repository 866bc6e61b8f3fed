import { Select } from "@mantine/core";
import { useNames } from "../../parts/record/use-names.ts";
import type { OwnInputProps } from "../../parts/record/field.ts";

/** A choice among the verification configurations. */
export function ConfigInput({ label, hint, value, onChange, disabled, faultAt }: OwnInputProps) {
  const names = useNames("/api/verify-configs");
  const chosen = typeof value === "string" ? value : "";
  return (
    <Select
      label={label}
      description={hint}
      data={names.includes(chosen) || chosen === "" ? names : [chosen, ...names]}
      value={chosen}
      onChange={(name) => name !== null && onChange(name)}
      allowDeselect={false}
      disabled={disabled}
      error={faultAt("configId")}
      required
    />
  );
}
