import { Alert, Group, Loader, Stack, Table, Text } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { IconRefresh } from "@tabler/icons-react";
import { useState } from "react";
import { get, post } from "../api.ts";
import type { Attempt, CallbackDetail as Detail } from "../api-types.ts";
import { t } from "../i18n/t.ts";
import { ErrorState } from "./error-state.tsx";
import { GuardedButton } from "./guarded.tsx";
import { PushRequest } from "./push-request.tsx";
import { duration, TimeText } from "./time-text.tsx";

/** One callback: its request, the response of every attempt, the next attempt, and a button that sends it again. */
export function CallbackDetail({ id }: { id: string }) {
  const client = useQueryClient();
  const [failed, setFailed] = useState<Error | null>(null);
  const { data, error } = useQuery({
    queryKey: ["callback", id],
    queryFn: ({ signal }) => get<Detail>(`/api/callbacks/${id}`, {}, signal),
  });
  if (error) return <ErrorState error={error} />;
  if (!data) return <Loader size="sm" />;
  const { request, attempts, nextTryAt } = data;
  const isHeld = data.state === "waiting" && nextTryAt === null;

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
      {request && <PushRequest request={request} />}
      {attempts.length > 0 && <Attempts attempts={attempts} />}
      {nextTryAt !== null && (
        <Alert color="blue">
          {t("Next attempt at")} <TimeText at={nextTryAt} size="sm" span />.
        </Alert>
      )}
      {isHeld && <Alert color="yellow">{t("It waits until its endpoint is enabled again.")}</Alert>}
      {failed && <ErrorState error={failed} />}
      {!isHeld && (
        <Group>
          <GuardedButton
            size="xs"
            variant="default"
            leftSection={<IconRefresh size={15} aria-hidden />}
            onClick={() => void resend()}
          >
            {nextTryAt === null ? t("Resend") : t("Retry now")}
          </GuardedButton>
        </Group>
      )}
    </Stack>
  );
}

function Attempts({ attempts }: { attempts: readonly Attempt[] }) {
  return (
    <Table>
      <Table.Thead>
        <Table.Tr>
          <Table.Th>{t("Attempted")}</Table.Th>
          <Table.Th>{t("Response")}</Table.Th>
          <Table.Th>{t("Duration")}</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {attempts.map(({ at, status, reason, excerpt, ms }) => (
          <Table.Tr key={at}>
            <Table.Td>
              <TimeText at={at} size="sm" />
            </Table.Td>
            <Table.Td>
              {reason ?? status}
              {excerpt !== "" && (
                <Text size="xs" c="dimmed" ff="monospace" lineClamp={4}>
                  {excerpt}
                </Text>
              )}
            </Table.Td>
            <Table.Td>{duration(ms)}</Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}
