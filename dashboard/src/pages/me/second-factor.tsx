import {
  Alert,
  Anchor,
  Button,
  Center,
  Code,
  Group,
  List,
  Paper,
  PasswordInput,
  Skeleton,
  Stack,
  Text,
  TextInput,
  Title,
} from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { IconCheck, IconDownload } from "@tabler/icons-react";
import { lazy, Suspense, useState } from "react";
import { api, post, put } from "../../api.ts";
import { useApiForm } from "../../api-form.ts";
import { t } from "../../i18n/t.ts";
import { CopyButton } from "../../parts/copy-button.tsx";
import { ErrorState } from "../../parts/error-state.tsx";
import { saveFile } from "../../parts/save-file.ts";
import { StatusBadge } from "../../parts/status-badge.tsx";
import { SESSION, useSession } from "../../session.tsx";

const QrCode = lazy(() => import("./qr-code.tsx"));

interface Begun {
  secret: string;
  otpauthUrl: string;
}

/** Authenticator app (TOTP). A code enables it; the password and a code disable it. */
export function SecondFactor() {
  const { user } = useSession();
  const [recovery, setRecovery] = useState<readonly string[] | null>(null);
  return (
    <Paper component="section" aria-label={t("Two-factor authentication")}>
      <Group justify="space-between" mb="md">
        <Title order={2} size="h4">
          {t("Two-factor authentication")}
        </Title>
        <StatusBadge status={user.totp ? "enabled" : "disabled"} />
      </Group>
      {recovery && <RecoveryCodes codes={recovery} />}
      {user.totp ? <SwitchOff /> : <SwitchOn onDone={setRecovery} />}
    </Paper>
  );
}

function SwitchOn({ onDone }: { onDone: (codes: readonly string[]) => void }) {
  const client = useQueryClient();
  const [begun, setBegun] = useState<Begun | null>(null);
  const { form, submit, error, busy } = useApiForm({ initialValues: { code: "" } });
  if (!begun) return <Begin onBegun={setBegun} />;
  return (
    <form
      onSubmit={submit(async ({ code }) => {
        const { recoveryCodes } = await put<{ recoveryCodes: string[] }>("/api/session/totp", { code });
        onDone(recoveryCodes);
        await client.invalidateQueries({ queryKey: SESSION });
      })}
    >
      <Stack>
        <Text size="sm">{t("Scan the QR code with your authenticator app, or enter this key:")}</Text>
        <Center>
          <Suspense fallback={<Skeleton w={220} h={220} />}>
            <QrCode text={begun.otpauthUrl} label={t("QR code for your authenticator app")} />
          </Suspense>
        </Center>
        <Group gap="xs" wrap="nowrap">
          <Code block flex={1}>
            {begun.secret}
          </Code>
          <CopyButton value={begun.secret} label={t("Copy key")} />
        </Group>
        <Anchor href={begun.otpauthUrl} size="sm" hiddenFrom="sm">
          {t("Open in an app on this phone")}
        </Anchor>
        <TextInput
          label={t("Code")}
          description={t("Six digits that the app shows now.")}
          inputMode="numeric"
          autoComplete="one-time-code"
          {...form.getInputProps("code")}
        />
        {error && <ErrorState error={error} title={t("Not turned on")} />}
        <Button type="submit" loading={busy}>
          {t("Turn on")}
        </Button>
      </Stack>
    </form>
  );
}

/** Asks for the password, so that an unattended browser is not enough to add another person's app. */
function Begin({ onBegun }: { onBegun: (begun: Begun) => void }) {
  const { form, submit, error, busy } = useApiForm({ initialValues: { password: "" } });
  return (
    <form onSubmit={submit(async (body) => onBegun(await post<Begun>("/api/session/totp", body)))}>
      <Stack>
        <Text size="sm">
          {t(
            "With a code from an authenticator app, a stolen password is not enough to sign in. Enter your password to begin.",
          )}
        </Text>
        <PasswordInput
          label={t("Password")}
          autoComplete="current-password"
          visibilityToggleButtonProps={{ "aria-label": t("Show password") }}
          {...form.getInputProps("password")}
        />
        {error && <ErrorState error={error} title={t("Set-up failed")} />}
        <Button type="submit" loading={busy} variant="light">
          {t("Set up")}
        </Button>
      </Stack>
    </form>
  );
}

function SwitchOff() {
  const client = useQueryClient();
  const { form, submit, error, busy } = useApiForm({ initialValues: { password: "", code: "" } });
  return (
    <form
      onSubmit={submit(async (body) => {
        await api("DELETE", "/api/session/totp", { body });
        await client.invalidateQueries({ queryKey: SESSION });
      })}
    >
      <Stack>
        <Text size="sm">{t("Signing in requires a code. To turn this off, enter your password and a code.")}</Text>
        <PasswordInput
          label={t("Password")}
          autoComplete="current-password"
          visibilityToggleButtonProps={{ "aria-label": t("Show password") }}
          {...form.getInputProps("password")}
        />
        <TextInput label={t("Code")} autoComplete="one-time-code" {...form.getInputProps("code")} />
        {error && <ErrorState error={error} title={t("Not turned off")} />}
        <Button type="submit" loading={busy} variant="default">
          {t("Turn off")}
        </Button>
      </Stack>
    </form>
  );
}

const RecoveryCodes = ({ codes }: { codes: readonly string[] }) => (
  <Alert color="green" icon={<IconCheck aria-hidden />} title={t("Turned on. Save your recovery codes")} mb="md">
    <Text size="sm" mb="xs">
      {t("Each code works once in place of an authenticator code. You won't be able to see them again.")}
    </Text>
    <List listStyleType="none" mb="sm">
      {codes.map((code) => (
        <List.Item key={code}>
          <Code>{code}</Code>
        </List.Item>
      ))}
    </List>
    <Group>
      <CopyButton wide value={codes.join("\n")} label={t("Copy all")} />
      <Button
        variant="default"
        size="xs"
        leftSection={<IconDownload size={15} aria-hidden />}
        onClick={() => saveFile("heliograph-recovery-codes.txt", "text/plain", [`${codes.join("\n")}\n`])}
      >
        {t("Download")}
      </Button>
    </Group>
  </Alert>
);
