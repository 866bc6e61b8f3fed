import { Anchor, Badge, Button, Paper, SimpleGrid, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { IconShieldCheck } from "@tabler/icons-react";
import { useMemo } from "react";
import { Link } from "wouter";
import { get, usePages, type Page } from "../../api.ts";
import { formatNumber } from "../../i18n/format.ts";
import { t } from "../../i18n/t.ts";
import { curlOf } from "../../parts/curl.ts";
import { DataTable, type Column } from "../../parts/data-table.tsx";
import { EmptyState } from "../../parts/empty-state.tsx";
import { FigureCard } from "../../parts/figure-card.tsx";
import { ChoiceFilter, DayFilter, FilterBar, spanOf, TypedFilter } from "../../parts/filters.tsx";
import { useNames } from "../../parts/record/use-names.ts";
import { StatusBadge, statusWord } from "../../parts/status-badge.tsx";
import { duration, TimeText } from "../../parts/time-text.tsx";
import { useUrlState } from "../../url-state.ts";
import { TimesChart } from "./times-chart.tsx";
import { medianOf, timesToVerify } from "./times.ts";
import type { Conversion, Verification } from "./verification.ts";

const PATH = "/api/verifications";
const FILTERS = ["to", "state", "configId", "source", "from", "until"] as const;
const STATES = ["pending", "verified", "expired", "exhausted", "superseded", "cancelled"].map((value) => ({
  value,
  label: statusWord(value),
}));
const LOOKED_AT = 200;

const COLUMNS: readonly Column<Verification>[] = [
  { title: t("Time"), render: ({ createdAt }) => <TimeText at={createdAt} size="sm" /> },
  { title: t("State"), render: ({ state }) => <StatusBadge status={state} /> },
  {
    title: t("To"),
    render: ({ to, messageId, test }) => (
      <>
        <Anchor component={Link} href={`/messages/${messageId}`} size="sm">
          {to}
        </Anchor>{" "}
        {test && <Badge color="gray">{t("test")}</Badge>}
      </>
    ),
  },
  { title: t("Country"), wide: true, render: ({ country }) => country },
  { title: t("Configuration"), wide: true, render: ({ configId }) => configId },
  { title: t("Source"), wide: true, render: ({ source }) => source ?? "–" },
  {
    title: t("Attempts"),
    wide: true,
    align: "right",
    render: ({ attempts, attemptsMax }) => t("{attempts} of {attemptsMax}", { attempts, attemptsMax }),
  },
  {
    title: t("Duration"),
    wide: true,
    align: "right",
    render: ({ state, createdAt, doneAt }) =>
      state === "verified" && doneAt !== null ? duration(doneAt - createdAt) : "–",
  },
];

/** All verifications, with conversion rate and time to verify. */
export function VerifyLog() {
  const [filters, change] = useUrlState(FILTERS);
  const { to, state, configId, source, from, until } = filters;
  const query = useMemo(
    () => ({ to: to.replace("+", ""), state, configId, source: source.toLowerCase(), ...spanOf(from, until) }),
    [to, state, configId, source, from, until],
  );
  const { table } = usePages<Verification>(PATH, query);
  const configs = useNames("/api/verify-configs");
  const filtered = FILTERS.some((name) => filters[name] !== "");
  return (
    <>
      <Figures />
      <FilterBar values={filters} change={change}>
        <TypedFilter
          label={t("Number")}
          value={to}
          onChange={(text) => change({ to: text })}
          placeholder="15550100100"
          leading
        />
        <ChoiceFilter label={t("State")} value={state} onChange={(word) => change({ state: word })} data={STATES} />
        <ChoiceFilter
          label={t("Configuration")}
          value={configId}
          onChange={(name) => change({ configId: name })}
          data={configs}
        />
        <TypedFilter
          label={t("Source")}
          value={source}
          onChange={(text) => change({ source: text })}
          placeholder="supabase"
        />
        <DayFilter label={t("From")} value={from} onChange={(day) => change({ from: day })} />
        <DayFilter label={t("To (inclusive)")} value={until} onChange={(day) => change({ until: day })} />
      </FilterBar>
      <DataTable
        label={t("Verifications")}
        columns={COLUMNS}
        rowKey={({ verifyId }) => verifyId}
        {...table}
        empty={
          filtered ? (
            <EmptyState icon={IconShieldCheck} sentence={t("No results")} />
          ) : (
            <EmptyState
              icon={IconShieldCheck}
              sentence={t("No codes sent yet. Send one, and it appears here.")}
              action={
                <Button component={Link} href="/verify?tab=try">
                  {t("Send a code")}
                </Button>
              }
              curl={curlOf({ path: "/v1/verify", body: { configId: "default", to: "15550100100" } })}
            />
          )
        }
      />
    </>
  );
}

/** Conversion rate of today and yesterday, and time to verify of the latest codes. */
function Figures() {
  const { data } = useQuery({
    queryKey: [PATH, "latest"],
    queryFn: ({ signal }) => get<Page<Verification> & { conversion: Conversion }>(PATH, { limit: LOOKED_AT }, signal),
  });
  if (!data || data.data.length === 0) return null;
  const { sends, verified, percent } = data.conversion;
  const times = timesToVerify(data.data);
  return (
    <>
      <SimpleGrid cols={{ base: 2, md: 4 }} mb="lg">
        <FigureCard label={t("Codes sent")} value={formatNumber(sends)} note={t("today and yesterday (UTC)")} />
        <FigureCard label={t("Verified")} value={formatNumber(verified)} note={t("of these")} />
        <FigureCard label={t("Conversion")} value={percent === null ? "–" : `${percent} %`} />
        <FigureCard
          label={t("Time to verify")}
          value={times.length === 0 ? "–" : duration(medianOf(times))}
          note={t("median of the latest {times}", { times: times.length })}
        />
      </SimpleGrid>
      {times.length > 0 && (
        <Paper component="section" aria-label={t("Time to verify")} mb="lg" p="md">
          <Title order={2} size="h5">
            {t("Time to verify")}
          </Title>
          <Text size="sm" c="dimmed" mb="sm">
            {t("From sending the code to verifying it, for the latest {times}.", { times: times.length })}
          </Text>
          <TimesChart times={times} />
        </Paper>
      )}
    </>
  );
}
