import {
  Alert,
  Anchor,
  Button,
  Center,
  Code,
  Group,
  Image,
  Paper,
  PasswordInput,
  Stack,
  Text,
  TextInput,
  Title,
} from "@mantine/core";
import { useForm } from "@mantine/form";
import { useDocumentTitle } from "@mantine/hooks";
import { useState } from "react";
import { ApiError } from "../api.ts";
import { ownUrl } from "../base.ts";
import { t } from "../i18n/t.ts";
import { ErrorState } from "../parts/error-state.tsx";
import { sessionHasEnded, useSignIn, wasSignedIn } from "../session.tsx";
import classes from "./login.module.css";

/** Login form: e-mail address, password, and the authenticator code of users with a second factor. */
export default function Login() {
  useDocumentTitle(t("Sign in · Heliograph"));
  const { signIn } = useSignIn();
  const [error, setError] = useState<Error | null>(null);
  const [busy, setBusy] = useState(false);
  const [withTotp, setWithTotp] = useState(false);
  const form = useForm({
    initialValues: { email: "", password: "", totp: "" },
    validate: {
      email: (value) => (value.trim() === "" ? t("Enter your e-mail address.") : null),
      password: (value) => (value === "" ? t("Enter your password.") : null),
    },
  });

  async function submit({ email, password, totp }: typeof form.values): Promise<void> {
    setBusy(true);
    setError(null);
    try {
      await signIn({ email: email.trim(), password, ...(totp === "" ? {} : { totp: totp.replaceAll(/\s/g, "") }) });
    } catch (problem) {
      setBusy(false);
      const asksForTotp = problem instanceof ApiError && problem.code === "TOTP_REQUIRED";
      if (asksForTotp) setWithTotp(true);
      // The first request for the authenticator code is the next step of the form, not an error.
      setError(asksForTotp && !withTotp ? null : (problem as Error));
    }
  }

  return (
    <Center mih="100dvh" p="md" className={classes.screen} component="main">
      <Stack w="100%" maw={400} gap="lg">
        <Group gap="sm" justify="center">
          <Image src={ownUrl("/favicon.svg")} alt="" w={36} h={36} />
          <Title order={1} size="h2">
            Heliograph
          </Title>
        </Group>
        <Paper p="xl" shadow="sm">
          <form onSubmit={form.onSubmit((values) => void submit(values))} noValidate>
            <Stack>
              <Title order={2} size="h4">
                {t("Sign in")}
              </Title>
              {sessionHasEnded() && !error && (
                <Alert color="blue">{t("Your session has ended. Sign in to continue.")}</Alert>
              )}
              <TextInput
                label={t("E-mail")}
                type="email"
                autoComplete="username"
                required
                withAsterisk={false}
                {...form.getInputProps("email")}
              />
              <PasswordInput
                label={t("Password")}
                autoComplete="current-password"
                required
                withAsterisk={false}
                visibilityToggleButtonProps={{ "aria-label": t("Show password") }}
                {...form.getInputProps("password")}
              />
              {withTotp && (
                <TextInput
                  label={t("Code from your authenticator")}
                  description={t("The six digits in your authenticator app, or a recovery code.")}
                  autoComplete="one-time-code"
                  autoFocus
                  {...form.getInputProps("totp")}
                />
              )}
              {error && <Failure error={error} />}
              <Button type="submit" loading={busy} fullWidth mt="xs">
                {t("Sign in")}
              </Button>
            </Stack>
          </form>
        </Paper>
        <Text size="sm" c="dimmed" ta="center">
          {t("Forgot your password? Ask an owner.")}
        </Text>
        {!wasSignedIn() && (
          <Text size="sm" c="dimmed" ta="center">
            {t("The first start printed the owner's address and password in the terminal. Set your own before it with")}{" "}
            <Code>HELIOGRAPH_ADMIN_PASSWORD</Code>.
          </Text>
        )}
        <Text size="sm" ta="center">
          <Anchor href={ownUrl("/docs/reference")}>{t("API reference")}</Anchor>
        </Text>
      </Stack>
    </Center>
  );
}

/** Users can fix wrong credentials themselves; any other failure shows its code and request id. */
const Failure = ({ error }: { error: Error }) =>
  error instanceof ApiError && TYPOS.has(error.code) ? (
    <Alert color="red" title={t("Sign-in failed")} role="alert">
      {error.message}
    </Alert>
  ) : (
    <ErrorState error={error} title={t("Sign-in failed")} />
  );

const TYPOS: ReadonlySet<string> = new Set(["LOGIN_FAILED", "TOTP_REQUIRED", "INVALID_REQUEST"]);
