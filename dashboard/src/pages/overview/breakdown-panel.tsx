import { Stack, Table, Text } from "@mantine/core";
import { formatNumber } from "../../i18n/format.ts";
import { t } from "../../i18n/t.ts";
import { Areas } from "../../parts/charts/areas.tsx";
import { countryName } from "../../parts/country-name.ts";
import { ErrorState } from "../../parts/error-state.tsx";
import { FailureReason } from "../../parts/failure-reason.tsx";
import { PageLoading } from "../../parts/page-loading.tsx";
import type { TimeRange } from "../../parts/time-range.tsx";
import { groupKey, groupPoints, percentText, useBreakdown, type Dimension, type Group, type Measure } from "./stats.ts";

/** Distinguishable colours, without the red of failures. */
const COLORS = ["sun", "blue", "green", "violet", "yellow", "gray"];

const LABELS: Record<Dimension, string> = {
  carrier: t("Messages by carrier"),
  country: t("Messages by country"),
};

/** Messages by carrier or country: a chart of the largest groups and a table of all. */
export function BreakdownPanel({ range, by, measure }: { range: TimeRange; by: Dimension; measure: Measure }) {
  const { data, error, refetch } = useBreakdown(range, by);
  if (error) return <ErrorState error={error} retry={() => void refetch()} title={t("Statistics cannot be loaded")} />;
  if (!data) return <PageLoading />;
  if (data.groups.length === 0)
    return (
      <Text size="sm" c="dimmed">
        {t("No messages in this period")}
      </Text>
    );
  // The chart has no group for failures without a carrier; the table does.
  const shown = data.groups.slice(0, COLORS.length).filter(({ name }) => by === "country" || name !== null);
  const series = shown.map((group, place) => ({
    key: groupKey(place),
    name: nameOf(by, group),
    color: COLORS[place] ?? "gray",
  }));
  return (
    <Stack gap="lg">
      <Areas label={LABELS[by]} data={groupPoints(data, shown, measure)} series={series} />
      <GroupTable by={by} groups={data.groups} />
    </Stack>
  );
}

function nameOf(by: Dimension, { name }: Group): string {
  if (name === null) return t("No carrier");
  return by === "country" ? countryName(name) : name;
}

const GroupTable = ({ by, groups }: { by: Dimension; groups: readonly Group[] }) => (
  <Table.ScrollContainer minWidth={560} scrollAreaProps={{ viewportProps: { tabIndex: 0 } }}>
    <Table verticalSpacing="sm" aria-label={LABELS[by]}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th>{by === "carrier" ? t("Carrier") : t("Country")}</Table.Th>
          <Table.Th ta="right">{t("Sent")}</Table.Th>
          <Table.Th ta="right">{t("Delivered")}</Table.Th>
          <Table.Th ta="right">{t("Delivery rate")}</Table.Th>
          <Table.Th ta="right">{t("Failed")}</Table.Th>
          <Table.Th>{t("Most frequent failure")}</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {groups.map((group) => (
          <Table.Tr key={group.name ?? ""} data-group={group.name ?? ""}>
            <Table.Td>{nameOf(by, group)}</Table.Td>
            <Table.Td ta="right">{formatNumber(group.sent)}</Table.Td>
            <Table.Td ta="right">{formatNumber(group.delivered)}</Table.Td>
            <Table.Td ta="right">{percentText(group.deliveryRate)}</Table.Td>
            <Table.Td ta="right">{formatNumber(group.failed)}</Table.Td>
            <Table.Td>{group.failures[0] ? <FailureReason {...group.failures[0]} /> : "–"}</Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  </Table.ScrollContainer>
);
