import {
  Anchor,
  Button,
  Grid,
  Group,
  Paper,
  SegmentedControl,
  SimpleGrid,
  Skeleton,
  Stack,
  Text,
  Title,
} from "@mantine/core";
import { lazy, Suspense, useState, type ReactNode } from "react";
import { Link } from "wouter";
import { ownUrl } from "../../base.ts";
import { BarList } from "../../parts/bar-list.tsx";
import { curlOf } from "../../parts/curl.ts";
import { EmptyState } from "../../parts/empty-state.tsx";
import { ErrorState } from "../../parts/error-state.tsx";
import { FigureCard } from "../../parts/figure-card.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import { PageLoading } from "../../parts/page-loading.tsx";
import { duration } from "../../parts/time-text.tsx";
import { useUrlState } from "../../url-state.ts";
import { isQuiet, SPANS, useStats, type Measure, type Stats } from "./stats.ts";
import { Ticker } from "./ticker.tsx";
import { Totals } from "./totals.tsx";

const ChannelsChart = lazy(() => import("./channels-chart.tsx"));
const LatencyChart = lazy(() => import("./latency-chart.tsx"));

/** How it goes, from counts that the server keeps as messages move. */
export default function Overview() {
  const [{ span }, change] = useUrlState(["span"]);
  const chosen = SPANS.find(({ value }) => value === span) ?? SPANS[0];
  const { data, error, refetch } = useStats(chosen.ms);
  return (
    <>
      <PageHeader title="Overview" lead={`The last ${chosen.label}, beside the ${chosen.label} before.`}>
        <SegmentedControl
          aria-label="How far back"
          data={SPANS.map(({ value, label }) => ({ value, label }))}
          value={chosen.value}
          onChange={(value) => change({ span: value === SPANS[0].value ? null : value })}
        />
      </PageHeader>
      {error && <ErrorState error={error} retry={() => void refetch()} title="The figures cannot be read" />}
      {!data && !error && <PageLoading />}
      {data && (isQuiet(data) ? <Quiet /> : <Figures stats={data} />)}
    </>
  );
}

const Quiet = () => (
  <Stack gap="lg">
    <Paper>
      <EmptyState
        sentence="No message was sent in this time. Send one, and it is counted here a second later."
        action={
          <Button component={Link} href="/start">
            Send the first one
          </Button>
        }
        curl={curlOf({ path: "/api/stats" })}
      />
    </Paper>
    <Ticker />
  </Stack>
);

const Figures = ({ stats }: { stats: Stats }) => (
  <Stack gap="lg">
    <Totals totals={stats.totals} comparable={stats.comparable} />
    <OverTime stats={stats} />
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
  /** What chooses what is shown. */
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
  { value: "sent", label: "Sent" },
  { value: "delivered", label: "Delivered" },
  { value: "failed", label: "Failed" },
];

function OverTime({ stats }: { stats: Stats }) {
  const [measure, setMeasure] = useState<Measure>("sent");
  return (
    <Section
      title="Over time, by channel"
      choice={
        <SegmentedControl
          size="xs"
          aria-label="What is counted"
          data={[...MEASURES]}
          value={measure}
          onChange={setMeasure}
        />
      }
    >
      <Suspense fallback={<Skeleton h={240} />}>
        <ChannelsChart stats={stats} measure={measure} />
      </Suspense>
    </Section>
  );
}

/** How far messages came: each step as a part of all that were accepted. */
function Funnel({ stats: { funnel } }: { stats: Stats }) {
  const all = funnel.find(({ channel }) => channel === null);
  if (!all) return null;
  const bar = (name: string, count: number, color: string) => ({ name, label: name, count, color });
  return (
    <Section title="How far they come">
      <BarList
        of={all.accepted}
        bars={[
          bar("Accepted", all.accepted, "gray"),
          bar("Sent", all.sent, "blue"),
          bar("Delivered", all.delivered, "green"),
          bar("Read", all.read, "violet"),
        ]}
      />
    </Section>
  );
}

const UNTIL = { sent: "Until sent", delivered: "Until delivered" } as const;

function HowLong({ latency }: Pick<Stats, "latency">) {
  const [until, setUntil] = useState<keyof typeof UNTIL>("delivered");
  const chosen = latency[until];
  const shown = (ms: number | null): string => (ms === null ? "–" : duration(ms));
  return (
    <Section
      title="How long it takes"
      choice={
        <SegmentedControl
          size="xs"
          aria-label="Until when"
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
      <Suspense fallback={<Skeleton h={220} />}>
        <LatencyChart label={UNTIL[until]} latency={chosen} />
      </Suspense>
    </Section>
  );
}

function Failures({ failures }: Pick<Stats, "failures">) {
  const all = failures.reduce((sum, { count }) => sum + count, 0);
  return (
    <Section
      title="Why they fail"
      choice={
        <Anchor component={Link} href="/messages?status=Failed" size="sm">
          Failed messages
        </Anchor>
      }
    >
      {all === 0 ? (
        <Text size="sm" c="dimmed">
          Nothing failed in this time.
        </Text>
      ) : (
        <BarList
          of={all}
          bars={failures.map(({ code, description, count }) => ({
            name: code ?? "No code",
            label: <Reason code={code} description={description} />,
            count,
            color: "red",
          }))}
        />
      )}
    </Section>
  );
}

/** A code of this service has a page of its own; a carrier's has not. */
const Reason = ({ code, description }: Pick<Stats["failures"][number], "code" | "description">) => (
  <>
    {code !== null && description !== null ? (
      <Anchor href={ownUrl(`/docs/errors/${code}`)} target="_blank" size="sm">
        {code}
      </Anchor>
    ) : (
      <Text size="sm" span>
        {code ?? "No code was told"}
      </Text>
    )}
    {description !== null && (
      <Text size="xs" c="dimmed">
        {description}
      </Text>
    )}
  </>
);

const percent = (share: number | null): string => (share === null ? "–" : `${Math.round(share * 1000) / 10} %`);
const before = (share: number | null): string => (share === null ? "" : ` · ${percent(share)} before`);

/** What comes back from phones and what goes out to servers. */
const Answers = ({ stats: { otp, callbacks } }: { stats: Stats }) => (
  <SimpleGrid cols={{ base: 1, sm: 2 }}>
    <FigureCard
      label="One-time passwords that came back"
      value={percent(otp.conversion)}
      note={
        <>
          {otp.verified.toLocaleString()} of {otp.sent.toLocaleString()}, {otp.refused.toLocaleString()} wrong tries
          {before(otp.conversionBefore)} ·{" "}
          <Anchor component={Link} href="/verify" size="xs">
            Log
          </Anchor>
        </>
      }
    />
    <FigureCard
      label="Callbacks that arrived"
      value={percent(callbacks.success)}
      note={
        <>
          {callbacks.delivered.toLocaleString()} arrived, {callbacks.failedAttempts.toLocaleString()} attempts failed,{" "}
          {callbacks.givenUp.toLocaleString()} given up{before(callbacks.successBefore)} ·{" "}
          <Anchor component={Link} href="/operations/callbacks" size="xs">
            Deliveries
          </Anchor>
        </>
      }
    />
  </SimpleGrid>
);
