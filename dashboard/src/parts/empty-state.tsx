import { Box, Stack, Text, ThemeIcon } from "@mantine/core";
import { IconInbox, type Icon } from "@tabler/icons-react";
import type { ReactNode } from "react";
import { t } from "../i18n/t.ts";
import { CodeBlock } from "./code-block.tsx";

interface Props {
  icon?: Icon;
  /** One sentence about the content that would be here. */
  sentence: string;
  /** A button that creates the first item. */
  action?: ReactNode;
  /** A curl command that does the same. */
  curl?: string;
}

/** Placeholder of an empty list: one sentence, one action, one curl command. */
export function EmptyState({ icon: Icon = IconInbox, sentence, action, curl }: Props) {
  return (
    <Stack align="center" py="xl" gap="md" data-empty>
      <ThemeIcon size={52} radius="xl" variant="light">
        <Icon size={26} aria-hidden />
      </ThemeIcon>
      <Text ta="center" maw={460} c="dimmed">
        {sentence}
      </Text>
      {action}
      {curl && (
        <Box w="100%" maw={640}>
          <CodeBlock heading={t("Or from a terminal")} code={curl} />
        </Box>
      )}
    </Stack>
  );
}
