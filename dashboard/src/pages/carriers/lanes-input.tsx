import { Fieldset, Group, Stack, Text } from "@mantine/core";
import type { ComponentType } from "react";
import type { OwnInputProps } from "../../parts/record/field.ts";
import { NumberInput } from "../../parts/number-input.tsx";

const LANES = ["OTP", "TRANS", "PROMO"] as const;
type Lanes = Readonly<Record<(typeof LANES)[number], number>>;

interface Limits {
  /** Name of the field, to find its errors. */
  name: string;
  min: number;
  max: number;
}

/** An input with one number per message class. */
export const lanesInput = ({ name, min, max }: Limits): ComponentType<OwnInputProps> =>
  function LanesInput({ label, hint, value, onChange, disabled, faultAt }) {
    const numbers = value as Lanes;
    return (
      <Fieldset legend={label}>
        <Stack gap="xs">
          <Text size="xs" c="dimmed">
            {hint}
          </Text>
          <Group grow align="flex-start">
            {LANES.map((lane) => (
              <NumberInput
                key={lane}
                label={lane}
                min={min}
                max={max}
                value={numbers[lane]}
                onChange={(next) => typeof next === "number" && onChange({ ...numbers, [lane]: next })}
                error={faultAt(`${name}.${lane}`)}
                disabled={disabled}
              />
            ))}
          </Group>
        </Stack>
      </Fieldset>
    );
  };
