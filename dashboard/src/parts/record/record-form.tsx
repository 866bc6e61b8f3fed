import { Button, Group, Stack } from "@mantine/core";
import type { ReactNode } from "react";
import { t } from "../../i18n/t.ts";
import { ErrorState } from "../error-state.tsx";
import { GuardedButton, useWhyNot, type Right } from "../guarded.tsx";
import { RestoredNote } from "../restored-note.tsx";
import { useLeaveGuard } from "../use-draft.ts";
import { ExistsContext } from "./exists-context.ts";
import type { Field, Values } from "./field.ts";
import { FieldList } from "./field-list.tsx";
import type { RecordFormState } from "./use-record-form.ts";

interface Props {
  form: RecordFormState;
  fields: readonly Field[];
  /** True if the record is stored, which locks fixed fields. */
  exists: boolean;
  may: Right;
  save: (body: Values) => Promise<unknown>;
  saveWord?: string;
  /** Keeps the buttons of a long form in view. */
  isLong?: true;
  cancel?: () => void;
  /** Between the fields and the buttons. */
  children?: ReactNode;
  /** To the left of the buttons. */
  aside?: ReactNode;
}

const STICKY = { pos: "sticky", bottom: 0, py: "sm", bg: "var(--mantine-color-body)" } as const;

/** A form that is generated from the descriptions of its fields. */
export function RecordForm(props: Props) {
  const { form, fields, exists, may, save, saveWord = t("Save"), cancel, children, aside, isLong } = props;
  const readOnly = useWhyNot(may) !== null;
  useLeaveGuard(form.touched);
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        if (!readOnly) void form.submit(save);
      }}
    >
      <Stack gap="md">
        {form.isRestored && <RestoredNote discard={form.discard} />}
        <ExistsContext value={exists}>
          <FieldList
            fields={fields}
            values={form.values}
            set={form.set}
            faultAt={form.faultAt}
            isDisabled={({ fixed }) => readOnly || (exists && fixed === true)}
          />
        </ExistsContext>
        {children}
        {form.error && <ErrorState error={form.error} title={t("Not saved")} />}
        <Group justify="space-between" mt="xs" {...(isLong ? STICKY : {})}>
          <Group gap="sm">{aside}</Group>
          <Group gap="sm">
            {cancel && (
              <Button
                variant="default"
                onClick={() => {
                  form.discard();
                  cancel();
                }}
              >
                {readOnly ? t("Close") : t("Cancel")}
              </Button>
            )}
            <GuardedButton
              type="submit"
              may={may}
              loading={form.busy}
              whyNot={form.changed ? null : t("No changes yet")}
            >
              {saveWord}
            </GuardedButton>
          </Group>
        </Group>
      </Stack>
    </form>
  );
}
