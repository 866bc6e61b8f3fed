import { Alert, Anchor, Box, Button, Grid, Group, Paper, SegmentedControl, Select, Stack } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { IconSend, IconWand } from "@tabler/icons-react";
import { useEffect, useState } from "react";
import { Link } from "wouter";
import { get, type Page } from "../../api.ts";
import type { Sent, Template } from "../../api-types.ts";
import { t } from "../../i18n/t.ts";
import { SEND_CHANNELS } from "../../parts/channel.tsx";
import { CodeBlock } from "../../parts/code-block.tsx";
import { curlOf } from "../../parts/curl.ts";
import { ErrorState } from "../../parts/error-state.tsx";
import { GuardedButton } from "../../parts/guarded.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import { Bubble } from "../../parts/phone/bubble.tsx";
import { Flash } from "../../parts/phone/flash.tsx";
import { PhoneFrame, STICKY } from "../../parts/phone/phone-frame.tsx";
import { RestoredNote } from "../../parts/restored-note.tsx";
import { SentNote } from "../../parts/sent-note.tsx";
import { useDraft, useLeaveGuard } from "../../parts/use-draft.ts";
import { useSendOnce } from "../../parts/use-send-once.ts";
import { useMay } from "../../session.tsx";
import { useUrlState } from "../../url-state.ts";
import { numbersIn, othersIn, requestOf } from "./body.ts";
import { Fields } from "./fields.tsx";
import { EMPTY, exampleOf, KINDS, type Draft, type Kind } from "./kinds.ts";
import { forgetPrefilled, prefilled } from "./prefill.ts";
import { previewOf } from "./preview.ts";
import { ReviewSend } from "./review-send.tsx";
import { SegmentCounter } from "./segment-counter.tsx";

const [FIRST_KIND] = KINDS as [Kind, ...Kind[]];

const kindOf = (id: string): Kind => KINDS.find((kind) => kind.id === id) ?? FIRST_KIND;

/** Composer for every kind of message, with a phone preview and the request as a curl command. */
export default function Compose() {
  const [{ kind: chosen }, changeUrl] = useUrlState(["kind"]);
  const kind = kindOf(chosen);
  return <Composer key={kind.id} kind={kind} choose={(id) => changeUrl({ kind: id })} />;
}

function Composer({ kind, choose }: { kind: Kind; choose: (id: string) => void }) {
  const kept = useDraft<Draft>(`compose ${kind.id}`, EMPTY, prefilled(kind.id));
  // A draft that an older page has kept may lack newer fields.
  const draft = { ...EMPTY, ...kept.value };
  useEffect(forgetPrefilled, []);
  const [openedAt] = useState(() => Date.now());
  const mayWrite = useMay("write");
  const { data: templates = [] } = useQuery({
    queryKey: ["/api/templates", "of", kind.channel],
    queryFn: async ({ signal }) =>
      (await get<Page<Template>>("/api/templates", { channel: kind.channel, limit: 200 }, signal)).data,
  });
  const template = templates.find(({ name }) => name === draft.templateName);
  const { path, body } = requestOf(kind, draft, template);
  const send = useSendOnce<Sent>(path, body, { onSent: kept.clear });
  useLeaveGuard(!send.sent && JSON.stringify(draft) !== JSON.stringify(EMPTY));
  const [reviewed, setReviewed] = useState(false);
  const change = (changes: Partial<Draft>): void => {
    kept.set({ ...draft, ...changes });
    send.reset();
  };
  const people = numbersIn(draft.to).length;
  const isCounted = draft.to !== "" && (kind.writesText ? draft.text : draft.templateName) !== "";
  const preview = previewOf(kind, draft, template, openedAt);

  return (
    <>
      <PageHeader title={t("Compose")} lead={t("Write a message, preview it on a phone, and send it.")} />
      <Grid gap={{ base: "xl", lg: 48 }}>
        <Grid.Col span={{ base: 12, md: 7 }}>
          <Paper>
            <Stack gap="lg">
              <SegmentedControl
                aria-label={t("Channel")}
                data={SEND_CHANNELS.map(({ value, label }) => ({ value, label }))}
                value={kind.channel}
                onChange={(channel) => choose(KINDS.find((each) => each.channel === channel)?.id ?? FIRST_KIND.id)}
                fullWidth
              />
              <Select
                label={t("Kind")}
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
              {kept.isRestored && (
                <RestoredNote
                  discard={() => {
                    change(EMPTY);
                    kept.clear();
                  }}
                />
              )}
              <Fields kind={kind} draft={draft} change={change} templates={templates} template={template} />
              <Others entries={othersIn(draft.to)} />
              {kind.channel === "sms" && mayWrite && isCounted && (
                <SegmentCounter body={body} onText={kind.writesText && ((text) => change({ text }))} />
              )}
              {send.error && <ErrorState error={send.error} title={t("Message not sent")} />}
              {send.sent && <SentNote sent={send.sent} sendAt={draft.sendAt} campaignName={draft.campaignName} />}
              <Group>
                <GuardedButton
                  leftSection={<IconSend size={17} aria-hidden />}
                  loading={send.busy}
                  onClick={() => (people > 1 ? setReviewed(true) : send.send())}
                  whyNot={
                    people === 0
                      ? t("Enter a number first.")
                      : send.sent
                        ? t("This draft has been sent. Change it to send another message.")
                        : null
                  }
                >
                  {send.sent ? t("Sent") : people > 1 ? t("Review and send") : t("Send")}
                </GuardedButton>
                <Button
                  variant="subtle"
                  leftSection={<IconWand size={17} aria-hidden />}
                  onClick={() => change(exampleOf(kind))}
                >
                  {t("Fill in an example")}
                </Button>
              </Group>
              {reviewed && (
                <ReviewSend
                  path={path}
                  body={body}
                  typed={people}
                  sendAt={draft.sendAt}
                  send={() => {
                    setReviewed(false);
                    send.send();
                  }}
                  close={() => setReviewed(false)}
                />
              )}
            </Stack>
          </Paper>
          <Group mt="xl" grow>
            <CodeBlock heading={t("curl command")} code={curlOf({ path, body })} />
          </Group>
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 5 }}>
          <Box {...STICKY}>
            <PhoneFrame label={t("Preview")} title={preview.sender} subtitle={t("Preview")}>
              {preview.flash ? <Flash message={preview} /> : <Bubble message={preview} />}
            </PhoneFrame>
          </Box>
        </Grid.Col>
      </Grid>
    </>
  );
}

/** Says which pasted entries are no numbers, and where a table with names can be sent. */
function Others({ entries: [first, ...more] }: { entries: readonly string[] }) {
  if (first === undefined) return null;
  return (
    <Alert color="yellow" data-others>
      {more.length === 0
        ? t("“{entry}” is not a number.", { entry: first })
        : t("“{entry}” and {count} more are not numbers.", { entry: first, count: more.length })}{" "}
      {t("To send to a table with names or other columns, upload it as a CSV file:")}{" "}
      <Anchor component={Link} href="/audiences" size="sm">
        {t("Audiences")}
      </Anchor>
    </Alert>
  );
}
