import { Fieldset, Stack } from "@mantine/core";
import type { ComponentType } from "react";
import { partsOf, type OwnInputProps, type Parts, type Values } from "../../parts/record/field.ts";
import { FieldList } from "../../parts/record/field-list.tsx";

/** Overrides of an adapter: how a field changes the others, and at which field an error appears. */
export interface LineHabits {
  set: (line: Values, name: string, next: unknown) => Values;
  faultAt: (line: Values, path: string, told: OwnInputProps["faultAt"]) => string | undefined;
}

const USUAL: LineHabits = {
  set: (line, name, next) => ({ ...line, [name]: next }),
  faultAt: (_line, path, told) => told(path),
};

/** An input for all connection settings of an adapter. The server reports their errors below `adapter`. */
export const lineInput = (adapter: string, parts: Parts, habits = USUAL): ComponentType<OwnInputProps> =>
  function LineInput({ label, value, onChange, disabled, faultAt }) {
    const line = partsOf(parts, value);
    return (
      <Fieldset legend={label}>
        <Stack gap="md">
          <FieldList
            fields={parts.fields}
            values={line}
            set={(name, next) => onChange(habits.set(line, name, next))}
            faultAt={(path) => habits.faultAt(line, path, (own) => faultAt(`${adapter}.${own}`))}
            isDisabled={() => disabled}
          />
        </Stack>
      </Fieldset>
    );
  };
