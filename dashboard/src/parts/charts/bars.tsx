import { t } from "../../i18n/t.ts";
import { ChartTable } from "./chart-table.tsx";
import { Plot, type Place, type Row, type Series } from "./plot.tsx";

interface Props {
  /** Description of the chart for screen readers. */
  label: string;
  data: readonly Row[];
  series: readonly Series[];
}

const HEIGHT = 220;
const BAR_MAX_PX = 48;
/** The rest of a place is the gap between two bars. */
const BAR_SHARE = 0.8;

function bars(places: readonly Place[], color: string, band: number) {
  const width = Math.min(BAR_MAX_PX, band * BAR_SHARE);
  const filled = places.filter(({ top, bottom }) => bottom > top);
  return filled.map(({ x, top, bottom }) => (
    <rect key={x} x={x - width / 2} y={top} width={width} height={bottom - top} fill={color} />
  ));
}

/** A bar chart, stacked if there are several series. */
export const Bars = ({ label, data, series }: Props) => (
  <>
    <Plot height={HEIGHT} rows={data} series={series} draw={bars} />
    <ChartTable label={label} heading={t("Value")} rows={data} series={series} rowKey={({ name }) => name} />
  </>
);
