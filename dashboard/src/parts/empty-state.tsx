import { Box, Stack, Text, ThemeIcon } from "@mantine/core";
import { IconInbox, type Icon } from "@tabler/icons-react";
import type { ReactNode } from "react";
import { t } from "../i18n/t.ts";
import { CodeBlock } from "./code-block.tsx";

interface Props {
  icon?: Icon;
  /** One sentence that says what would be here. */
  sentence: string;
  /** One button that brings the first of them. */
  action?: ReactNode;
  /** One command that does the same. */
  curl?: string;
}

/** Nothing here yet: one sentence, one action, one curl. */
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
