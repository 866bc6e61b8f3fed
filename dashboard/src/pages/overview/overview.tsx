import { Anchor, Button, Grid, Group, Paper, SegmentedControl, SimpleGrid, Stack, Text, Title } from "@mantine/core";
import { useState, type ReactNode } from "react";
import { Link } from "wouter";
import { t } from "../../i18n/t.ts";
import { BarList } from "../../parts/bar-list.tsx";
import { curlOf } from "../../parts/curl.ts";
import { EmptyState } from "../../parts/empty-state.tsx";
import { ErrorState } from "../../parts/error-state.tsx";
import { FailureReason } from "../../parts/failure-reason.tsx";
import { FigureCard } from "../../parts/figure-card.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import { PageLoading } from "../../parts/page-loading.tsx";
import { TimeRangeInput, useTimeRange, type TimeRange } from "../../parts/time-range.tsx";
import { duration } from "../../parts/time-text.tsx";
import { useUrlState } from "../../url-state.ts";
import { BreakdownPanel } from "./breakdown-panel.tsx";
import { ChannelsChart } from "./channels-chart.tsx";
import { LatencyChart } from "./latency-chart.tsx";
import { isQuiet, percentText, useStats, type Measure, type Stats } from "./stats.ts";
import { Ticker } from "./ticker.tsx";
import { Totals } from "./totals.tsx";

/**
 * Overview: message counts, outcomes, failures and latencies. The server updates the counts with every state change.
 */
export default function Overview() {
  const range = useTimeRange("day");
  const { data, error, refetch } = useStats(range);
  return (
    <>
      <PageHeader
        title={t("Home")}
        lead={t("{range}, compared with the same length of time before.", { range: range.name })}
      >
        <TimeRangeInput range={range} />
      </PageHeader>
      {error && <ErrorState error={error} retry={() => void refetch()} title={t("Statistics cannot be loaded")} />}
      {!data && !error && <PageLoading />}
      {data && (isQuiet(data) && range.span === range.usual ? <Quiet /> : <Figures stats={data} range={range} />)}
    </>
  );
}

const Quiet = () => (
  <Stack gap="lg">
    <Paper>
      <EmptyState
        sentence={t("No messages in this period. Send one, and it appears here within a second.")}
        action={
          <Button component={Link} href="/start">
            {t("Send your first message")}
          </Button>
        }
        curl={curlOf({ path: "/api/stats" })}
      />
    </Paper>
    <Ticker />
  </Stack>
);

const Figures = ({ stats, range }: { stats: Stats; range: TimeRange }) => (
  <Stack gap="lg">
    <Totals totals={stats.totals} comparable={stats.comparable} />
    <OverTime stats={stats} range={range} />
    <Grid gap="lg">
      <Grid.Col span={{ base: 12, md: 6 }}>
        <Funnel stats={stats} />
      </Grid.Col>
      <Grid.Col span={{ base: 12, md: 6 }}>
        <HowLong latency={stats.latency} />
      </Grid.Col>
      <Grid.Col span={{ base: 12, md: 6 }}>
        <Failures failures={stats.failures} />
      </Grid.Col>
      <Grid.Col span={{ base: 12, md: 6 }}>
        <Ticker />
      </Grid.Col>
    </Grid>
    <Answers stats={stats} />
  </Stack>
);

interface SectionProps {
  title: string;
  /** Control that selects the content of the section. */
  choice?: ReactNode;
  children: ReactNode;
}

const Section = ({ title, choice, children }: SectionProps) => (
  <Paper component="section" aria-label={title} h="100%">
    <Group justify="space-between" mb="md">
      <Title order={2} size="h5">
        {title}
      </Title>
      {choice}
    </Group>
    {children}
  </Paper>
);

const MEASURES: readonly { value: Measure; label: string }[] = [
  { value: "sent", label: t("Sent") },
  { value: "delivered", label: t("Delivered") },
  { value: "failed", label: t("Failed") },
];

const SPLITS = [
  { value: "channel", label: t("Channel") },
  { value: "carrier", label: t("Carrier") },
  { value: "country", label: t("Country") },
] as const;

function OverTime({ stats, range }: { stats: Stats; range: TimeRange }) {
  const [measure, setMeasure] = useState<Measure>("sent");
  const [{ by }, change] = useUrlState(["by"]);
  const split = SPLITS.find(({ value }) => value === by)?.value ?? "channel";
  return (
    <Section
      title={t("Messages over time")}
      choice={
        <Group gap="sm">
          <SegmentedControl
            size="xs"
            aria-label={t("Split by")}
            data={[...SPLITS]}
            value={split}
            onChange={(value) => change({ by: value === "channel" ? null : value })}
          />
          <SegmentedControl
            size="xs"
            aria-label={t("Measure")}
            data={[...MEASURES]}
            value={measure}
            onChange={setMeasure}
          />
        </Group>
      }
    >
      {split === "channel" ? (
        <ChannelsChart stats={stats} measure={measure} />
      ) : (
        <BreakdownPanel range={range} by={split} measure={measure} />
      )}
    </Section>
  );
}

/** Delivery funnel: each step as a share of the accepted messages. */
function Funnel({ stats: { funnel } }: { stats: Stats }) {
  const all = funnel.find(({ channel }) => channel === null);
  if (!all) return null;
  const bar = (name: string, count: number, color: string) => ({ name, label: name, count, color });
  return (
    <Section title={t("Delivery funnel")}>
      <BarList
        of={all.accepted}
        bars={[
          bar(t("Accepted"), all.accepted, "gray"),
          bar(t("Sent"), all.sent, "blue"),
          bar(t("Delivered"), all.delivered, "green"),
          bar(t("Read"), all.read, "violet"),
        ]}
      />
    </Section>
  );
}

const UNTIL = { sent: t("Time to send"), delivered: t("Time to delivery") } as const;

function HowLong({ latency }: Pick<Stats, "latency">) {
  const [until, setUntil] = useState<keyof typeof UNTIL>("delivered");
  const chosen = latency[until];
  const shown = (ms: number | null): string => (ms === null ? "–" : duration(ms));
  return (
    <Section
      title={t("Delivery time")}
      choice={
        <SegmentedControl
          size="xs"
          aria-label={t("Measure")}
          data={Object.entries(UNTIL).map(([value, label]) => ({ value, label }))}
          value={until}
          onChange={(value) => setUntil(value as keyof typeof UNTIL)}
        />
      }
    >
      <Group gap="xl" mb="md">
        {(["p50", "p95", "p99"] as const).map((name) => (
          <div key={name} data-percentile={name}>
            <Text size="xs" c="dimmed">
              {name}
            </Text>
            <Text fw={650}>{shown(chosen[name])}</Text>
          </div>
        ))}
      </Group>
      <LatencyChart label={UNTIL[until]} latency={chosen} />
    </Section>
  );
}

function Failures({ failures }: Pick<Stats, "failures">) {
  const all = failures.reduce((sum, { count }) => sum + count, 0);
  return (
    <Section
      title={t("Failure reasons")}
      choice={
        <Anchor component={Link} href="/messages?status=Failed" size="sm">
          {t("Failed messages")}
        </Anchor>
      }
    >
      {all === 0 ? (
        <Text size="sm" c="dimmed">
          {t("No failures in this period")}
        </Text>
      ) : (
        <BarList
          of={all}
          bars={failures.map((failure) => ({
            name: failure.code ?? t("No code"),
            label: <FailureReason {...failure} />,
            count: failure.count,
            color: "red",
          }))}
        />
      )}
    </Section>
  );
}

const before = (share: number | null): string =>
  share === null ? "" : t(" · {percent} before", { percent: percentText(share) });

/** One-time passwords and webhook deliveries. */
const Answers = ({ stats: { otp, callbacks } }: { stats: Stats }) => (
  <SimpleGrid cols={{ base: 1, sm: 2 }}>
    <FigureCard
      label={t("OTP conversion")}
      value={percentText(otp.conversion)}
      note={
        <>
          {t("{verified} of {sent}, {refused} wrong attempts", {
            verified: otp.verified,
            sent: otp.sent,
            refused: otp.refused,
          })}
          {before(otp.conversionBefore)} ·{" "}
          <Anchor component={Link} href="/verify" size="xs">
            {t("Log")}
          </Anchor>
        </>
      }
    />
    <FigureCard
      label={t("Webhook success rate")}
      value={percentText(callbacks.success)}
      note={
        <>
          {t("{delivered} delivered, {failedAttempts} attempts failed, {givenUp} failed for good", {
            delivered: callbacks.delivered,
            failedAttempts: callbacks.failedAttempts,
            givenUp: callbacks.givenUp,
          })}
          {before(callbacks.successBefore)} ·{" "}
          <Anchor component={Link} href="/operations/callbacks" size="xs">
            {t("Deliveries")}
          </Anchor>
        </>
      }
    />
  </SimpleGrid>
);
