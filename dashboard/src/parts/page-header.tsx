import { Box, Group, Text, Title } from "@mantine/core";
import { useDocumentTitle } from "@mantine/hooks";
import type { ReactNode } from "react";

interface Props {
  title: string;
  /** One sentence on what the page is for. */
  lead?: ReactNode;
  /** Buttons at the right. */
  children?: ReactNode;
}

/** The head of every page: its name, what it is for, and what can be done. It also names the tab of the browser. */
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
