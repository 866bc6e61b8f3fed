import { Fieldset, Stack } from "@mantine/core";
import { partsOf, type OwnInputProps } from "../../parts/record/field.ts";
import { FieldList } from "../../parts/record/field-list.tsx";
import { SMPP_PARTS } from "./smpp-fields.ts";

/** How a line over SMPP is bound and spoken on. */
export function SmppInput({ label, value, onChange, disabled, faultAt }: OwnInputProps) {
  const line = partsOf(SMPP_PARTS, value);
  return (
    <Fieldset legend={label}>
      <Stack gap="md">
        <FieldList
          fields={SMPP_PARTS.fields}
          values={line}
          set={(name, next) => onChange({ ...line, [name]: next })}
          faultAt={(path) => faultAt(`smpp.${path}`)}
          isDisabled={() => disabled}
        />
      </Stack>
    </Fieldset>
  );
}
