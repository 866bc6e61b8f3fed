import { Modal } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconPlus } from "@tabler/icons-react";
import { post } from "../../api.ts";
import { t } from "../../i18n/t.ts";
import { GuardedButton } from "../../parts/guarded.tsx";
import type { Field } from "../../parts/record/field.ts";
import { RecordForm } from "../../parts/record/record-form.tsx";
import { useRecordForm } from "../../parts/record/use-record-form.ts";

const FIELDS: readonly Field[] = [
  {
    name: "number",
    label: t("Number"),
    hint: t("With country code, with or without a plus."),
    input: { kind: "text", type: "tel", placeholder: "15550100100" },
    required: true,
  },
  {
    name: "note",
    label: t("Reason"),
    hint: t("Shown in the list."),
    input: { kind: "text", placeholder: t("Requested by phone"), empty: "omit" },
  },
];

/** A form that adds one number. */
export function AddOptOut({ onDone }: { onDone: () => void }) {
  const [opened, { open, close }] = useDisclosure(false);
  return (
    <>
      <GuardedButton leftSection={<IconPlus size={17} aria-hidden />} onClick={open}>
        {t("Add number")}
      </GuardedButton>
      <Modal opened={opened} onClose={close} title={t("Add number")}>
        {opened && (
          <AddForm
            cancel={close}
            onDone={() => {
              close();
              onDone();
            }}
          />
        )}
      </Modal>
    </>
  );
}

function AddForm({ cancel, onDone }: { cancel: () => void; onDone: () => void }) {
  const form = useRecordForm({ fields: FIELDS, starts: { number: "", note: "" } });
  return (
    <RecordForm
      form={form}
      fields={FIELDS}
      exists={false}
      may="write"
      cancel={cancel}
      save={async (body) => {
        await post("/api/optouts", body);
        onDone();
      }}
    />
  );
}
