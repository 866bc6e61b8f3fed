import {
  Alert,
  Autocomplete,
  Button,
  Collapse,
  Group,
  List,
  Paper,
  Select,
  Stack,
  Text,
  TextInput,
} from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { IconAlertTriangle, IconCheck, IconSend, IconX } from "@tabler/icons-react";
import { useState } from "react";
import { usePages } from "../../api.ts";
import type { Template } from "../../api-types.ts";
import { t } from "../../i18n/t.ts";
import type { SendChannel } from "../../parts/channel.tsx";
import { CodeBlock } from "../../parts/code-block.tsx";
import { ErrorState } from "../../parts/error-state.tsx";
import { GuardedButton, useWhyNot } from "../../parts/guarded.tsx";
import { ORIGINS } from "../../parts/origins.ts";
import { useNames } from "../../parts/record/use-names.ts";
import { duration } from "../../parts/time-text.tsx";
import { useSendOnce } from "../../parts/use-send-once.ts";
import { CARRIERS, type Carrier } from "./carrier.ts";
import { bodyOf, headerOf, NOTHING_WRITTEN, type Written } from "./test-body.ts";

export interface Try {
  outcome: "taken" | "busy" | "refused" | "down" | "unknown";
  carrierMessageId: string | null;
  code: string | null;
  description: string | null;
  exchange: string | null;
  ms: number;
}

const OUTCOMES = {
  taken: { words: t("Accepted by the carrier"), color: "green", icon: IconCheck },
  busy: { words: t("Deferred by the carrier"), color: "yellow", icon: IconAlertTriangle },
  unknown: { words: t("Outcome unknown"), color: "yellow", icon: IconAlertTriangle },
  refused: { words: t("Rejected by the carrier"), color: "red", icon: IconX },
  down: { words: t("Not accepted"), color: "red", icon: IconX },
} as const;

/** Sends one test message directly through a connection and shows the carrier's response. */
export function TestMessage({ carrier, channel }: { carrier: Carrier; channel: SendChannel }) {
  const [opened, { toggle }] = useDisclosure(false);
  return (
    <div>
      <Button
        variant="default"
        leftSection={<IconSend size={16} aria-hidden />}
        aria-expanded={opened}
        onClick={toggle}
      >
        {t("Send a test message")}
      </Button>
      <Collapse expanded={opened}>{opened && <TestForm carrier={carrier} channel={channel} />}</Collapse>
    </div>
  );
}

function TestForm({ carrier, channel }: { carrier: Carrier; channel: SendChannel }) {
  const { label, path } = ORIGINS[channel];
  const names = useNames(path);
  const { rows: templates } = usePages<Template>(
    "/api/templates",
    { channel, limit: 200 },
    { enabled: channel !== "sms" },
  );
  const [written, setWritten] = useState<Written>(NOTHING_WRITTEN);
  const change = (changes: Partial<Written>): void => setWritten((old) => ({ ...old, ...changes }));
  const from = written.from || (names[0] ?? "");
  const template = templates.find(({ name }) => name === written.template) ?? templates[0];
  const send = useSendOnce<Try>(
    `${CARRIERS}/${carrier.id ?? ""}/send`,
    bodyOf(channel, { ...written, from }, template),
    { isFinal: ({ outcome }) => outcome === "taken" || outcome === "unknown" },
  );
  const isSent = send.sent?.outcome === "taken" || send.sent?.outcome === "unknown";
  const whyNot =
    channel !== "sms" && !template
      ? t("This channel has no templates yet.")
      : isSent
        ? t("This draft has been sent. Change it to send another message.")
        : null;
  const maySend = useWhyNot("own") === null && whyNot === null;
  return (
    <Paper
      mt="sm"
      component="form"
      aria-label={t("Test message")}
      onSubmit={(event) => {
        event.preventDefault();
        if (maySend) send.send();
      }}
    >
      <Stack gap="sm">
        <Text size="sm">
          {t(
            "A real phone gets it, and the carrier charges for it. It uses no route, costs no credits and does not appear in Messages.",
          )}
        </Text>
        <Group grow align="flex-start">
          <Autocomplete
            label={label}
            data={names}
            // The preselected text must not filter the other options out.
            filter={({ options }) => options}
            value={from}
            onChange={(next) => change({ from: next })}
          />
          <TextInput
            label={t("To")}
            inputMode="tel"
            placeholder="15550100100"
            value={written.to}
            onChange={({ currentTarget }) => change({ to: currentTarget.value })}
          />
        </Group>
        {channel === "sms" ? (
          <TextInput
            label={t("Text")}
            value={written.text}
            onChange={({ currentTarget }) => change({ text: currentTarget.value })}
          />
        ) : (
          <TemplateFields templates={templates} template={template} written={written} change={change} />
        )}
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

interface TemplateProps {
  templates: readonly Template[];
  template: Template | undefined;
  written: Written;
  change: (changes: Partial<Written>) => void;
}

function TemplateFields({ templates, template, written, change }: TemplateProps) {
  const header = template && headerOf(template);
  return (
    <>
      <Select
        label={t("Template")}
        data={templates.map(({ name }) => name)}
        value={template?.name ?? null}
        onChange={(next) => next !== null && change({ template: next, header: "" })}
        placeholder={t("None yet")}
        allowDeselect={false}
      />
      {header && (
        <TextInput
          label={header.label}
          placeholder={header.usual}
          value={written.header}
          onChange={({ currentTarget }) => change({ header: currentTarget.value })}
        />
      )}
      {Array.from({ length: template?.variables ?? 0 }, (_, place) => (
        <TextInput
          key={place}
          label={t("Value {number}", { number: place + 1 })}
          value={written.params[place] ?? ""}
          onChange={({ currentTarget: { value } }) =>
            change({ params: Object.assign([...written.params], { [place]: value }) })
          }
        />
      ))}
    </>
  );
}

/** Result of a test message, with the protocol exchange. */
export function Outcome({ tried }: { tried: Try }) {
  const { outcome, carrierMessageId, code, description, exchange, ms } = tried;
  const { words, color, icon: Icon } = OUTCOMES[outcome];
  const facts = [
    [t("Outcome"), outcome],
    [t("Carrier message ID"), carrierMessageId],
    [t("Code"), code],
    [t("Details"), description],
  ].filter(([, fact]) => fact !== null);
  return (
    <Stack gap="sm">
      <Alert
        color={color}
        icon={<Icon aria-hidden />}
        title={t("{words}, after {duration}", { words, duration: duration(ms) })}
        data-outcome={outcome}
      >
        <List size="sm" listStyleType="none">
          {facts.map(([name, fact]) => (
            <List.Item key={name}>
              {name}: {fact}
            </List.Item>
          ))}
        </List>
      </Alert>
      {exchange !== null && <CodeBlock heading={t("Protocol exchange")} code={exchange} />}
    </Stack>
  );
}
