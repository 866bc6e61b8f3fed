import { SegmentedControl, Stack, Text } from "@mantine/core";
import { lazy, Suspense } from "react";
import { t } from "../i18n/t.ts";
import { useUrlState } from "../url-state.ts";
import { localTime } from "./time-text.tsx";

/** Custom times are rare, so their inputs load on demand. */
const ChosenTimes = lazy(() => import("./chosen-times.tsx"));

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

const SPANS = [
  { value: "hour", label: t("1 hour"), lead: t("Last hour"), ms: HOUR_MS },
  { value: "day", label: t("24 hours"), lead: t("Last 24 hours"), ms: DAY_MS },
  { value: "week", label: t("7 days"), lead: t("Last 7 days"), ms: 7 * DAY_MS },
  { value: "month", label: t("30 days"), lead: t("Last 30 days"), ms: 30 * DAY_MS },
] as const;
type SpanName = (typeof SPANS)[number]["value"];

const CHOSEN = "chosen";

export interface TimeRange {
  /** Identifies the range in query keys. */
  key: string;
  /** Name of the range, such as "Last 7 days". */
  name: string;
  /** Query parameters of the API; a span ends now. Null while the custom times are invalid. */
  query: () => { from: number; to?: number } | null;
  span: string;
  from: string;
  to: string;
  change: (changes: { span?: string | null; from?: string | null; to?: string | null }) => void;
  usual: SpanName;
}

/** The time range in the URL: a span up to now, or two custom times. */
export function useTimeRange(usual: SpanName): TimeRange {
  const [{ span, from, to }, change] = useUrlState(["span", "from", "to"]);
  const state = { from, to, change, usual };
  if (span === CHOSEN) {
    const [fromMs, toMs] = [new Date(from).getTime(), new Date(to).getTime()];
    const isRange = fromMs < toMs;
    return {
      ...state,
      span,
      key: `${from} ${to}`,
      name: isRange ? `${localTime(fromMs)} – ${localTime(toMs)}` : t("Chosen times"),
      query: () => (isRange ? { from: fromMs, to: toMs } : null),
    };
  }
  const { value, lead, ms } = SPANS.find((each) => each.value === span) ?? SPANS.find((each) => each.value === usual) ?? SPANS[1]; // prettier-ignore
  return { ...state, span: value, key: value, name: lead, query: () => ({ from: Date.now() - ms }) };
}

/** A timestamp in the format of `datetime-local`. */
const fieldValue = (at: number): string =>
  new Date(at - new Date(at).getTimezoneOffset() * MINUTE_MS).toISOString().slice(0, 16);

/** Selects a time range: a span up to now, or two custom times. */
export function TimeRangeInput({ range }: { range: TimeRange }) {
  const { span, from, to, usual, change, query } = range;
  const choose = (value: string): void => {
    if (value !== CHOSEN) return change({ span: value === usual ? null : value, from: null, to: null });
    const now = Date.now();
    change({ span: value, from: fieldValue(now - DAY_MS), to: fieldValue(now) });
  };
  return (
    <Stack gap="xs" align="flex-end">
      <SegmentedControl
        size="xs"
        aria-label={t("Time range")}
        data={[...SPANS.map(({ value, label }) => ({ value, label })), { value: CHOSEN, label: t("From – to") }]}
        value={span}
        onChange={choose}
      />
      {span === CHOSEN && (
        <Suspense fallback={null}>
          <ChosenTimes from={from} to={to} change={change} />
        </Suspense>
      )}
      {query() === null && (
        <Text size="sm" c="red" role="alert">
          {t("From must be before To.")}
        </Text>
      )}
    </Stack>
  );
}
