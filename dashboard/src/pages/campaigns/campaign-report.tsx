import { Button, SimpleGrid, Table, Text } from "@mantine/core";
import { IconDownload } from "@tabler/icons-react";
import { formatNumber } from "../../i18n/format.ts";
import { t } from "../../i18n/t.ts";
import { BarList } from "../../parts/bar-list.tsx";
import { Areas } from "../../parts/charts/areas.tsx";
import { csvLine, isoOf } from "../../parts/csv.ts";
import { FailureReason } from "../../parts/failure-reason.tsx";
import { FigureCard } from "../../parts/figure-card.tsx";
import { saveFile } from "../../parts/save-file.ts";
import { percentText, stepPoints } from "../overview/stats.ts";
import type { CampaignReport } from "./audience-campaign.ts";
import { Section } from "./campaign-results.tsx";

interface Props {
  report: CampaignReport;
}

const SERIES = [
  { key: "delivered", name: t("Delivered"), color: "green" },
  { key: "failed", name: t("Failed"), color: "red" },
];

/** Results of a campaign over time. */
export const OverTime = ({ report }: Props) =>
  report.series.length > 0 && (
    <Section title={t("Over time")}>
      <Areas label={t("Messages over time")} data={stepPoints(report.step, report.series)} series={SERIES} />
    </Section>
  );

/** Results of a campaign by carrier. */
export const Carriers = ({ report: { carriers } }: Props) =>
  carriers.length > 0 && (
    <Section title={t("Messages by carrier")}>
      <Table.ScrollContainer minWidth={420} scrollAreaProps={{ viewportProps: { tabIndex: 0 } }}>
        <Table verticalSpacing="sm" aria-label={t("Messages by carrier")}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{t("Carrier")}</Table.Th>
              <Table.Th ta="right">{t("Sent")}</Table.Th>
              <Table.Th ta="right">{t("Delivered")}</Table.Th>
              <Table.Th ta="right">{t("Delivery rate")}</Table.Th>
              <Table.Th ta="right">{t("Failed")}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {carriers.map(({ name, sent, delivered, failed, deliveryRate }) => (
              <Table.Tr key={name ?? ""}>
                <Table.Td>{name ?? t("No carrier")}</Table.Td>
                <Table.Td ta="right">{formatNumber(sent)}</Table.Td>
                <Table.Td ta="right">{formatNumber(delivered)}</Table.Td>
                <Table.Td ta="right">{percentText(deliveryRate)}</Table.Td>
                <Table.Td ta="right">{formatNumber(failed)}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </Section>
  );

/** All failure reasons of a campaign with their words. */
export function FailureReasons({ report: { failures } }: Props) {
  const all = failures.reduce((sum, { count }) => sum + count, 0);
  return (
    <Section title={t("Failure reasons")}>
      {all === 0 && (
        <Text size="sm" c="dimmed">
          {t("No failures")}
        </Text>
      )}
      <BarList
        of={all}
        bars={failures.map((failure) => ({
          name: failure.code ?? t("No code"),
          label: <FailureReason {...failure} />,
          count: failure.count,
          color: "red",
        }))}
      />
    </Section>
  );
}

/** Clicks on the short links of a campaign, and the opt-outs that followed it. */
export const Reactions = ({ report: { clicks, optedOut } }: Props) => (
  <SimpleGrid cols={{ base: 2, md: clicks ? 3 : 1 }} mb="lg">
    {clicks && (
      <>
        <FigureCard
          label={t("Recipients who clicked")}
          value={formatNumber(clicks.recipientsClicked)}
          note={t("{percent} of {recipients}", {
            percent: percentText(clicks.recipients === 0 ? null : clicks.recipientsClicked / clicks.recipients),
            recipients: clicks.recipients,
          })}
        />
        <FigureCard
          label={t("Clicks")}
          value={formatNumber(clicks.person)}
          note={t("{value} more by bots", { value: clicks.preview + clicks.bot })}
        />
      </>
    )}
    <FigureCard label={t("Opted out")} value={formatNumber(optedOut)} note={t("by a reply within a week")} />
  </SimpleGrid>
);

/** Saves the report as a CSV file: a line per figure. */
export function ReportExport({ name, report }: Props & { name: string }) {
  return (
    <Button
      variant="default"
      size="compact-sm"
      leftSection={<IconDownload size={14} aria-hidden />}
      onClick={() => saveFile(`report-${name}.csv`, "text/csv;charset=utf-8", reportLines(report))}
    >
      {t("Export report")}
    </Button>
  );
}

function reportLines(report: CampaignReport): string[] {
  const { accepted, skipped, counts, series, carriers, failures, clicks, optedOut, skippedRows } = report;
  const line = (section: string, of: string, figure: string, count: number): string =>
    csvLine([section, of, figure, count]);
  return [
    csvLine(["section", "of", "figure", "count"]),
    line("total", "", "accepted", accepted),
    line("total", "", "skipped", skipped),
    line("total", "", "optedOut", optedOut),
    ...Object.entries(counts).map(([status, count]) => line("total", "", status, count)),
    ...(clicks ? Object.entries(clicks).map(([figure, count]) => line("clicks", "", figure, count)) : []),
    ...series.flatMap(({ at, ...measures }) =>
      Object.entries(measures).map(([figure, count]) => line("time", isoOf(at), figure, count)),
    ),
    ...carriers.flatMap(({ name, sent, delivered, failed, read }) =>
      Object.entries({ sent, delivered, failed, read }).map(([figure, count]) =>
        line("carrier", name ?? "", figure, count),
      ),
    ),
    ...failures.map(({ code, description, count }) => line("failure", code ?? "", description ?? "", count)),
    ...skippedRows.map(({ row, code }) => line("skipped row", String(row), code, 1)),
  ];
}
