import { Anchor, Paper, Table, Text, Title } from "@mantine/core";
import type { ReactNode } from "react";
import { Link } from "wouter";
import type { Message } from "../../api-types.ts";
import { ownUrl } from "../../base.ts";
import { duration, TimeText } from "../../parts/time-text.tsx";

/** A code in capitals is ours and has a page; any other is the carrier's. */
const isOurs = (code: string): boolean => /^[A-Z_]{3,}$/.test(code);

/** The message in a few lines. */
export function Facts({ message }: { message: Message }) {
  const { type, createdAt, submittedAt, doneAt, dueAt, carrier, attempts, segments, credits } = message;
  const { campaignName, templateName, errCode, statusDescription, test, channel } = message;
  return (
    <Paper component="section" aria-label="Details">
      <Title order={2} size="h4" mb="md">
        Details
      </Title>
      <Table variant="vertical" withRowBorders={false} layout="fixed">
        <Table.Tbody>
          <Fact name="Route type">{type}</Fact>
          <Fact name="Accepted">
            <TimeText at={createdAt} size="sm" />
          </Fact>
          {dueAt !== null && (
            <Fact name="Not before">
              <TimeText at={dueAt} size="sm" />
            </Fact>
          )}
          {submittedAt !== null && <Fact name="Sent after">{duration(submittedAt - createdAt)}</Fact>}
          {doneAt !== null && <Fact name="Ended after">{duration(doneAt - createdAt)}</Fact>}
          <Fact name="Carrier">{carrier ?? "–"}</Fact>
          <Fact name="Attempts">{attempts}</Fact>
          {channel === "sms" && <Fact name="Segments">{segments}</Fact>}
          <Fact name="Credits">{credits}</Fact>
          {campaignName !== null && (
            <Fact name="Campaign">
              <Anchor component={Link} href={`/messages?campaignName=${encodeURIComponent(campaignName)}`} size="sm">
                {campaignName}
              </Anchor>
            </Fact>
          )}
          {templateName !== null && <Fact name="Template">{templateName}</Fact>}
          {errCode !== null && (
            <Fact name="Code">
              {isOurs(errCode) ? (
                <Anchor href={ownUrl(`/docs/errors/${errCode}`)} size="sm">
                  {errCode}
                </Anchor>
              ) : (
                errCode
              )}
            </Fact>
          )}
          {statusDescription !== null && <Fact name="In words">{statusDescription}</Fact>}
          {test && <Fact name="Key">Sent with a test key</Fact>}
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
