import { Anchor, Paper, Table, Text, Title } from "@mantine/core";
import type { ReactNode } from "react";
import { Link } from "wouter";
import type { Message } from "../../api-types.ts";
import { ownUrl } from "../../base.ts";
import { t } from "../../i18n/t.ts";
import { codingText, isBinary, pairsOf } from "../../parts/phone/octets.tsx";
import { duration, TimeText } from "../../parts/time-text.tsx";

/** Our error codes are in capitals and have a reference page; carriers' codes have none. */
const isOurs = (code: string): boolean => /^[A-Z_]{3,}$/.test(code);

/** The properties of a message as a table. */
export function Facts({ message }: { message: Message }) {
  const { type, createdAt, submittedAt, doneAt, dueAt, carrier, attempts, segments, credits } = message;
  const { campaignName, templateName, errCode, statusDescription, test, channel } = message;
  return (
    <Paper component="section" aria-label={t("Details")}>
      <Title order={2} size="h4" mb="md">
        {t("Details")}
      </Title>
      <Table variant="vertical" withRowBorders={false} layout="fixed">
        <Table.Tbody>
          <Fact name={t("Route type")}>{type}</Fact>
          <Fact name={t("Accepted")}>
            <TimeText at={createdAt} size="sm" />
          </Fact>
          {dueAt !== null && (
            <Fact name={t("Scheduled for")}>
              <TimeText at={dueAt} size="sm" />
            </Fact>
          )}
          {submittedAt !== null && <Fact name={t("Time to send")}>{duration(submittedAt - createdAt)}</Fact>}
          {doneAt !== null && <Fact name={t("Time to final status")}>{duration(doneAt - createdAt)}</Fact>}
          <Fact name={t("Carrier")}>{carrier ?? "–"}</Fact>
          <Fact name={t("Attempts")}>{attempts}</Fact>
          {channel === "sms" && <Fact name={t("Segments")}>{segments}</Fact>}
          {isBinary(message) && <Fact name={t("Data coding")}>{codingText(message.dataCoding)}</Fact>}
          {message.udh !== null && (
            <Fact name={t("User data header")}>
              <Text size="sm" ff="monospace">
                {pairsOf(message.udh)}
              </Text>
            </Fact>
          )}
          <Fact name={t("Credits")}>{credits}</Fact>
          {campaignName !== null && (
            <Fact name={t("Campaign")}>
              <Anchor component={Link} href={`/messages?campaignName=${encodeURIComponent(campaignName)}`} size="sm">
                {campaignName}
              </Anchor>
            </Fact>
          )}
          {templateName !== null && <Fact name={t("Template")}>{templateName}</Fact>}
          {errCode !== null && (
            <Fact name={t("Code")}>
              {isOurs(errCode) ? (
                <Anchor href={ownUrl(`/docs/errors/${errCode}`)} size="sm">
                  {errCode}
                </Anchor>
              ) : (
                errCode
              )}
            </Fact>
          )}
          {statusDescription !== null && <Fact name={t("Description")}>{statusDescription}</Fact>}
          {test && <Fact name={t("Key")}>{t("Sent with a test key")}</Fact>}
        </Table.Tbody>
      </Table>
    </Paper>
  );
}

const Fact = ({ name, children }: { name: string; children: ReactNode }) => (
  <Table.Tr>
    <Table.Th w={120} bg="transparent" c="dimmed" fw={500} px={0}>
      {name}
    </Table.Th>
    <Table.Td>
      <Text size="sm" component="div">
        {children}
      </Text>
    </Table.Td>
  </Table.Tr>
);
