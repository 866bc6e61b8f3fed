import { Button, PasswordInput, Stack } from "@mantine/core";
import { patch } from "../api.ts";
import { useApiForm } from "../api-form.ts";
import { t } from "../i18n/t.ts";
import { ErrorState } from "./error-state.tsx";

const TOGGLE = { "aria-label": t("Show password") };

/** Changes the user's own password. Requires the current one. */
export function PasswordForm({ onChanged }: { onChanged: () => void }) {
  const { form, submit, error, busy } = useApiForm({ initialValues: { current: "", next: "" } });
  return (
    <form
      onSubmit={submit(async (values) => {
        await patch("/api/session/password", values);
        form.reset();
        onChanged();
      })}
    >
      <Stack>
        <PasswordInput
          label={t("Current password")}
          autoComplete="current-password"
          visibilityToggleButtonProps={TOGGLE}
          {...form.getInputProps("current")}
        />
        <PasswordInput
          label={t("New password")}
          description={t("10 characters or more. A few random words are easy to remember.")}
          autoComplete="new-password"
          visibilityToggleButtonProps={TOGGLE}
          {...form.getInputProps("next")}
        />
        {error && <ErrorState error={error} title={t("Password not changed")} />}
        <Button type="submit" loading={busy}>
          {t("Change password")}
        </Button>
      </Stack>
    </form>
  );
}
