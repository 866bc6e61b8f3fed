import { Fieldset, Stack } from "@mantine/core";
import type { ComponentType } from "react";
import { partsOf, type OwnInputProps, type Parts, type Values } from "../../parts/record/field.ts";
import { FieldList } from "../../parts/record/field-list.tsx";

/** What a line becomes when one of its fields is set; only that field is another, unless told otherwise. */
type Setting = (line: Values, name: string, next: unknown) => Values;

const setOne: Setting = (line, name, next) => ({ ...line, [name]: next });

/** An input for all fields of a line, whose faults the server tells below `adapter`. */
export const lineInput = (adapter: string, parts: Parts, setting = setOne): ComponentType<OwnInputProps> =>
  function LineInput({ label, value, onChange, disabled, faultAt }) {
    const line = partsOf(parts, value);
    return (
      <Fieldset legend={label}>
        <Stack gap="md">
          <FieldList
            fields={parts.fields}
            values={line}
            set={(name, next) => onChange(setting(line, name, next))}
            faultAt={(path) => faultAt(`${adapter}.${path}`)}
            isDisabled={() => disabled}
          />
        </Stack>
      </Fieldset>
    );
  };
