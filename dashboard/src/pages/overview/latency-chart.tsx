import { t } from "../../i18n/t.ts";
import { Bars } from "../../parts/charts/bars.tsx";
import { duration } from "../../parts/time-text.tsx";
import type { Latency } from "./stats.ts";

/** Histogram of latencies, from the fastest to the slowest bucket with messages. */
export function LatencyChart({ label, latency: { buckets } }: { label: string; latency: Latency }) {
  const first = buckets.findIndex(({ count }) => count > 0);
  const last = buckets.findLastIndex(({ count }) => count > 0);
  const shown = first === -1 ? [] : buckets.slice(Math.max(0, first - 1), last + 2);
  return (
    <Bars
      label={label}
      data={shown.map(({ upToMs, count }) => ({
        name: upToMs === null ? t("longer") : `≤ ${duration(upToMs)}`,
        count,
      }))}
      series={[{ key: "count", name: t("Messages"), color: "blue" }]}
    />
  );
}
