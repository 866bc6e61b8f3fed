import { Anchor, Group, Kbd, Modal, Stack, Table, Text } from "@mantine/core";
import { ownUrl } from "./base.ts";

const KEYS: readonly { keys: readonly string[]; does: string }[] = [
  { keys: ["Ctrl", "K"], does: "Go to a page, a message or a number (⌘ K on a Mac)" },
  { keys: ["/"], does: "Put the cursor into the filter of the page" },
  { keys: ["?"], does: "Show this help" },
  { keys: ["Esc"], does: "Close what is open" },
];

/** The keys that work everywhere, and where to read on. */
export default function Help({ onClose }: { onClose: () => void }) {
  return (
    <Modal opened onClose={onClose} title="Keys and help" size="md">
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
          Hold the pointer over a time to see it in UTC. Filters stand in the address of the page, so a link shows
          others what you see.
        </Text>
        <Group gap="lg">
          <Anchor href={ownUrl("/docs")} size="sm">
            API reference
          </Anchor>
          <Anchor href={ownUrl("/docs/errors")} size="sm">
            Error codes
          </Anchor>
        </Group>
      </Stack>
    </Modal>
  );
}
