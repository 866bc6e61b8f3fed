import { Button, Grid, Group, Paper, SegmentedControl, Select, Stack, Text } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import { IconSend } from "@tabler/icons-react";
import { useState } from "react";
import { get, post, type Page } from "../../api.ts";
import type { Sent, Template } from "../../api-types.ts";
import { CHANNELS } from "../../parts/channel.tsx";
import { CodeBlock } from "../../parts/code-block.tsx";
import { curlOf } from "../../parts/curl.ts";
import { ErrorState } from "../../parts/error-state.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import { Bubble } from "../../parts/phone/bubble.tsx";
import { Flash } from "../../parts/phone/flash.tsx";
import { PhoneFrame } from "../../parts/phone/phone-frame.tsx";
import { SentNote } from "../../parts/sent-note.tsx";
import { useMay } from "../../session.tsx";
import { useUrlState } from "../../url-state.ts";
import { requestOf } from "./body.ts";
import { Fields } from "./fields.tsx";
import { EMPTY, KINDS, type Draft, type Kind } from "./kinds.ts";
import { previewOf } from "./preview.ts";
import { SegmentCounter } from "./segment-counter.tsx";

const [FIRST_KIND] = KINDS as [Kind, ...Kind[]];

const kindOf = (id: string): Kind => KINDS.find((kind) => kind.id === id) ?? FIRST_KIND;

/** Any kind of message: written here, seen on a phone before it is sent, and as a command. */
export default function Compose() {
  const [{ kind: chosen }, changeUrl] = useUrlState(["kind"]);
  const kind = kindOf(chosen);
  return <Composer key={kind.id} kind={kind} choose={(id) => changeUrl({ kind: id })} />;
}

function Composer({ kind, choose }: { kind: Kind; choose: (id: string) => void }) {
  const [draft, setDraft] = useState<Draft>({ ...EMPTY, ...kind.starts });
  const [openedAt] = useState(() => Date.now());
  const mayWrite = useMay("write");
  const { data: templates = [] } = useQuery({
    queryKey: ["/api/templates", "of", kind.channel],
    queryFn: async ({ signal }) =>
      (await get<Page<Template>>("/api/templates", { channel: kind.channel, limit: 200 }, signal)).data,
  });
  const template = templates.find(({ name }) => name === draft.templateName);
  const { path, body } = requestOf(kind, draft);
  const send = useMutation({ mutationFn: () => post<Sent>(path, body) });
  const change = (changes: Partial<Draft>): void => {
    setDraft((before) => ({ ...before, ...changes }));
    send.reset();
  };
  const preview = previewOf(kind, draft, template, openedAt);

  return (
    <>
      <PageHeader title="Compose" lead="Write a message, see it on a phone before anybody else does, and send it." />
      <Grid gap={{ base: "xl", lg: 48 }}>
        <Grid.Col span={{ base: 12, md: 7 }}>
          <Paper>
            <Stack gap="lg">
              <SegmentedControl
                aria-label="Channel"
                data={CHANNELS.map(({ value, label }) => ({ value, label }))}
                value={kind.channel}
                onChange={(channel) => choose(KINDS.find((each) => each.channel === channel)?.id ?? FIRST_KIND.id)}
                fullWidth
              />
              <Select
                label="Kind"
                description={kind.about}
                data={KINDS.filter(({ channel }) => channel === kind.channel).map(({ id, label }) => ({
                  value: id,
                  label,
                }))}
                value={kind.id}
                onChange={(id) => choose(id ?? kind.id)}
                allowDeselect={false}
                maxDropdownHeight={400}
              />
              <Fields kind={kind} draft={draft} change={change} templates={templates} template={template} />
              {kind.channel === "sms" && mayWrite && (
                <SegmentCounter body={body} onText={kind.writesText && ((text) => change({ text }))} />
              )}
              {send.error && <ErrorState error={send.error} title="The message was not sent" />}
              {send.data && <SentNote sent={send.data} />}
              <Group>
                <Button
                  leftSection={<IconSend size={17} aria-hidden />}
                  loading={send.isPending}
                  onClick={() => send.mutate()}
                  disabled={!mayWrite}
                >
                  Send
                </Button>
                {!mayWrite && (
                  <Text size="sm" c="dimmed">
                    You may look but not send.
                  </Text>
                )}
              </Group>
            </Stack>
          </Paper>
          <Group mt="xl" grow>
            <CodeBlock heading="The same as curl" code={curlOf({ path, body })} />
          </Group>
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 5 }}>
          <PhoneFrame label="Preview" title={preview.sender} subtitle="Preview">
            {preview.flash ? <Flash message={preview} /> : <Bubble message={preview} />}
          </PhoneFrame>
        </Grid.Col>
      </Grid>
    </>
  );
}
