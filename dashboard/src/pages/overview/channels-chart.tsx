import { t } from "../../i18n/t.ts";
import { CHANNELS } from "../../parts/channel.tsx";
import { Areas } from "../../parts/charts/areas.tsx";
import { channelPoints, type Measure, type Stats } from "./stats.ts";

const SERIES = CHANNELS.map(({ value, label, color }) => ({ key: value, name: label, color }));

/** Messages over time by channel. */
export function ChannelsChart({ stats, measure }: { stats: Stats; measure: Measure }) {
  return (
    <Areas
      label={t("Messages by channel: {measure}", { measure })}
      data={channelPoints(stats, measure)}
      series={SERIES}
    />
  );
}
