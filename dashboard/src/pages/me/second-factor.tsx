import {
  Alert,
  Anchor,
  Button,
  Code,
  Group,
  List,
  Paper,
  PasswordInput,
  Stack,
  Text,
  TextInput,
  Title,
} from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { IconCheck } from "@tabler/icons-react";
import { useState } from "react";
import { api, post, put } from "../../api.ts";
import { useApiForm } from "../../api-form.ts";
import { CopyButton } from "../../parts/copy-button.tsx";
import { ErrorState } from "../../parts/error-state.tsx";
import { StatusBadge } from "../../parts/status-badge.tsx";
import { SESSION, useSession } from "../../session.tsx";

interface Begun {
  secret: string;
  otpauthUrl: string;
}

/** A code from an authenticator app besides the password: switched on with a first code, off with the password and a code. */
export function SecondFactor() {
  const { user } = useSession();
  const [recovery, setRecovery] = useState<readonly string[] | null>(null);
  return (
    <Paper component="section" aria-label="Second factor">
      <Group justify="space-between" mb="md">
        <Title order={2} size="h4">
          Second factor
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
        <Text size="sm">
          Put this secret into your app (<Anchor href={begun.otpauthUrl}>open it there</Anchor>), then type the code
          that it shows.
        </Text>
        <Group gap="xs" wrap="nowrap">
          <Code block flex={1}>
            {begun.secret}
          </Code>
          <CopyButton value={begun.secret} label="Copy the secret" />
        </Group>
        <TextInput label="Code" inputMode="numeric" autoComplete="one-time-code" {...form.getInputProps("code")} />
        {error && <ErrorState error={error} title="It is not on yet" />}
        <Button type="submit" loading={busy}>
          Switch it on
        </Button>
      </Stack>
    </form>
  );
}

/** Who only found the browser open must not tie the account to an app of their own. */
function Begin({ onBegun }: { onBegun: (begun: Begun) => void }) {
  const { form, submit, error, busy } = useApiForm({ initialValues: { password: "" } });
  return (
    <form onSubmit={submit(async (body) => onBegun(await post<Begun>("/api/session/totp", body)))}>
      <Stack>
        <Text size="sm">
          With a code from an authenticator app, a stolen password alone opens nothing. To begin, show that it is you.
        </Text>
        <PasswordInput
          label="Password"
          autoComplete="current-password"
          visibilityToggleButtonProps={{ "aria-label": "Show the password" }}
          {...form.getInputProps("password")}
        />
        {error && <ErrorState error={error} title="It cannot be set up" />}
        <Button type="submit" loading={busy} variant="light">
          Set it up
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
        <Text size="sm">Signing in asks for a code. To switch that off, show that it is you.</Text>
        <PasswordInput
          label="Password"
          autoComplete="current-password"
          visibilityToggleButtonProps={{ "aria-label": "Show the password" }}
          {...form.getInputProps("password")}
        />
        <TextInput label="Code" autoComplete="one-time-code" {...form.getInputProps("code")} />
        {error && <ErrorState error={error} title="It is still on" />}
        <Button type="submit" loading={busy} variant="default">
          Switch it off
        </Button>
      </Stack>
    </form>
  );
}

const RecoveryCodes = ({ codes }: { codes: readonly string[] }) => (
  <Alert color="green" icon={<IconCheck aria-hidden />} title="It is on. Keep these recovery codes" mb="md">
    <Text size="sm" mb="xs">
      Each is good once in the place of a code. They are shown this once.
    </Text>
    <List listStyleType="none" mb="sm">
      {codes.map((code) => (
        <List.Item key={code}>
          <Code>{code}</Code>
        </List.Item>
      ))}
    </List>
    <CopyButton wide value={codes.join("\n")} label="Copy all" />
  </Alert>
);
