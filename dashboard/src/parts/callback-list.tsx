import { Accordion, Alert, Button, Group, Loader, Stack, Table, Text } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { IconRefresh } from "@tabler/icons-react";
import { useState } from "react";
import { get, post } from "../api.ts";
import type { Callback, CallbackDetail } from "../api-types.ts";
import { useMay } from "../session.tsx";
import { CodeBlock } from "./code-block.tsx";
import { ErrorState } from "./error-state.tsx";
import { StatusBadge } from "./status-badge.tsx";
import { duration, TimeText } from "./time-text.tsx";

/** Callbacks, each to be opened: what was said to your server, and what it answered. */
export function CallbackList({ callbacks }: { callbacks: readonly Callback[] }) {
  const [opened, setOpened] = useState<string | null>(null);
  return (
    <Accordion variant="separated" value={opened} onChange={setOpened} order={3}>
      {callbacks.map(({ id, event, status, endpoint, state, happenedAt, tries }) => (
        <Accordion.Item key={id} value={id} data-callback={event}>
          <Accordion.Control>
            <Group gap="xs" justify="space-between" wrap="nowrap" align="flex-start" pr="xs">
              <div>
                <Text size="sm" fw={600}>
                  {[event, status].filter(Boolean).join(" ")}
                </Text>
                <Text size="xs" c="dimmed" component="div">
                  {endpoint ?? "an address that is gone"}
                  {tries > 1 ? ` · ${tries} tries` : ""} · <TimeText at={happenedAt} size="xs" />
                </Text>
              </div>
              <StatusBadge status={state} />
            </Group>
          </Accordion.Control>
          <Accordion.Panel>{opened === id && <CallbackBody id={id} />}</Accordion.Panel>
        </Accordion.Item>
      ))}
    </Accordion>
  );
}

/** A body as it was sent, indented where it is JSON. */
function readable(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    return body;
  }
}

function CallbackBody({ id }: { id: string }) {
  const client = useQueryClient();
  const mayWrite = useMay("write");
  const [failed, setFailed] = useState<Error | null>(null);
  const { data, error } = useQuery({
    queryKey: ["callback", id],
    queryFn: ({ signal }) => get<CallbackDetail>(`/api/callbacks/${id}`, {}, signal),
  });
  if (error) return <ErrorState error={error} />;
  if (!data) return <Loader size="sm" />;
  const { request, attempts, nextTryAt } = data;

  async function resend(): Promise<void> {
    setFailed(null);
    try {
      await post(`/api/callbacks/${id}/resend`);
      await client.invalidateQueries({ queryKey: ["callback", id] });
      await client.invalidateQueries({ queryKey: ["/api/callbacks"] });
    } catch (problem) {
      setFailed(problem as Error);
    }
  }

  return (
    <Stack gap="md">
      {request && (
        <>
          <CodeBlock
            heading={`${request.method} ${request.url}`}
            code={Object.entries(request.headers)
              .map(([name, value]) => `${name}: ${value}`)
              .join("\n")}
          />
          {request.body && <CodeBlock heading="Body" code={readable(request.body)} />}
        </>
      )}
      {attempts.length > 0 && (
        <Table>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Tried</Table.Th>
              <Table.Th>Answer</Table.Th>
              <Table.Th>Took</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {attempts.map((attempt) => (
              <Table.Tr key={attempt.at}>
                <Table.Td>
                  <TimeText at={attempt.at} size="sm" />
                </Table.Td>
                <Table.Td>{attempt.reason ?? attempt.status}</Table.Td>
                <Table.Td>{duration(attempt.ms)}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      )}
      {nextTryAt !== null && (
        <Alert color="blue">
          The next try is at <TimeText at={nextTryAt} size="sm" />.
        </Alert>
      )}
      {failed && <ErrorState error={failed} />}
      {mayWrite && nextTryAt === null && (
        <Group>
          <Button
            size="xs"
            variant="default"
            leftSection={<IconRefresh size={15} aria-hidden />}
            onClick={() => void resend()}
          >
            Send it again
          </Button>
        </Group>
      )}
    </Stack>
  );
}
