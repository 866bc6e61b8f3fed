import { Box } from "@mantine/core";
import { Bar, BarChart, CartesianGrid, Tooltip, XAxis, YAxis } from "recharts";
import { t } from "../../i18n/t.ts";
import { ChartTable } from "./chart-table.tsx";
import { short } from "./short.ts";
import classes from "./charts.module.css";

interface Series {
  key: string;
  name: string;
  /** A colour name of the theme. */
  color: string;
}

interface Props {
  /** Description of the chart for screen readers. */
  label: string;
  data: readonly ({ name: string } & Record<string, string | number>)[];
  series: readonly Series[];
}

const HEIGHT = 220;
const TICK = { fontSize: 12, fill: "var(--mantine-color-dimmed)" };
const HOVER = { fill: "var(--mantine-color-default-hover)" };

/** A bar chart, stacked if there are several series. Import it lazily, because the chart library is large. */
export default function Bars({ label, data, series }: Props) {
  return (
    <>
      <Box className={classes.chart} h={HEIGHT} aria-hidden>
        <BarChart responsive width="100%" height="100%" data={[...data]} accessibilityLayer={false}>
          <CartesianGrid vertical={false} stroke="var(--heliograph-line)" />
          <XAxis dataKey="name" tick={TICK} tickLine={false} axisLine={false} minTickGap={16} />
          <YAxis allowDecimals={false} tick={TICK} tickFormatter={short} tickLine={false} axisLine={false} width={36} />
          <Tooltip cursor={HOVER} wrapperClassName={classes.tooltip ?? ""} isAnimationActive={false} />
          {series.map(({ key, name, color }) => (
            <Bar
              key={key}
              dataKey={key}
              name={name}
              stackId="all"
              fill={`var(--mantine-color-${color}-filled)`}
              isAnimationActive={false}
              maxBarSize={48}
            />
          ))}
        </BarChart>
      </Box>
      <ChartTable label={label} heading={t("Value")} rows={data} series={series} rowKey={({ name }) => name} />
    </>
  );
}
