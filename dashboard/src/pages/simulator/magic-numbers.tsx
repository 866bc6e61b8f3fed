import { Button, Code, Paper, Table, Text, Title, VisuallyHidden } from "@mantine/core";
import { useState } from "react";
import { useLocation } from "wouter";
import { post } from "../../api.ts";
import type { Sent } from "../../api-types.ts";
import { ErrorState } from "../../parts/error-state.tsx";
import { useMay } from "../../session.tsx";

const FATES: readonly { ending: string; fate: string }[] = [
  { ending: "9001", fate: "Taken, then not delivered" },
  { ending: "9002", fate: "Taken, then expired in the network" },
  { ending: "9003", fate: "Refused at once" },
  { ending: "9004", fate: "Taken, and no report ever comes" },
  { ending: "9005", fate: "Delivered after 20 seconds" },
  { ending: "9006", fate: "Delivered, every report twice" },
  { ending: "9007", fate: "Delivered, reports out of order" },
  { ending: "9008", fate: "Throttled at the first try, then delivered" },
  { ending: "9009", fate: "On SMS only: not on RCS or the chat app" },
  { ending: "0100", fate: "Any other ending: delivered" },
];

/** The last four digits decide, so a test can ask for any outcome. */
export function MagicNumbers() {
  const [, navigate] = useLocation();
  const [busy, setBusy] = useState<string | null>(null);
  const [error, setError] = useState<Error | null>(null);
  const mayWrite = useMay("write");

  async function tryOut(ending: string, fate: string): Promise<void> {
    setBusy(ending);
    setError(null);
    try {
      const sent = await post<Sent>("/v1/sms", { sender: "HELIOG", to: `1555010${ending}`, text: fate, type: "TRANS" });
      navigate(`/messages/${sent.data[0]?.messageId ?? ""}`);
    } catch (problem) {
      setError(problem as Error);
      setBusy(null);
    }
  }

  return (
    <Paper component="section" aria-label="Magic numbers">
      <Title order={2} size="h4">
        Magic numbers
      </Title>
      <Text size="sm" c="dimmed" mb="md">
        The last four digits of a number decide what happens to a message, whatever the chaos.
      </Text>
      {error && <ErrorState error={error} title="The message was not sent" />}
      <Table verticalSpacing="xs">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Ends in</Table.Th>
            <Table.Th>What happens</Table.Th>
            <Table.Th>
              <VisuallyHidden>Try it</VisuallyHidden>
            </Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {FATES.map(({ ending, fate }) => (
            <Table.Tr key={ending}>
              <Table.Td>
                <Code>{ending}</Code>
              </Table.Td>
              <Table.Td>{fate}</Table.Td>
              <Table.Td ta="right">
                <Button
                  size="compact-xs"
                  variant="light"
                  loading={busy === ending}
                  disabled={!mayWrite}
                  onClick={() => void tryOut(ending, fate)}
                  aria-label={`Try it: ${fate}`}
                >
                  Try it
                </Button>
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Paper>
  );
}
