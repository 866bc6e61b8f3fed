import { Button, Collapse, Group, Stack, UnstyledButton } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconChevronDown, IconChevronRight } from "@tabler/icons-react";
import type { ReactNode } from "react";
import { ErrorState } from "../error-state.tsx";
import { GuardedButton, useWhyNot, type Right } from "../guarded.tsx";
import { FieldInput } from "./field-input.tsx";
import { fieldsAsked, type Field, type Values } from "./field.ts";
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
  const asked = fieldsAsked(fields, form.values);
  const further = asked.filter(({ more }) => more);
  const input = (field: Field): ReactNode => (
    <FieldInput
      key={field.name}
      field={field}
      values={form.values}
      set={form.set}
      faultAt={form.faultAt}
      disabled={readOnly || (exists && field.fixed === true)}
    />
  );
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        if (!readOnly) void form.submit(save);
      }}
    >
      <Stack gap="md">
        {asked.filter(({ more }) => !more).map(input)}
        {further.length > 0 && (
          <More forced={further.some(({ name }) => form.faultAt(name) !== undefined)}>{further.map(input)}</More>
        )}
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

/** What most people leave as it is. It opens by itself when something in it is wrong. */
function More({ forced, children }: { forced: boolean; children: ReactNode }) {
  const [opened, { toggle }] = useDisclosure(false);
  const open = opened || forced;
  const Icon = open ? IconChevronDown : IconChevronRight;
  return (
    <div>
      <UnstyledButton onClick={toggle} aria-expanded={open} c="dimmed" fz="sm" fw={600} mb="sm">
        <Group gap={6}>
          <Icon size={16} aria-hidden />
          More settings
        </Group>
      </UnstyledButton>
      <Collapse expanded={open}>
        <Stack gap="md">{children}</Stack>
      </Collapse>
    </div>
  );
}
