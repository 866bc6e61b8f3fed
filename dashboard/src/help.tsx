import { Anchor, Group, Kbd, Modal, Stack, Table, Text } from "@mantine/core";
import { ownUrl } from "./base.ts";
import { t } from "./i18n/t.ts";

const KEYS: readonly { keys: readonly string[]; does: string }[] = [
  { keys: ["Ctrl", "K"], does: t("Search messages, campaigns, templates and pages (⌘ K on a Mac)") },
  { keys: ["/"], does: t("Focus the filter of the page") },
  { keys: ["?"], does: t("Show this help") },
  { keys: ["Esc"], does: t("Close the open dialog") },
];

/** The global keyboard shortcuts and links to the documentation. */
export default function Help({ onClose }: { onClose: () => void }) {
  return (
    <Modal opened onClose={onClose} title={t("Keyboard shortcuts and help")} size="md">
      <Stack>
        <Table>
          <Table.Tbody>
            {KEYS.map(({ keys, does }) => (
              <Table.Tr key={does}>
                <Table.Td w={110}>
                  <Group gap={4} wrap="nowrap">
                    {keys.map((key) => (
                      <Kbd key={key}>{key}</Kbd>
                    ))}
                  </Group>
                </Table.Td>
                <Table.Td>{does}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
        <Text size="sm" c="dimmed">
          {t(
            "Point at a time to see it in UTC. Filters are part of the page's URL, so you can share what you see as a link.",
          )}
        </Text>
        <Group gap="lg">
          <Anchor href={ownUrl("/docs")} size="sm">
            {t("Guides")}
          </Anchor>
          <Anchor href={ownUrl("/docs/reference")} size="sm">
            {t("API reference")}
          </Anchor>
          <Anchor href={ownUrl("/docs/errors")} size="sm">
            {t("Error codes")}
          </Anchor>
        </Group>
      </Stack>
    </Modal>
  );
}
