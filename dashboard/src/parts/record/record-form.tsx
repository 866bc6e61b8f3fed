import { Button, Group, Stack } from "@mantine/core";
import type { ReactNode } from "react";
import { ErrorState } from "../error-state.tsx";
import { GuardedButton, useWhyNot, type Right } from "../guarded.tsx";
import type { Field, Values } from "./field.ts";
import { FieldList } from "./field-list.tsx";
import type { RecordFormState } from "./use-record-form.ts";

interface Props {
  form: RecordFormState;
  fields: readonly Field[];
  /** Whether the record is there already, so that fixed fields stay as they are. */
  exists: boolean;
  may: Right;
  save: (body: Values) => Promise<unknown>;
  saveWord?: string;
  cancel?: () => void;
  /** Below the fields, above the buttons. */
  children?: ReactNode;
  /** Beside the buttons, at the left. */
  aside?: ReactNode;
}

/** A form made of the description of its fields. */
export function RecordForm(props: Props) {
  const { form, fields, exists, may, save, saveWord = "Save", cancel, children, aside } = props;
  const readOnly = useWhyNot(may) !== null;
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        if (!readOnly) void form.submit(save);
      }}
    >
      <Stack gap="md">
        <FieldList
          fields={fields}
          values={form.values}
          set={form.set}
          faultAt={form.faultAt}
          isDisabled={({ fixed }) => readOnly || (exists && fixed === true)}
        />
        {children}
        {form.error && <ErrorState error={form.error} title="It is not saved" />}
        <Group justify="space-between" mt="xs">
          <Group gap="sm">{aside}</Group>
          <Group gap="sm">
            {cancel && (
              <Button variant="default" onClick={cancel}>
                {readOnly ? "Close" : "Cancel"}
              </Button>
            )}
            <GuardedButton
              type="submit"
              may={may}
              loading={form.busy}
              whyNot={form.changed ? null : "Nothing is changed yet."}
            >
              {saveWord}
            </GuardedButton>
          </Group>
        </Group>
      </Stack>
    </form>
  );
}
