import { Group, Stack, Switch, TextInput } from "@mantine/core";
import { t } from "../../i18n/t.ts";
import type { OwnInputProps } from "../../parts/record/field.ts";

interface Hours {
  from: string;
  to: string;
}

const USUAL: Hours = { from: "21:00", to: "10:00" };

/** Quiet hours, during which promotions wait; null for none. */
export function QuietHoursInput({ label, hint, value, onChange, disabled, faultAt }: OwnInputProps) {
  const hours = value as Hours | null;
  const time = (name: "from" | "to", word: string) => (
    <TextInput
      label={word}
      type="time"
      value={hours?.[name] ?? ""}
      onChange={({ currentTarget }) => onChange({ ...USUAL, ...hours, [name]: currentTarget.value })}
      error={faultAt(`quietHours.${name}`)}
      disabled={disabled}
    />
  );
  return (
    <Stack gap="xs">
      <Switch
        label={label}
        description={hint}
        checked={hours !== null}
        onChange={({ currentTarget }) => onChange(currentTarget.checked ? USUAL : null)}
        disabled={disabled}
        error={faultAt("quietHours")}
      />
      {hours !== null && (
        <Group grow>
          {time("from", t("Start"))}
          {time("to", t("End"))}
        </Group>
      )}
    </Stack>
  );
}
