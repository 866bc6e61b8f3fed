import { Box, ColorSwatch, Group, Text } from "@mantine/core";
import { Area, AreaChart, CartesianGrid, Tooltip, XAxis, YAxis } from "recharts";
import { formatNumber } from "../../i18n/format.ts";
import { t } from "../../i18n/t.ts";
import { ChartTable } from "./chart-table.tsx";
import { short } from "./short.ts";
import classes from "./charts.module.css";

interface Props {
  /** Description of the chart for screen readers. */
  label: string;
  data: readonly ({ at: number; name: string } & Record<string, string | number>)[];
  series: readonly { key: string; name: string; color: string }[];
}

const HEIGHT = 240;
const TICK = { fontSize: 12, fill: "var(--mantine-color-dimmed)" };
const DOT = { r: 3 };

/** A stacked area chart over time. Import it lazily, because the chart library is large. */
export default function Areas({ label, data, series }: Props) {
  const busy = data.filter((row) => series.some(({ key }) => row[key] !== 0));
  return (
    <>
      <Group gap="lg" mb="xs">
        {series.map(({ key, name, color }) => (
          <Group key={key} gap={6}>
            <ColorSwatch size={12} color={`var(--mantine-color-${color}-filled)`} aria-hidden />
            <Text size="sm">
              {name}: {formatNumber(data.reduce((sum, row) => sum + Number(row[key]), 0))}
            </Text>
          </Group>
        ))}
      </Group>
      <Box className={classes.chart} h={HEIGHT} aria-hidden>
        <AreaChart responsive width="100%" height="100%" data={[...data]} accessibilityLayer={false}>
          <CartesianGrid vertical={false} stroke="var(--heliograph-line)" />
          <XAxis dataKey="name" tick={TICK} tickLine={false} axisLine={false} minTickGap={40} />
          <YAxis allowDecimals={false} tick={TICK} tickFormatter={short} tickLine={false} axisLine={false} width={44} />
          <Tooltip wrapperClassName={classes.tooltip ?? ""} isAnimationActive={false} />
          {series.map(({ key, name, color }) => (
            <Area
              key={key}
              dataKey={key}
              name={name}
              stackId="all"
              type="linear"
              stroke={`var(--mantine-color-${color}-filled)`}
              fill={`var(--mantine-color-${color}-filled)`}
              fillOpacity={0.35}
              activeDot={DOT}
              isAnimationActive={false}
            />
          ))}
        </AreaChart>
      </Box>
      <ChartTable label={label} heading={t("When")} rows={busy} series={series} rowKey={({ at, name }) => at ?? name} />
    </>
  );
}
