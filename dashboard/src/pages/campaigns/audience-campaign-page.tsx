import { Alert, Anchor, Badge, Button, Grid, Group, Progress, SimpleGrid, Table, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { IconAlertTriangle } from "@tabler/icons-react";
import { Link, useParams } from "wouter";
import { get } from "../../api.ts";
import { formatNumber } from "../../i18n/format.ts";
import { t } from "../../i18n/t.ts";
import { BarList } from "../../parts/bar-list.tsx";
import { channelName } from "../../parts/channel.tsx";
import { DataTable, type Column } from "../../parts/data-table.tsx";
import { ErrorState } from "../../parts/error-state.tsx";
import { FigureCard } from "../../parts/figure-card.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import { PageLoading } from "../../parts/page-loading.tsx";
import { statusWord } from "../../parts/status-badge.tsx";
import { TimeText } from "../../parts/time-text.tsx";
import { AUDIENCES, percentOf, type Audience } from "../audiences/audience.ts";
import { FactRow } from "../compose/fact-row.tsx";
import { MessageExport } from "../../parts/message-export.tsx";
import {
  AUDIENCE_CAMPAIGNS,
  channelsText,
  draftPath,
  windowText,
  type AudienceCampaign,
  type CampaignReport,
  type SkippedRow,
} from "./audience-campaign.ts";
import { CampaignActions } from "./campaign-actions.tsx";
import { AudienceCampaignBadge } from "./campaign-badge.tsx";
import { draftOfWay } from "./way-draft.ts";
import { CampaignUnavailable } from "./campaign-unavailable.tsx";
import { Carriers, FailureReasons, OverTime, Reactions, ReportExport } from "./campaign-report.tsx";
import { Section } from "./campaign-results.tsx";

const RUNNING_MS = 1000;
const WAITING_MS = 3000;

/** The time between two reads; an ended campaign no longer changes. */
function refreshOf(state: AudienceCampaign["state"] | undefined): number | false {
  if (state === "running") return RUNNING_MS;
  return state === "scheduled" || state === "paused" ? WAITING_MS : false;
}

/** One campaign to an audience: its progress, its messages and the buttons to pause, resume and cancel it. */
export default function AudienceCampaignPage() {
  const { id } = useParams<{ id: string }>();
  const { data, error, refetch } = useQuery({
    queryKey: [AUDIENCE_CAMPAIGNS, id],
    queryFn: ({ signal }) => get<AudienceCampaign>(`${AUDIENCE_CAMPAIGNS}/${id}`, {}, signal),
    refetchInterval: ({ state }) => refreshOf(state.data?.state),
  });
  if (error) return <CampaignUnavailable error={error} retry={() => void refetch()} />;
  if (!data) return <PageLoading />;
  return <Loaded campaign={data} />;
}

function Loaded({ campaign }: { campaign: AudienceCampaign }) {
  const { id, name, state, test, failure } = campaign;
  const messages = { campaignName: name, test: String(test) };
  return (
    <>
      <PageHeader
        title={name}
        lead={
          <Anchor component={Link} href="/campaigns" size="sm">
            {t("All campaigns")}
          </Anchor>
        }
      >
        {state === "draft" && (
          <Button component={Link} href={draftPath(id)}>
            {t("Edit draft")}
          </Button>
        )}
        <CampaignActions campaign={campaign} />
      </PageHeader>
      <Group mb="lg" gap="md">
        <AudienceCampaignBadge state={state} />
        {test && <Badge color="gray">{t("Test")}</Badge>}
        <Times campaign={campaign} />
        {campaign.startedAt !== null && (
          <>
            <Anchor component={Link} href={`/messages?${new URLSearchParams(messages).toString()}`} size="sm">
              {t("View messages")}
            </Anchor>
            <MessageExport query={messages} />
          </>
        )}
      </Group>
      {failure && (
        <Alert
          color={state === "paused" ? "red" : "yellow"}
          icon={<IconAlertTriangle aria-hidden />}
          title={t("The campaign paused by itself: {code}", { code: failure.code })}
          mb="lg"
        >
          {failure.message}
        </Alert>
      )}
      <Results campaign={campaign} />
    </>
  );
}

function Times({ campaign: { scheduledAt, startedAt, endedAt } }: { campaign: AudienceCampaign }) {
  const times = [
    { label: t("Starts"), at: startedAt === null && endedAt === null ? scheduledAt : null },
    { label: t("Started"), at: startedAt },
    { label: t("Ended"), at: endedAt },
  ];
  return times.map(
    ({ label, at }) =>
      at !== null && (
        <Text key={label} size="sm" c="dimmed" component="div">
          {label} <TimeText at={at} size="sm" span />
        </Text>
      ),
  );
}

function Results({ campaign }: { campaign: AudienceCampaign }) {
  const { id, name, state, startedAt } = campaign;
  const { data: report, error } = useQuery({
    // A new state reads the report again.
    queryKey: [AUDIENCE_CAMPAIGNS, id, "report", state],
    queryFn: ({ signal }) => get<CampaignReport>(`${AUDIENCE_CAMPAIGNS}/${id}/report`, {}, signal),
    placeholderData: (before) => before,
    refetchInterval: refreshOf(state),
  });
  if (error) return <ErrorState error={error} title={t("Report cannot be loaded")} />;
  if (!report) return <PageLoading />;
  const { accepted, skipped, counts, states, skippedRows } = report;
  const recipients = report.recipients ?? accepted + skipped;
  const total = Object.values(states).reduce((sum, count) => sum + count, 0);
  return (
    <>
      <Progress
        value={percentOf(accepted + skipped, recipients)}
        animated={state === "running"}
        size="lg"
        mb="xs"
        aria-label={t("Recipients accepted")}
      />
      <Group justify="space-between" mb="lg">
        <Text size="sm" data-progress>
          {t("{accepted} of {recipients} recipients accepted", { accepted, recipients })}
        </Text>
        {startedAt !== null && <ReportExport name={name} report={report} />}
      </Group>
      <SimpleGrid cols={{ base: 2, md: 4 }} mb="lg">
        {["Delivered", "Pending", "Failed"].map((status) => (
          <FigureCard key={status} label={statusWord(status)} value={formatNumber(counts[status] ?? 0)} />
        ))}
        <FigureCard label={t("Skipped")} value={formatNumber(skipped)} note={t("got no message")} />
      </SimpleGrid>
      {startedAt !== null && (
        <>
          <Reactions report={report} />
          <OverTime report={report} />
        </>
      )}
      <Grid gap="lg">
        <Grid.Col span={{ base: 12, md: 6 }}>
          {total > 0 && (
            <Section title={t("Messages by state")}>
              <BarList
                of={total}
                bars={Object.entries(states)
                  .filter(([, count]) => count > 0)
                  .toSorted(([, one], [, other]) => other - one)
                  .map(([each, count]) => ({ label: statusWord(each), name: statusWord(each), count }))}
              />
            </Section>
          )}
          <Content campaign={campaign} />
        </Grid.Col>
        <Grid.Col span={{ base: 12, md: 6 }}>
          {startedAt !== null && (
            <>
              <Carriers report={report} />
              <FailureReasons report={report} />
            </>
          )}
          {skipped > 0 && <SkippedRows rows={skippedRows} skipped={skipped} />}
        </Grid.Col>
      </Grid>
    </>
  );
}

const SKIPPED_COLUMNS: readonly Column<SkippedRow>[] = [
  { title: t("Row"), align: "right", render: ({ row }) => formatNumber(row) },
  { title: t("Reason"), render: ({ message }) => message },
];

const SkippedRows = ({ rows, skipped }: { rows: readonly SkippedRow[]; skipped: number }) => (
  <Section title={t("Skipped rows")}>
    <DataTable
      label={t("Skipped rows")}
      columns={SKIPPED_COLUMNS}
      rows={rows}
      rowKey={({ row }) => String(row)}
      empty={null}
    />
    {skipped > rows.length && (
      <Text size="xs" c="dimmed" mt="sm">
        {t("The first {shown} of {skipped}.", { shown: rows.length, skipped })}
      </Text>
    )}
  </Section>
);

/** The message of a campaign, its audience and its limits. */
function Content({ campaign }: { campaign: AudienceCampaign }) {
  const { audienceId, sender, type, text, templateId, custom, ways, throttle, window } = campaign;
  const { data: audience, isError } = useQuery({
    queryKey: [AUDIENCES, audienceId],
    queryFn: ({ signal }) => get<Audience>(`${AUDIENCES}/${audienceId}`, {}, signal),
    retry: false,
  });
  return (
    <Section title={t("Message")}>
      <Table variant="vertical" layout="fixed">
        <Table.Tbody>
          <FactRow name={t("Audience")}>
            {isError ? (
              t("Deleted")
            ) : (
              <Anchor component={Link} href={`/audiences/${audienceId}`} size="sm">
                {audience?.name ?? "…"}
              </Anchor>
            )}
          </FactRow>
          <FactRow name={t("Sender")}>{t("{sender}, {type}", { sender, type })}</FactRow>
          {ways && <FactRow name={t("Channels")}>{channelsText(ways)}</FactRow>}
          {ways?.map(draftOfWay).map((way) => (
            <FactRow key={way.channel} name={channelName(way.channel)}>
              {way.by === "text" ? way.text : [way.templateName, ...way.params].join(" · ")}
            </FactRow>
          ))}
          {text !== null && <FactRow name={t("Text")}>{text}</FactRow>}
          {templateId !== null && <FactRow name={t("Template")}>{templateId}</FactRow>}
          {custom?.map((value, index) => (
            <FactRow key={index} name={t("Value {number}", { number: index + 1 })}>
              {value}
            </FactRow>
          ))}
          {throttle !== null && <FactRow name={t("Most messages per hour")}>{formatNumber(throttle)}</FactRow>}
          {window && <FactRow name={t("Only within")}>{windowText(window)}</FactRow>}
        </Table.Tbody>
      </Table>
    </Section>
  );
}
