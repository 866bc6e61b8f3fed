import { ColorSwatch, Group, Text } from "@mantine/core";
import { formatNumber } from "../../i18n/format.ts";
import { t } from "../../i18n/t.ts";
import { ChartTable } from "./chart-table.tsx";
import { colorOf, Plot, type Place, type Row, type Series } from "./plot.tsx";

interface Props {
  /** Description of the chart for screen readers. */
  label: string;
  data: readonly ({ at: number } & Row)[];
  series: readonly Series[];
}

const HEIGHT = 240;

const line = (points: readonly { x: number; y: number }[]): string => points.map(({ x, y }) => `${x},${y}`).join("L");

/** Half the width of the bar for a single time, whose area would be invisible. */
const SINGLE_PX = 6;

function area(given: readonly Place[], color: string) {
  const [only] = given;
  const places =
    only && given.length === 1 ? [-SINGLE_PX, SINGLE_PX].map((by) => ({ ...only, x: only.x + by })) : given;
  const top = line(places.map(({ x, top: y }) => ({ x, y })));
  const bottom = line(places.map(({ x, bottom: y }) => ({ x, y })).toReversed());
  return (
    <>
      <path d={`M${top}L${bottom}Z`} fill={color} fillOpacity={0.35} />
      <path d={`M${top}`} fill="none" stroke={color} />
    </>
  );
}

/** A stacked area chart over time. */
export function Areas({ label, data, series }: Props) {
  const busy = data.filter((row) => series.some(({ key }) => row[key] !== 0));
  return (
    <>
      <Group gap="lg" mb="xs">
        {series.map((each) => (
          <Group key={each.key} gap={6}>
            <ColorSwatch size={12} color={colorOf(each)} aria-hidden />
            <Text size="sm">
              {each.name}: {formatNumber(data.reduce((sum, row) => sum + Number(row[each.key]), 0))}
            </Text>
          </Group>
        ))}
      </Group>
      <Plot height={HEIGHT} rows={data} series={series} draw={area} />
      <ChartTable label={label} heading={t("When")} rows={busy} series={series} rowKey={({ at, name }) => at ?? name} />
    </>
  );
}
