import { Anchor, Box, Grid, Paper, SimpleGrid, Stack, TextInput, Title } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Link, useLocation, useParams } from "wouter";
import { get, patch, post, remove } from "../../api.ts";
import type { Template } from "../../api-types.ts";
import { t } from "../../i18n/t.ts";
import type { SendChannel } from "../../parts/channel.tsx";
import { CodeBlock } from "../../parts/code-block.tsx";
import { curlOf } from "../../parts/curl.ts";
import { ErrorState } from "../../parts/error-state.tsx";
import { GuardedConfirm } from "../../parts/guarded.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import { PageLoading } from "../../parts/page-loading.tsx";
import { Bubble } from "../../parts/phone/bubble.tsx";
import { PhoneFrame, STICKY } from "../../parts/phone/phone-frame.tsx";
import { bodyToMake, type Values } from "../../parts/record/field.ts";
import { ORIGINS } from "../../parts/origins.ts";
import { RecordForm } from "../../parts/record/record-form.tsx";
import { useNames } from "../../parts/record/use-names.ts";
import { useRecordForm } from "../../parts/record/use-record-form.ts";
import { previewOf } from "../compose/preview.ts";
import { SegmentCounter } from "../compose/segment-counter.tsx";
import { PlatformNote } from "./platform-note.tsx";
import { draftOf, kindFor } from "./sendable.ts";
import { SubmitTemplate } from "./submit-template.tsx";
import { TEMPLATE_KINDS, templateOf } from "./template-kind.ts";
import { TestSend } from "./test-send.tsx";
import { showToast } from "../../parts/toasts.tsx";

const PATH = "/api/templates";

function Editor({ channel }: { channel: SendChannel }) {
  const { id } = useParams<{ id: string }>();
  const { title } = TEMPLATE_KINDS[channel];
  const { data, error, refetch } = useQuery({
    queryKey: [PATH, "one", id],
    queryFn: ({ signal }) => get<Template>(`${PATH}/${id}`, {}, signal),
    enabled: id !== "new",
  });
  if (id === "new") return <Desk key="new" channel={channel} before={undefined} />;
  if (error)
    return (
      <>
        <PageHeader title={title} />
        <ErrorState error={error} retry={() => void refetch()} title={t("Template cannot be loaded")} />
      </>
    );
  if (!data) return <PageLoading />;
  // The key resets the form after each save.
  return <Desk key={JSON.stringify(data)} channel={channel} before={data} />;
}

/** Editor on the left, phone preview on the right. */
function Desk({ channel, before }: { channel: SendChannel; before: Template | undefined }) {
  const { fields, starts, place, title } = TEMPLATE_KINDS[channel];
  const client = useQueryClient();
  const [, navigate] = useLocation();
  const [params, setParams] = useState<readonly string[]>(["Ada", "4711", "Friday"]);
  const [openedAt] = useState(() => Date.now());
  const form = useRecordForm({
    fields,
    starts,
    before: before as Values | undefined,
    draft: before ? `${PATH}/${before.id}` : `${PATH} ${channel} new`,
  });
  const template = templateOf(form.values);
  const kind = kindFor(template);
  const draft = draftOf(template, params);
  const senders = useNames(ORIGINS.sms.path);
  const preview = previewOf(kind, draft, template, openedAt);
  const shown = { ...preview, text: preview.text || "…" };
  const refresh = (): Promise<void> => client.invalidateQueries({ queryKey: [PATH] });

  async function save(body: Values): Promise<void> {
    const saved = before
      ? await patch<Template>(`${PATH}/${before.id}`, body)
      : await post<Template>(PATH, { channel, ...body });
    await refresh();
    showToast({ color: "green", title: t("Saved"), message: t("{name} can be sent.", { name: saved.name }) });
    if (!before) navigate(`${place}/${saved.id}`);
  }

  return (
    <>
      <PageHeader
        title={before ? before.name : t("New template")}
        lead={
          <Anchor component={Link} href={place} size="sm">
            {t("All {title}", { title })}
          </Anchor>
        }
      />
      <Grid gap={{ base: "xl", lg: 48 }}>
        <Grid.Col span={{ base: 12, md: 7 }}>
          <Paper component="section" aria-label={t("Template")}>
            <PlatformNote template={before} />
            <RecordForm
              form={form}
              fields={fields}
              exists={before !== undefined}
              may="write"
              save={save}
              aside={
                before && (
                  <GuardedConfirm
                    color="red"
                    variant="subtle"
                    question={t("Remove {name}?", { name: before.name })}
                    consequence={t("Real carriers reject requests with this name from now on.")}
                    yes={t("Remove")}
                    run={async () => {
                      await remove(`${PATH}/${before.id}`);
                      navigate(place);
                      await refresh();
                    }}
                  >
                    {t("Remove")}
                  </GuardedConfirm>
                )
              }
            >
              {channel === "sms" && template.channel === "sms" && template.text && (
                <SegmentCounter
                  body={{ sender: senders[0] ?? "HELIOG", to: "15550100100", type: "TRANS", text: preview.text }}
                />
              )}
            </RecordForm>
          </Paper>
          {before ? (
            <>
              <TestSend template={before} changed={form.changed && before.origin !== "learned"} params={params} />
              <SubmitTemplate template={before} changed={form.changed} params={params} />
            </>
          ) : (
            <Stack mt="xl">
              <CodeBlock
                heading={t("curl command")}
                code={curlOf({ path: PATH, body: { channel, ...bodyToMake(fields, form.values) } })}
              />
            </Stack>
          )}
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 5 }}>
          <Samples count={template.variables} params={params} change={setParams} />
          <Box {...STICKY}>
            <PhoneFrame label={t("Preview")} title={preview.sender} subtitle={t("Preview")}>
              <Bubble message={shown} />
            </PhoneFrame>
          </Box>
        </Grid.Col>
      </Grid>
    </>
  );
}

interface SamplesProps {
  count: number;
  params: readonly string[];
  change: (params: readonly string[]) => void;
}

/** Sample values of the variables, for the preview and test sends. */
function Samples({ count, params, change }: SamplesProps) {
  if (count === 0) return null;
  const values = Array.from({ length: count }, (_, index) => params[index] ?? "");
  return (
    <Paper p="md" mb="lg" component="section" aria-label={t("Sample values")}>
      <Title order={2} size="h6" mb="xs">
        {t("Sample values")}
      </Title>
      <SimpleGrid cols={2} spacing="xs">
        {values.map((value, index) => (
          <TextInput
            key={index}
            label={t("Value {number}", { number: index + 1 })}
            size="xs"
            value={value}
            onChange={({ currentTarget }) =>
              change(values.map((each, at) => (at === index ? currentTarget.value : each)))
            }
          />
        ))}
      </SimpleGrid>
    </Paper>
  );
}

export const SmsTemplateEditor = () => <Editor channel="sms" />;
export const RcsTemplateEditor = () => <Editor channel="rcs" />;
export const ChatTemplateEditor = () => <Editor channel="chatapp" />;
