import { Button, PasswordInput, Stack } from "@mantine/core";
import { patch } from "../api.ts";
import { useApiForm } from "../api-form.ts";
import { ErrorState } from "./error-state.tsx";

const TOGGLE = { "aria-label": "Show the password" };

/** Somebody's own password, changed by giving the one before. */
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
          label="The password as it is"
          autoComplete="current-password"
          visibilityToggleButtonProps={TOGGLE}
          {...form.getInputProps("current")}
        />
        <PasswordInput
          label="The new password"
          description="10 characters or more. A few words in a row are easy to keep."
          autoComplete="new-password"
          visibilityToggleButtonProps={TOGGLE}
          {...form.getInputProps("next")}
        />
        {error && <ErrorState error={error} title="The password is not changed" />}
        <Button type="submit" loading={busy}>
          Change the password
        </Button>
      </Stack>
    </form>
  );
}
