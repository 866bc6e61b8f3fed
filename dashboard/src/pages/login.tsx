import {
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
import { ErrorState } from "../parts/error-state.tsx";
import { useSignIn } from "../session.tsx";
import classes from "./login.module.css";

/** The way in: address, password, and the code of the authenticator where somebody has set one up. */
export default function Login() {
  useDocumentTitle("Sign in · Heliograph");
  const { signIn } = useSignIn();
  const [error, setError] = useState<Error | null>(null);
  const [busy, setBusy] = useState(false);
  const [withTotp, setWithTotp] = useState(false);
  const form = useForm({
    initialValues: { email: "", password: "", totp: "" },
    validate: {
      email: (value) => (value.trim() === "" ? "Your e-mail address goes here." : null),
      password: (value) => (value === "" ? "Your password goes here." : null),
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
      // Being asked for the code for the first time is the next step and no failure.
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
                Sign in
              </Title>
              <TextInput
                label="E-mail"
                type="email"
                autoComplete="username"
                required
                withAsterisk={false}
                {...form.getInputProps("email")}
              />
              <PasswordInput
                label="Password"
                autoComplete="current-password"
                required
                withAsterisk={false}
                visibilityToggleButtonProps={{ "aria-label": "Show the password" }}
                {...form.getInputProps("password")}
              />
              {withTotp && (
                <TextInput
                  label="Code from your authenticator"
                  description="Six digits, a new one every 30 seconds; or one of your recovery codes."
                  autoComplete="one-time-code"
                  autoFocus
                  {...form.getInputProps("totp")}
                />
              )}
              {error && <ErrorState error={error} title="You are not signed in" />}
              <Button type="submit" loading={busy} fullWidth mt="xs">
                Sign in
              </Button>
            </Stack>
          </form>
        </Paper>
        <Text size="sm" c="dimmed" ta="center">
          The first start printed the owner's address and password in the terminal. Set your own before it with{" "}
          <Code>HELIOGRAPH_ADMIN_PASSWORD</Code>.
        </Text>
        <Text size="sm" ta="center">
          <Anchor href={ownUrl("/docs")}>API reference</Anchor>
        </Text>
      </Stack>
    </Center>
  );
}
