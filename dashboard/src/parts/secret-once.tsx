import { Alert, Code, Group, Text } from "@mantine/core";
import { IconKey } from "@tabler/icons-react";
import { CopyButton } from "./copy-button.tsx";

/** A secret that the server shows this once and never again. */
export function SecretOnce({ title, secret }: { title: string; secret: string }) {
  return (
    <Alert color="green" icon={<IconKey aria-hidden />} title={title}>
      <Text size="sm" mb="xs">
        It is shown this once: keep it where you keep passwords.
      </Text>
      <Group gap="xs" wrap="nowrap">
        <Code block flex={1} fz="sm">
          {secret}
        </Code>
        <CopyButton value={secret} label="Copy" />
      </Group>
    </Alert>
  );
}
