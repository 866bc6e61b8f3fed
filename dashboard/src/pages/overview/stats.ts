import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { get } from "../../api.ts";
import { locale } from "../../i18n/language.ts";
import { t } from "../../i18n/t.ts";
import type { Channel } from "../../parts/channel.tsx";

const REFRESH_MS = 10_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** The spans that can be looked at. */
export const SPANS = [
  { value: "day", label: t("24 hours"), ms: DAY_MS },
  { value: "week", label: t("7 days"), ms: 7 * DAY_MS },
  { value: "month", label: t("30 days"), ms: 30 * DAY_MS },
  { value: "quarter", label: t("90 days"), ms: 90 * DAY_MS },
] as const;

const STEP_MS = { "10m": HOUR_MS / 6, hour: HOUR_MS, day: DAY_MS };

export interface Compared {
  count: number;
  before: number;
  change: number | null;
}

export interface Latency {
  p50: number | null;
  p95: number | null;
  p99: number | null;
  buckets: { upToMs: number | null; count: number }[];
}

export type Measure = "accepted" | "sent" | "delivered" | "failed" | "read";

interface Point extends Record<Measure, number> {
  at: number;
  channel: Channel;
}

/** What `GET /api/stats` answers. */
export interface Stats {
  from: number;
  to: number;
  step: keyof typeof STEP_MS;
  /** Whether what was before is still kept. */
  comparable: boolean;
  totals: Record<Measure, Compared>;
  series: Point[];
  funnel: ({ channel: Channel | null } & Record<"accepted" | "sent" | "delivered" | "read", number>)[];
  failures: { code: string | null; description: string | null; count: number }[];
  latency: { sent: Latency; delivered: Latency };
  otp: { sent: number; verified: number; refused: number; conversion: number | null; conversionBefore: number | null };
  callbacks: {
    delivered: number;
    failedAttempts: number;
    givenUp: number;
    dropped: number;
    success: number | null;
    successBefore: number | null;
  };
}

/** How it goes, asked again every ten seconds. */
export function useStats(spanMs: number) {
  return useQuery({
    queryKey: ["/api/stats", spanMs],
    queryFn: ({ signal }) => get<Stats>("/api/stats", { from: Date.now() - spanMs }, signal),
    placeholderData: keepPreviousData,
    refetchInterval: REFRESH_MS,
  });
}

const FORMATS = {
  "10m": new Intl.DateTimeFormat(locale, { weekday: "short", hour: "2-digit", minute: "2-digit" }),
  hour: new Intl.DateTimeFormat(locale, { day: "numeric", month: "short", hour: "2-digit" }),
  day: new Intl.DateTimeFormat(locale, { day: "numeric", month: "short", timeZone: "UTC" }),
};

/** Every stretch of the span with what each channel has in it, also those in which nothing happened. */
export function pointsOf({ from, to, step, series }: Stats, measure: Measure) {
  const counts = new Map(series.map((point) => [`${point.at} ${point.channel}`, point[measure]]));
  return Array.from({ length: Math.round((to - from) / STEP_MS[step]) }, (_, index) => {
    const at = from + index * STEP_MS[step];
    const of = (channel: Channel): number => counts.get(`${at} ${channel}`) ?? 0;
    return {
      at,
      name: FORMATS[step].format(at),
      sms: of("sms"),
      rcs: of("rcs"),
      chatapp: of("chatapp"),
      email: of("email"),
    };
  });
}

/** Whether nothing at all has happened, in the span or before it. */
export const isQuiet = ({ totals }: Stats): boolean =>
  Object.values(totals).every(({ count, before }) => count === 0 && before === 0);
