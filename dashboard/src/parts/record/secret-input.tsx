import { PasswordInput, type PasswordInputProps } from "@mantine/core";
import { t } from "../../i18n/t.ts";

/** One line that nobody reads over a shoulder, and that no browser fills in. */
export const SecretInput = (props: PasswordInputProps) => (
  <PasswordInput
    {...props}
    // Mantine says of all inputs but this one that they are wrong.
    aria-invalid={props.error ? true : undefined}
    visibilityToggleButtonProps={{ "aria-label": t("Show") }}
    autoComplete="new-password"
  />
);
