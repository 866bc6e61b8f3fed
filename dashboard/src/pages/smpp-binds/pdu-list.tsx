import { Code, Table, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { get } from "../../api.ts";
import { t } from "../../i18n/t.ts";
import { ErrorState } from "../../parts/error-state.tsx";
import { PageLoading } from "../../parts/page-loading.tsx";
import { TimeText } from "../../parts/time-text.tsx";
import { BINDS, type SmppPdu } from "./smpp-bind.ts";

const REFRESH_MS = 1000;

/** The PDUs of the last minute, newest first. The server omits texts and masks numbers. */
export function PduList({ bindId }: { bindId: string }) {
  const path = `${BINDS}/${bindId}/pdus`;
  const { data, error, refetch } = useQuery({
    queryKey: [path],
    queryFn: ({ signal }) => get<{ data: SmppPdu[] | null }>(path, {}, signal),
    refetchInterval: REFRESH_MS,
  });
  if (error) return <ErrorState error={error} retry={() => void refetch()} title={t("The PDUs cannot be shown")} />;
  if (!data?.data) return <PageLoading />;
  if (data.data.length === 0) return <Text size="sm">{t("No PDU in the last minute.")}</Text>;
  return (
    <Table.ScrollContainer minWidth={560} scrollAreaProps={{ viewportProps: { tabIndex: 0 } }}>
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t("Time")}</Table.Th>
            <Table.Th>{t("PDU")}</Table.Th>
            <Table.Th>{t("Sequence")}</Table.Th>
            <Table.Th>{t("Status")}</Table.Th>
            <Table.Th>{t("From")}</Table.Th>
            <Table.Th>{t("To")}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {data.data
            .toReversed()
            .map(({ at, direction, sequence, command, status, source, destination, fault }, index) => (
              <Table.Tr key={`${at}-${index}`}>
                <Table.Td>
                  <TimeText at={at} size="sm" />
                </Table.Td>
                <Table.Td>
                  {direction === "in" ? "→" : "←"} <Code>{command}</Code>
                  {fault !== null && (
                    <Text size="xs" c="red">
                      {fault}
                    </Text>
                  )}
                </Table.Td>
                <Table.Td>{sequence}</Table.Td>
                <Table.Td>{status === null ? "" : `0x${status.toString(16).padStart(2, "0")}`}</Table.Td>
                <Table.Td>{source}</Table.Td>
                <Table.Td>{destination}</Table.Td>
              </Table.Tr>
            ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}
