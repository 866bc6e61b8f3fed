import { Modal } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useQueryClient } from "@tanstack/react-query";
import { IconPlus } from "@tabler/icons-react";
import { useState } from "react";
import { post } from "../../api.ts";
import { t } from "../../i18n/t.ts";
import { newKey } from "../../new-key.ts";
import { GuardedButton } from "../../parts/guarded.tsx";
import type { Field } from "../../parts/record/field.ts";
import { RecordForm } from "../../parts/record/record-form.tsx";
import { useRecordForm } from "../../parts/record/use-record-form.ts";

export const CREDITS = "/api/credits";

const FIELDS: readonly Field[] = [
  {
    name: "amount",
    label: t("Credits"),
    hint: t("Use a negative number to deduct."),
    input: { kind: "number" },
    required: true,
  },
  { name: "note", label: t("Reason"), input: { kind: "text", placeholder: t("Invoice 17"), empty: "omit" } },
];

/** A form that adds or removes credits. */
export function TopUp() {
  const [opened, { open, close }] = useDisclosure(false);
  return (
    <>
      <GuardedButton may="own" leftSection={<IconPlus size={17} aria-hidden />} onClick={open}>
        {t("Add credits")}
      </GuardedButton>
      <Modal opened={opened} onClose={close} title={t("Add credits")}>
        {opened && <TopUpForm close={close} />}
      </Modal>
    </>
  );
}

function TopUpForm({ close }: { close: () => void }) {
  const client = useQueryClient();
  // The idempotency key of the top-up: retries reuse it, so credits are added once.
  const [id] = useState(() => newKey());
  const form = useRecordForm({ fields: FIELDS, starts: { amount: 1000, note: "" } });
  return (
    <RecordForm
      form={form}
      fields={FIELDS}
      exists={false}
      may="own"
      cancel={close}
      saveWord={t("Add")}
      save={async (body) => {
        await post(CREDITS, { ...body, id });
        await client.invalidateQueries({ queryKey: [CREDITS] });
        await client.invalidateQueries({ queryKey: [`${CREDITS}/ledger`] });
        close();
      }}
    />
  );
}
