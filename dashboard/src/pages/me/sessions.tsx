import { Badge, Group, Paper, Stack, Table, Text, Title } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { get, removeListed } from "../../api.ts";
import { t } from "../../i18n/t.ts";
import { ConfirmButton } from "../../parts/confirm-button.tsx";
import { ErrorState } from "../../parts/error-state.tsx";
import { PageLoading } from "../../parts/page-loading.tsx";
import { TimeText } from "../../parts/time-text.tsx";
import { browserName } from "./browser-name.ts";

const PATH = "/api/sessions";

interface OpenSession {
  id: string;
  createdAt: number;
  seenAt: number;
  address: string;
  agent: string;
  current: boolean;
}

/** The user's sessions, each with a button to sign it out. */
export function Sessions() {
  const client = useQueryClient();
  const { data, error, refetch } = useQuery({
    queryKey: [PATH],
    queryFn: ({ signal }) => get<{ data: OpenSession[] }>(PATH, {}, signal),
  });
  return (
    <Paper component="section" aria-label={t("Sessions")}>
      <Title order={2} size="h4" mb="xs">
        {t("Sessions")}
      </Title>
      <Text size="sm" c="dimmed" mb="md">
        {t("Where you are signed in. End a session that you do not recognise, and change your password.")}
      </Text>
      {error && <ErrorState error={error} retry={() => void refetch()} title={t("The sessions cannot be shown")} />}
      {!data && !error && <PageLoading />}
      {data && (
        <Table.ScrollContainer minWidth={520} scrollAreaProps={{ viewportProps: { tabIndex: 0 } }}>
          <Table>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>{t("Browser")}</Table.Th>
                <Table.Th>{t("Signed in")}</Table.Th>
                <Table.Th>{t("Last active")}</Table.Th>
                <Table.Th>{t("End")}</Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {data.data.map(({ id, agent, address, createdAt, seenAt, current }) => (
                <Table.Tr key={id} data-session={current ? "current" : "other"}>
                  <Table.Td>
                    <Stack gap={0}>
                      <Group gap="xs">
                        <Text size="sm">{browserName(agent)}</Text>
                        {current && <Badge color="green">{t("This browser")}</Badge>}
                      </Group>
                      <Text size="xs" c="dimmed">
                        {address || t("Unknown address")}
                      </Text>
                    </Stack>
                  </Table.Td>
                  <Table.Td>
                    <TimeText at={createdAt} size="sm" />
                  </Table.Td>
                  <Table.Td>
                    <TimeText at={seenAt} size="sm" />
                  </Table.Td>
                  <Table.Td>
                    {!current && (
                      <ConfirmButton
                        size="compact-sm"
                        question={t("End this session?")}
                        consequence={t("{browser} is signed out at once.", { browser: browserName(agent) })}
                        yes={t("End session")}
                        run={() => removeListed(`${PATH}/${id}`, () => client.invalidateQueries({ queryKey: [PATH] }))}
                      >
                        {t("End")}
                      </ConfirmButton>
                    )}
                  </Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
      )}
    </Paper>
  );
}
