import { PasswordInput, type PasswordInputProps } from "@mantine/core";
import { t } from "../../i18n/t.ts";

/** A masked input without the browser's autofill. */
export const SecretInput = (props: PasswordInputProps) => (
  <PasswordInput
    {...props}
    // Mantine omits `aria-invalid` on this input only.
    aria-invalid={props.error ? true : undefined}
    visibilityToggleButtonProps={{ "aria-label": t("Show") }}
    autoComplete="new-password"
  />
);
