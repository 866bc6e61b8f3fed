import { Button, Collapse, Group, Paper, Stack, Text, TextInput } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconSend } from "@tabler/icons-react";
import { useState } from "react";
import { t } from "../../i18n/t.ts";
import { ErrorState } from "../../parts/error-state.tsx";
import { GuardedButton, useWhyNot } from "../../parts/guarded.tsx";
import { useSendOnce } from "../../parts/use-send-once.ts";
import { CARRIERS, type Carrier } from "./carrier.ts";
import { Outcome, type Try } from "./test-message.tsx";

const NOTHING_WRITTEN = { from: "", to: "", subject: t("Test"), text: t("Can you read this?") };

/** Sends one test e-mail directly through a connection and shows the mail server's reply. */
export function TestEmail({ carrier }: { carrier: Carrier }) {
  const [opened, { toggle }] = useDisclosure(false);
  return (
    <div>
      <Button
        variant="default"
        leftSection={<IconSend size={16} aria-hidden />}
        aria-expanded={opened}
        onClick={toggle}
      >
        {t("Send a test e-mail")}
      </Button>
      <Collapse expanded={opened}>{opened && <TestForm carrier={carrier} />}</Collapse>
    </div>
  );
}

function TestForm({ carrier }: { carrier: Carrier }) {
  const [written, setWritten] = useState(NOTHING_WRITTEN);
  const send = useSendOnce<Try>(`${CARRIERS}/${carrier.id ?? ""}/send`, written, {
    isFinal: ({ outcome }) => outcome === "taken" || outcome === "unknown",
  });
  const isSent = send.sent?.outcome === "taken" || send.sent?.outcome === "unknown";
  const whyNot = isSent ? t("This draft has been sent. Change it to send another message.") : null;
  const maySend = useWhyNot("own") === null && whyNot === null;
  const input = (name: keyof typeof NOTHING_WRITTEN, label: string, placeholder = "") => (
    <TextInput
      label={label}
      placeholder={placeholder}
      value={written[name]}
      onChange={({ currentTarget: { value } }) => setWritten((old) => ({ ...old, [name]: value }))}
    />
  );
  return (
    <Paper
      mt="sm"
      component="form"
      aria-label={t("Test e-mail")}
      onSubmit={(event) => {
        event.preventDefault();
        if (maySend) send.send();
      }}
    >
      <Stack gap="sm">
        <Text size="sm">{t("The address really gets it. It does not appear in Messages.")}</Text>
        <Group grow align="flex-start">
          {input("from", t("From"), "Example <login@example.com>")}
          {input("to", t("To"), "ada@example.com")}
        </Group>
        {input("subject", t("Subject"))}
        {input("text", t("Text"))}
        <Group>
          <GuardedButton type="submit" may="own" loading={send.busy} whyNot={whyNot}>
            {isSent ? t("Sent") : t("Send test")}
          </GuardedButton>
        </Group>
        {send.error && <ErrorState error={send.error} title={t("Test not sent")} />}
        {send.sent && <Outcome tried={send.sent} />}
      </Stack>
    </Paper>
  );
}
