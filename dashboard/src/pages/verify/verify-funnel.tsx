import { Anchor, Group, Paper, Progress, Stack, Table, Text, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import { get } from "../../api.ts";
import { formatNumber } from "../../i18n/format.ts";
import { t } from "../../i18n/t.ts";
import { channelName } from "../../parts/channel.tsx";
import { countryName } from "../../parts/country-name.ts";
import { ErrorState } from "../../parts/error-state.tsx";
import { PageLoading } from "../../parts/page-loading.tsx";
import { TimeRangeInput, useTimeRange } from "../../parts/time-range.tsx";

const PATH = "/api/verify-funnel";

interface Counts {
  sent: number;
  delivered: number;
  tried: number;
  verified: number;
}

interface Step extends Counts {
  country: string;
  channel: string | null;
}

interface Funnel {
  complete: boolean;
  totals: Counts;
  data: readonly Step[];
}

const STAGES = [
  { value: "sent", label: t("Sent") },
  { value: "delivered", label: t("Delivered") },
  { value: "tried", label: t("Code entered") },
  { value: "verified", label: t("Verified") },
] as const;

const percentOf = (part: number, all: number): string => (all === 0 ? "–" : `${Math.round((part / all) * 100)} %`);

/** OTP funnel: sent, delivered, entered, verified; by country and channel. */
export function VerifyFunnel() {
  const range = useTimeRange("week");
  const { data, error, refetch } = useQuery({
    queryKey: [PATH, range.key],
    queryFn: ({ signal }) => get<Funnel>(PATH, { ...range.query() }, signal),
    enabled: range.query() !== null,
  });
  return (
    <Stack gap="lg">
      <Group justify="space-between">
        <Title order={2} size="h4">
          {t("Delivery funnel")}
        </Title>
        <TimeRangeInput range={range} />
      </Group>
      {error && <ErrorState error={error} retry={() => void refetch()} title={t("The funnel cannot be read")} />}
      {!data && !error && <PageLoading />}
      {data && <Totals funnel={data} />}
      {data && data.data.length > 0 && <ByCountry steps={data.data} />}
    </Stack>
  );
}

const Totals = ({ funnel: { totals, complete } }: { funnel: Funnel }) => (
  <Paper>
    <Stack gap="sm">
      {STAGES.map(({ value, label }) => (
        <div key={value} data-stage={value}>
          <Group justify="space-between" mb={4}>
            <Text size="sm">{label}</Text>
            <Text size="sm" fw={600}>
              {formatNumber(totals[value])}{" "}
              <Text span size="sm" c="dimmed" fw={400}>
                {percentOf(totals[value], totals.sent)}
              </Text>
            </Text>
          </Group>
          <Progress
            value={totals.sent === 0 ? 0 : (totals[value] / totals.sent) * 100}
            color={value === "verified" ? "green" : "sun"}
            size="lg"
            aria-label={label}
          />
        </div>
      ))}
      {!complete && (
        <Text size="sm" c="dimmed">
          {t("The time range has more codes than are counted here: these are the newest 20,000.")}
        </Text>
      )}
    </Stack>
  </Paper>
);

const ByCountry = ({ steps }: { steps: readonly Step[] }) => (
  <Paper p={0}>
    <Table.ScrollContainer minWidth={560} scrollAreaProps={{ viewportProps: { tabIndex: 0 } }}>
      <Table verticalSpacing="sm" horizontalSpacing="md" aria-label={t("Funnel by country and channel")}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t("Country")}</Table.Th>
            <Table.Th>{t("First channel")}</Table.Th>
            {STAGES.map(({ value, label }) => (
              <Table.Th key={value} ta="right">
                {label}
              </Table.Th>
            ))}
            <Table.Th ta="right">{t("Conversion")}</Table.Th>
            <Table.Th>{t("Block")}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {steps.map((step) => (
            <Table.Tr key={`${step.country} ${step.channel ?? ""}`} data-country={step.country}>
              <Table.Td>{countryName(step.country)}</Table.Td>
              <Table.Td>{step.channel === null ? "–" : channelName(step.channel)}</Table.Td>
              {STAGES.map(({ value }) => (
                <Table.Td key={value} ta="right">
                  {formatNumber(step[value])}
                </Table.Td>
              ))}
              <Table.Td ta="right">{percentOf(step.verified, step.sent)}</Table.Td>
              <Table.Td>
                {step.country === "unknown" ? (
                  "–"
                ) : (
                  <Anchor component={Link} href={`/verify?tab=blocks&open=new&name=${step.country}`} size="sm">
                    {t("Block {country}…", { country: step.country })}
                  </Anchor>
                )}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  </Paper>
);
