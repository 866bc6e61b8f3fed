import { Button, Code, Paper, Table, Text, Title, VisuallyHidden } from "@mantine/core";
import { useLocation } from "wouter";
import type { Sent } from "../../api-types.ts";
import { t } from "../../i18n/t.ts";
import { ErrorState } from "../../parts/error-state.tsx";
import { useSendOnce } from "../../parts/use-send-once.ts";
import { useMay } from "../../session.tsx";

const FATES: readonly { ending: string; fate: string }[] = [
  { ending: "9001", fate: t("Accepted, then not delivered") },
  { ending: "9002", fate: t("Accepted, then expired in the network") },
  { ending: "9003", fate: t("Rejected at once") },
  { ending: "9004", fate: t("Accepted, no delivery report") },
  { ending: "9005", fate: t("Delivered after 20 seconds") },
  { ending: "9006", fate: t("Delivered, every report twice") },
  { ending: "9007", fate: t("Delivered, reports out of order") },
  { ending: "9008", fate: t("Throttled at the first attempt, then delivered") },
  { ending: "9009", fate: t("Reachable by SMS only, not by RCS or chat app") },
  { ending: "0100", fate: t("Any other ending: delivered") },
];

/** Magic numbers: the last four digits select the outcome, so tests can choose it. */
export function MagicNumbers() {
  return (
    <Paper component="section" aria-label={t("Magic numbers")}>
      <Title order={2} size="h4">
        {t("Magic numbers")}
      </Title>
      <Text size="sm" c="dimmed" mb="md">
        {t("The last four digits of the number decide the outcome, whatever the chaos settings.")}
      </Text>
      <Table verticalSpacing="xs">
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t("Ends in")}</Table.Th>
            <Table.Th>{t("What happens")}</Table.Th>
            <Table.Th>
              <VisuallyHidden>{t("Try it")}</VisuallyHidden>
            </Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {FATES.map(({ ending, fate }) => (
            <MagicNumber key={ending} ending={ending} fate={fate} />
          ))}
        </Table.Tbody>
      </Table>
    </Paper>
  );
}

function MagicNumber({ ending, fate }: { ending: string; fate: string }) {
  const [, navigate] = useLocation();
  const mayWrite = useMay("write");
  const body = { sender: "HELIOG", to: `1555010${ending}`, text: fate, type: "TRANS" };
  const { send, sent, busy, error } = useSendOnce<Sent>("/v1/sms", body, {
    onSent: ({ data }) => navigate(`/messages/${data[0]?.messageId ?? ""}`),
  });
  return (
    <Table.Tr>
      <Table.Td>
        <Code>{ending}</Code>
      </Table.Td>
      <Table.Td>
        {fate}
        {error && <ErrorState error={error} title={t("Message not sent")} />}
      </Table.Td>
      <Table.Td ta="right">
        <Button
          size="compact-xs"
          variant="light"
          loading={busy}
          disabled={!mayWrite || sent !== null}
          onClick={send}
          aria-label={t("Try it: {fate}", { fate })}
        >
          {t("Try it")}
        </Button>
      </Table.Td>
    </Table.Tr>
  );
}
