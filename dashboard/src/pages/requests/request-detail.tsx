import { Anchor, Stack, Table, Text } from "@mantine/core";
import type { ReactNode } from "react";
import { ownUrl } from "../../base.ts";
import { t } from "../../i18n/t.ts";
import { CodeBlock } from "../../parts/code-block.tsx";
import { duration, TimeText } from "../../parts/time-text.tsx";
import type { LoggedRequest } from "./logged-request.ts";

/** One entry of the request log. */
export function RequestDetail({ request }: { request: LoggedRequest }) {
  const { at, actor, test, query, status, code, requestId, durationMs, node, body } = request;
  return (
    <Stack gap="md">
      <Table variant="vertical" withRowBorders={false} layout="fixed">
        <Table.Tbody>
          <Row name={t("Status")}>{status}</Row>
          {code !== null && (
            <Row name={t("Code")}>
              <Anchor href={ownUrl(`/docs/errors/${code}`)} size="sm">
                {t("{code}: explanation", { code })}
              </Anchor>
            </Row>
          )}
          {requestId !== null && <Row name={t("Request ID")}>{requestId}</Row>}
          <Row name={t("Time")}>
            <TimeText at={at} size="sm" />
          </Row>
          <Row name={t("Duration")}>{duration(durationMs)}</Row>
          <Row name={actor.kind === "key" ? t("Key") : t("User")}>{actor.name ?? "–"}</Row>
          <Row name={t("Mode")}>{test ? t("Test") : t("Live")}</Row>
          {query.length > 0 && <Row name={t("Query parameters")}>{query.join(", ")}</Row>}
          <Row name={t("Node")}>{node}</Row>
        </Table.Tbody>
      </Table>
      {body === null ? (
        <Text size="sm">{t("The request had no JSON body.")}</Text>
      ) : (
        <CodeBlock heading={t("Shape of the body")} code={JSON.stringify(body, null, 2)} />
      )}
    </Stack>
  );
}

const Row = ({ name, children }: { name: string; children: ReactNode }) => (
  <Table.Tr>
    <Table.Th w={140} bg="transparent" c="dimmed" fw={500} px={0}>
      {name}
    </Table.Th>
    <Table.Td>
      <Text size="sm" component="div" style={{ overflowWrap: "anywhere" }}>
        {children}
      </Text>
    </Table.Td>
  </Table.Tr>
);
