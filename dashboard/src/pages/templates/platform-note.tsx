import { Alert, Group, Text } from "@mantine/core";
import { IconAlertTriangle } from "@tabler/icons-react";
import type { Template } from "../../api-types.ts";
import { t } from "../../i18n/t.ts";

/** The platform's words about a template: status, quality, and the reason of a rejection. */
export function PlatformNote({ template }: { template: Template | undefined }) {
  const platform = template?.channel === "chatapp" ? template.platform : null;
  const others = template?.channel === "chatapp" ? (template.languages ?? []).filter((each) => each.platform) : [];
  if (!platform && others.length === 0) return null;
  return (
    <>
      {platform && <Words platform={platform} />}
      {others.map(
        (version) => version.platform && <Words key={version.language} {...version} platform={version.platform} />,
      )}
    </>
  );
}

interface WordsProps {
  platform: { status: string; reason: string | null; quality: string | null };
  /** Absent for the template's own language. */
  language?: string;
}

function Words({ platform: { status, reason, quality }, language }: WordsProps) {
  return (
    <>
      <Group gap="lg" mb="md">
        {language !== undefined && <Text size="sm">{language}</Text>}
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
