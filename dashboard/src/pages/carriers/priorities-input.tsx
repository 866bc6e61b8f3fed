import { Fieldset, Group, NumberInput, Stack, Text } from "@mantine/core";
import type { OwnInputProps } from "../../parts/record/field.ts";

const LANES = ["OTP", "TRANS", "PROMO"] as const;
type Priorities = Readonly<Record<(typeof LANES)[number], number>>;

/** What the carrier is told of how urgent a message is, by its type. */
export function PrioritiesInput({ label, hint, value, onChange, disabled, faultAt }: OwnInputProps) {
  const priorities = value as Priorities;
  return (
    <Fieldset legend={label}>
      <Stack gap="xs">
        <Text size="xs" c="dimmed">
          {hint}
        </Text>
        <Group grow>
          {LANES.map((lane) => (
            <NumberInput
              key={lane}
              label={lane}
              min={0}
              max={3}
              allowDecimal={false}
              value={priorities[lane]}
              onChange={(next) => typeof next === "number" && onChange({ ...priorities, [lane]: next })}
              error={faultAt(`priorities.${lane}`)}
              disabled={disabled}
            />
          ))}
        </Group>
      </Stack>
    </Fieldset>
  );
}
