import { Button, Group } from "@mantine/core";
import { useState } from "react";
import { t } from "../../i18n/t.ts";
import { SecretInput } from "../../parts/record/secret-input.tsx";

/** Pasted keys may contain spaces and line breaks, which are invalid in headers. */
const NEVER_IN_KEYS = /[^\x21-\x7e]/g;

/** Input for a key that the user has. */
export default function ExistingKey({ use }: { use: (key: string) => void }) {
  const [pasted, setPasted] = useState("");
  return (
    <Group align="flex-end" mt="md">
      <SecretInput
        label={t("Existing key")}
        autoComplete="off"
        autoFocus
        value={pasted}
        onChange={({ currentTarget }) => setPasted(currentTarget.value.replaceAll(NEVER_IN_KEYS, ""))}
        flex="1 1 12rem"
      />
      <Button variant="default" disabled={pasted === ""} onClick={() => use(pasted)}>
        {t("Use key")}
      </Button>
    </Group>
  );
}
