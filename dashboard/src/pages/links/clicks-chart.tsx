import { locale } from "../../i18n/language.ts";
import { t } from "../../i18n/t.ts";
import { Bars } from "../../parts/charts/bars.tsx";
import type { ShortLinkDetail } from "./short-link.ts";

const STEP_MS = { hour: 3_600_000, day: 86_400_000 };
const SHORT = {
  hour: new Intl.DateTimeFormat(locale, { weekday: "short", hour: "2-digit" }),
  day: new Intl.DateTimeFormat(locale, { day: "numeric", month: "short", timeZone: "UTC" }),
};

/** Clicks per hour or day, including buckets without clicks. */
export function ClicksChart({ detail: { from, to, bucket, buckets } }: { detail: ShortLinkDetail }) {
  const step = STEP_MS[bucket];
  const known = new Map(buckets.map(({ at, clicks }) => [at, clicks]));
  const first = Math.ceil(from / step) * step;
  const data = Array.from({ length: Math.max(1, Math.ceil((to - first) / step)) }, (_, index) => {
    const at = first + index * step;
    const { person = 0, preview = 0, bot = 0 } = known.get(at) ?? {};
    return { name: SHORT[bucket].format(at), person, programs: preview + bot };
  });
  return (
    <Bars
      label={bucket === "day" ? t("Clicks per day in UTC") : t("Clicks per hour")}
      data={data}
      series={[
        { key: "person", name: t("People"), color: "green" },
        { key: "programs", name: t("Bots"), color: "gray" },
      ]}
    />
  );
}
