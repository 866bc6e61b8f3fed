import { Alert, Group, Text } from "@mantine/core";
import { IconAlertTriangle } from "@tabler/icons-react";
import type { Template } from "../../api-types.ts";
import { t } from "../../i18n/t.ts";

/** The platform's words about a template: status, quality, and the reason of a rejection. */
export function PlatformNote({ template }: { template: Template | undefined }) {
  const platform = template?.channel === "chatapp" ? template.platform : null;
  if (!platform) return null;
  const { status, reason, quality } = platform;
  return (
    <>
      <Group gap="lg" mb="md">
        <Text size="sm">{t("Platform status: {status}", { status })}</Text>
        {quality !== null && <Text size="sm">{t("Quality: {quality}", { quality })}</Text>}
      </Group>
      {reason !== null && (
        <Alert color="red" icon={<IconAlertTriangle aria-hidden />} title={t("The platform's reason")} mb="md">
          {reason}
        </Alert>
      )}
    </>
  );
}
