import { Alert, Code, Group, Text } from "@mantine/core";
import { IconKey } from "@tabler/icons-react";
import { t } from "../i18n/t.ts";
import { CopyButton } from "./copy-button.tsx";

/** A secret that cannot be shown again. */
export function SecretOnce({ title, secret }: { title: string; secret: string }) {
  return (
    <Alert color="green" icon={<IconKey aria-hidden />} title={title}>
      <Text size="sm" mb="xs">
        {t("You won't be able to see it again. Store it securely.")}
      </Text>
      <Group gap="xs" wrap="nowrap">
        <Code block flex={1} fz="sm">
          {secret}
        </Code>
        <CopyButton value={secret} label={t("Copy")} />
      </Group>
    </Alert>
  );
}
