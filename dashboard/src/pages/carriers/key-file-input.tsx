import { Button, FileButton, Group, Stack } from "@mantine/core";
import { IconFileUpload } from "@tabler/icons-react";
import { t } from "../../i18n/t.ts";
import type { OwnInputProps } from "../../parts/record/field.ts";
import { SecretInput } from "../../parts/record/secret-input.tsx";

/** The key file of a service account, pasted or chosen, never shown. Empty keeps the stored one. */
export function KeyFileInput({ label, hint = "", value, onChange, disabled, faultAt, values }: OwnInputProps) {
  const { clientEmail } = values;
  const kept =
    typeof clientEmail === "string" && clientEmail !== ""
      ? t(" Empty keeps the key of {clientEmail}.", { clientEmail })
      : "";
  return (
    <Stack gap="xs">
      <SecretInput
        label={label}
        description={hint + kept}
        // Only single-line inputs can be masked. JSON stays valid without its line breaks.
        value={typeof value === "string" ? value : ""}
        onChange={({ currentTarget }) => onChange(currentTarget.value || undefined)}
        error={faultAt("serviceAccount")}
        disabled={disabled}
        data-field="serviceAccount"
      />
      <Group>
        <FileButton
          accept="application/json,.json"
          disabled={disabled}
          onChange={(file) => void file?.text().then(onChange)}
        >
          {(props) => (
            <Button
              {...props}
              variant="default"
              size="xs"
              disabled={disabled}
              leftSection={<IconFileUpload size={14} aria-hidden />}
            >
              {t("Choose file")}
            </Button>
          )}
        </FileButton>
      </Group>
    </Stack>
  );
}
