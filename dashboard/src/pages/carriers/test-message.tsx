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
import { useMutation } from "@tanstack/react-query";
import { IconAlertTriangle, IconCheck, IconSend, IconX } from "@tabler/icons-react";
import { useState } from "react";
import { post, usePages } from "../../api.ts";
import type { Template } from "../../api-types.ts";
import type { Channel } from "../../parts/channel.tsx";
import { CodeBlock } from "../../parts/code-block.tsx";
import { ErrorState } from "../../parts/error-state.tsx";
import { GuardedButton, useWhyNot } from "../../parts/guarded.tsx";
import { ORIGINS } from "../../parts/origins.ts";
import { useNames } from "../../parts/record/use-names.ts";
import { duration } from "../../parts/time-text.tsx";
import { CARRIERS, type Carrier } from "./carrier.ts";
import { bodyOf, headerOf, NOTHING_WRITTEN, type Written } from "./test-body.ts";

interface Try {
  outcome: "taken" | "busy" | "refused" | "down" | "unknown";
  carrierMessageId: string | null;
  code: string | null;
  description: string | null;
  exchange: string | null;
  ms: number;
}

const OUTCOMES = {
  taken: { words: "The carrier has taken it", color: "green", icon: IconCheck },
  busy: { words: "The carrier says: later", color: "yellow", icon: IconAlertTriangle },
  unknown: { words: "Nobody knows whether it was taken", color: "yellow", icon: IconAlertTriangle },
  refused: { words: "The carrier refused it", color: "red", icon: IconX },
  down: { words: "It was certainly not taken", color: "red", icon: IconX },
} as const;

/** A button and a small form that send one message straight through a line, and show what its carrier said. */
export function TestMessage({ carrier, channel }: { carrier: Carrier; channel: Channel }) {
  const [opened, { toggle }] = useDisclosure(false);
  return (
    <div>
      <Button
        variant="default"
        leftSection={<IconSend size={16} aria-hidden />}
        aria-expanded={opened}
        onClick={toggle}
      >
        Send a test message
      </Button>
      <Collapse expanded={opened}>{opened && <TestForm carrier={carrier} channel={channel} />}</Collapse>
    </div>
  );
}

function TestForm({ carrier, channel }: { carrier: Carrier; channel: Channel }) {
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
  const send = useMutation({
    mutationFn: () =>
      post<Try>(`${CARRIERS}/${carrier.id ?? ""}/send`, bodyOf(channel, { ...written, from }, template)),
  });
  const whyNot = channel !== "sms" && !template ? "There is no template of this channel yet." : null;
  const maySend = useWhyNot("own") === null && whyNot === null;
  return (
    <Paper
      mt="sm"
      component="form"
      aria-label="Test message"
      onSubmit={(event) => {
        event.preventDefault();
        if (maySend) send.mutate();
      }}
    >
      <Stack gap="sm">
        <Text size="sm">
          The phone really gets it, and the carrier charges for it. It takes no route, costs no credits and stands in no
          list of messages.
        </Text>
        <Group grow align="flex-start">
          <Autocomplete
            label={label}
            data={names}
            // The first is there from the beginning, and must not hide the others.
            filter={({ options }) => options}
            value={from}
            onChange={(next) => change({ from: next })}
          />
          <TextInput
            label="To"
            inputMode="tel"
            placeholder="15550100100"
            value={written.to}
            onChange={({ currentTarget }) => change({ to: currentTarget.value })}
          />
        </Group>
        {channel === "sms" ? (
          <TextInput
            label="Text"
            value={written.text}
            onChange={({ currentTarget }) => change({ text: currentTarget.value })}
          />
        ) : (
          <TemplateFields templates={templates} template={template} written={written} change={change} />
        )}
        <Group>
          <GuardedButton type="submit" may="own" loading={send.isPending} whyNot={whyNot}>
            Send it
          </GuardedButton>
        </Group>
        {send.error && <ErrorState error={send.error} title="It was not sent" />}
        {send.data && <Outcome tried={send.data} />}
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
        label="Template"
        data={templates.map(({ name }) => name)}
        value={template?.name ?? null}
        onChange={(next) => next !== null && change({ template: next, header: "" })}
        placeholder="None yet"
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
          label={`Value ${place + 1}`}
          value={written.params[place] ?? ""}
          onChange={({ currentTarget: { value } }) =>
            change({ params: Object.assign([...written.params], { [place]: value }) })
          }
        />
      ))}
    </>
  );
}

function Outcome({ tried }: { tried: Try }) {
  const { outcome, carrierMessageId, code, description, exchange, ms } = tried;
  const { words, color, icon: Icon } = OUTCOMES[outcome];
  const facts = [
    ["Outcome", outcome],
    ["The carrier's id of it", carrierMessageId],
    ["Code", code],
    ["What happened", description],
  ].filter(([, fact]) => fact !== null);
  return (
    <Stack gap="sm">
      <Alert color={color} icon={<Icon aria-hidden />} title={`${words}, after ${duration(ms)}`} data-outcome={outcome}>
        <List size="sm" listStyleType="none">
          {facts.map(([name, fact]) => (
            <List.Item key={name}>
              {name}: {fact}
            </List.Item>
          ))}
        </List>
      </Alert>
      {exchange !== null && <CodeBlock heading="What went over the line" code={exchange} />}
    </Stack>
  );
}
