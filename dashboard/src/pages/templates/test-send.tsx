import { Autocomplete, Group, Paper, Stack, Text, TextInput, Title } from "@mantine/core";
import { IconSend } from "@tabler/icons-react";
import { useState } from "react";
import type { Sent, Template } from "../../api-types.ts";
import { t } from "../../i18n/t.ts";
import { CodeBlock } from "../../parts/code-block.tsx";
import { curlOf } from "../../parts/curl.ts";
import { ErrorState } from "../../parts/error-state.tsx";
import { GuardedButton } from "../../parts/guarded.tsx";
import { ORIGINS } from "../../parts/origins.ts";
import { useNames } from "../../parts/record/use-names.ts";
import { SentNote } from "../../parts/sent-note.tsx";
import { useSendOnce } from "../../parts/use-send-once.ts";
import { requestOf } from "../compose/body.ts";
import { draftOf, kindFor } from "./sendable.ts";

interface Props {
  template: Template;
  /** True if the editor has unsaved changes. */
  changed: boolean;
  params: readonly string[];
}

/** Sends the saved template with the sample values. */
export function TestSend({ template, changed, params }: Props) {
  const { label, path, field } = ORIGINS[template.channel];
  const names = useNames(path);
  const [origin, setOrigin] = useState("");
  const [to, setTo] = useState("15550100100");
  const from = origin || (names[0] ?? "");
  const request = requestOf(kindFor(template), { ...draftOf(template, params), to, [field]: from }, template);
  const send = useSendOnce<Sent>(request.path, request.body);
  return (
    <Paper mt="xl" component="section" aria-label={t("Test")}>
      <Title order={2} size="h4" mb="md">
        {t("Test")}
      </Title>
      <Stack>
        <Group grow align="flex-start">
          <Autocomplete label={label} data={names} value={from} onChange={setOrigin} />
          <TextInput
            label={t("To")}
            inputMode="tel"
            value={to}
            onChange={({ currentTarget }) => setTo(currentTarget.value)}
          />
        </Group>
        {send.error && <ErrorState error={send.error} title={t("Test not sent")} />}
        {send.sent && <SentNote sent={send.sent} />}
        <Group>
          <GuardedButton
            leftSection={<IconSend size={16} aria-hidden />}
            loading={send.busy}
            whyNot={
              changed
                ? t("Save the template first: a test sends the saved version.")
                : send.sent
                  ? t("This draft has been sent. Change it to send another message.")
                  : null
            }
            onClick={send.send}
          >
            {send.sent ? t("Sent") : t("Send test")}
          </GuardedButton>
          {changed && (
            <Text size="sm" c="dimmed">
              {t("A test sends the saved version.")}
            </Text>
          )}
        </Group>
        <CodeBlock heading={t("curl command")} code={curlOf(request)} />
      </Stack>
    </Paper>
  );
}
