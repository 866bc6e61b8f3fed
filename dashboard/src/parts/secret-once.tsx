import { Alert, Code, Group, Text } from "@mantine/core";
import { IconKey } from "@tabler/icons-react";
import { t } from "../i18n/t.ts";
import { CopyButton } from "./copy-button.tsx";

/** A link is longer than the dialog is wide. */
const WRAPPED = { whiteSpace: "pre-wrap", overflowWrap: "anywhere" } as const;

/** A secret that cannot be shown again. */
export function SecretOnce({ title, secret, hint }: { title: string; secret: string; hint?: string | undefined }) {
  return (
    <Alert color="green" icon={<IconKey aria-hidden />} title={title}>
      <Text size="sm" mb="xs">
        {hint ?? t("You won't be able to see it again. Store it securely.")}
      </Text>
      <Group gap="xs" wrap="nowrap">
        <Code block flex={1} fz="sm" miw={0} style={WRAPPED}>
          {secret}
        </Code>
        <CopyButton value={secret} label={t("Copy")} />
      </Group>
    </Alert>
  );
}
