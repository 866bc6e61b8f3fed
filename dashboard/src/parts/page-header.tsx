import { Box, Group, Text, Title } from "@mantine/core";
import { useDocumentTitle } from "@mantine/hooks";
import type { ReactNode } from "react";

interface Props {
  title: string;
  /** The purpose of the page in one sentence. */
  lead?: ReactNode;
  /** Buttons on the right. */
  children?: ReactNode;
}

/** Heading of a page with its purpose and actions. Also sets the document title. */
export function PageHeader({ title, lead, children }: Props) {
  useDocumentTitle(`${title} · Heliograph`);
  return (
    <Group justify="space-between" align="flex-start" mb="xl" gap="md">
      <Box maw={680}>
        <Title order={1} size="h2">
          {title}
        </Title>
        {lead && (
          <Text c="dimmed" mt={4}>
            {lead}
          </Text>
        )}
      </Box>
      {children && <Group gap="sm">{children}</Group>}
    </Group>
  );
}
