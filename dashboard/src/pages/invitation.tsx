import { Button, Center, Paper, PasswordInput, Stack, Text, Title } from "@mantine/core";
import { useDocumentTitle } from "@mantine/hooks";
import { useState } from "react";
import { useLocation } from "wouter";
import { ApiError, post } from "../api.ts";
import { useApiForm } from "../api-form.ts";
import { t } from "../i18n/t.ts";
import { ErrorState } from "../parts/error-state.tsx";
import { useSignIn } from "../session.tsx";
import classes from "./login.module.css";

/** An invited user chooses a password and is signed in. */
export default function Invitation() {
  useDocumentTitle(t("Choose a password · Heliograph"));
  const { signIn } = useSignIn();
  const [, navigate] = useLocation();
  // Fragments are not sent to servers. The token is removed from the URL so that it cannot be read on the screen.
  const [token] = useState(() => location.hash.slice(1));
  const { form, submit, error, busy } = useApiForm({ initialValues: { password: "" } });
  return (
    <Center mih="100dvh" p="md" className={classes.screen} component="main">
      <Paper p="xl" shadow="sm" w="100%" maw={420}>
        <form
          onSubmit={submit(async ({ password }) => {
            const { email } = await post<{ email: string }>("/api/invitations/accept", { token, password });
            navigate("/", { replace: true });
            await signIn({ email, password }).catch((problem: unknown) => {
              // Users with a second factor continue at the login form.
              if (!(problem instanceof ApiError && problem.code === "TOTP_REQUIRED")) throw problem;
            });
          })}
        >
          <Stack>
            <Title order={1} size="h3">
              {t("Welcome to Heliograph")}
            </Title>
            <Text size="sm" c="dimmed">
              {t("You have been invited. Choose a password that only you know; then you are signed in.")}
            </Text>
            <PasswordInput
              label={t("Password")}
              description={t("10 characters or more. A few words in a row are easy to remember.")}
              autoComplete="new-password"
              visibilityToggleButtonProps={{ "aria-label": t("Show the password") }}
              {...form.getInputProps("password")}
            />
            {error && <ErrorState error={error} title={t("The password was not set")} />}
            <Button type="submit" loading={busy}>
              {t("Set password")}
            </Button>
          </Stack>
        </form>
      </Paper>
    </Center>
  );
}
