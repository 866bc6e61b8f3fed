import { nullable, Type, type Schema } from "../../lib/schema.ts";
import {
  FAILED_STATES,
  GRAINS,
  LATENCY_BOUNDS_MS,
  MINUTES_KEPT_MS,
  OTHER_CODES,
  percentile,
  type CodeText,
  type Counted,
  type Grain,
} from "../../model/stats.ts";
import { CHANNELS, describeFailure } from "../../model/message.ts";
import { refuseFaults, type Fault } from "../../model/problem.ts";
import type { StatsPoint, StatsSpan, StatsTotal } from "../../store/stats.ts";
import { readTime } from "../pagination.ts";
import { choiceParameter, timeParameter } from "../parameters.ts";
import type { AuthenticCall, KeyedRoute, Services } from "../route.ts";

const HOUR_MS = GRAINS.hour;
const DAY_MS = GRAINS.day;
/** Steps per response; this bounds its cost independently of the number of messages. */
export const STRETCHES_MAX = 400;
const CODES_SHOWN = 10;

const FAILED: readonly Counted[] = FAILED_STATES;
export const MEASURES = { accepted: ["accepted"], sent: ["submitted"], delivered: ["delivered"], failed: FAILED, read: ["read"] } as const satisfies Record<string, readonly Counted[]>; // prettier-ignore
export type Measure = keyof typeof MEASURES;
export const MEASURE_NAMES = Object.keys(MEASURES) as readonly Measure[];
export const ALL_MEASURES = Object.values(MEASURES).flat();

async function getStats({ store, clock }: Services, { query, caller }: AuthenticCall): Promise<object> {
  const now = clock.now();
  const span = readSpan(now, query);
  const before = { ...span, from: span.from - (span.to - span.from), to: span.from };
  const { id, settings } = caller.account;
  // Counts older than retention are incomplete, so no change is shown.
  const keptMs = span.grain === "minute" ? MINUTES_KEPT_MS : settings.keepMessagesDays * DAY_MS;
  const isKept = before.from >= now - keptMs;
  const [totals, earlier, points, codeTexts] = await Promise.all([
    store.sumStats(id, span),
    store.sumStats(id, before),
    store.listStats(id, span, ALL_MEASURES),
    store.listCodeTexts(id),
  ]);
  const total = sumsOf(totals);
  const was = sumsOf(earlier);
  return {
    from: span.from,
    to: span.to,
    step: span.grain,
    comparable: isKept,
    totals: Object.fromEntries(MEASURE_NAMES.map((name) => [name, compared(total(name), was(name), isKept)])),
    series: seriesOf(points),
    funnel: [...CHANNELS, null].map((channel) => ({
      channel,
      accepted: total("accepted", channel),
      sent: total("sent", channel),
      delivered: total("delivered", channel),
      read: total("read", channel),
    })),
    failures: failuresOf(totals, describeCodes(codeTexts)).slice(0, CODES_SHOWN),
    latency: { sent: latencyOf(totals, "until submitted"), delivered: latencyOf(totals, "until delivered") },
    otp: otpOf(totals, earlier),
    callbacks: callbacksOf(totals, earlier),
  };
}

/** Sums the counts of some events. */
export const sumOf = (counts: readonly { what: Counted; count: number }[], words: readonly Counted[]): number =>
  counts.reduce((total, { what, count }) => (words.includes(what) ? total + count : total), 0);

/** Chooses the step by the length of the range unless given, and extends the range to whole steps. */
export function readSpan(now: number, query: AuthenticCall["query"]): StatsSpan {
  const faults: Fault[] = [];
  const to = readTime(query, "to", faults) ?? now + 1;
  const from = readTime(query, "from", faults) ?? to - DAY_MS;
  const { step } = query;
  if (step !== undefined && !isGrain(step))
    faults.push({ parameter: "step", message: `step must be one of ${Object.keys(GRAINS).join(", ")}.` });
  if (faults.length === 0 && from >= to) faults.push({ parameter: "from", message: "from must be before to." });
  const grain = step !== undefined && isGrain(step) ? step : grainFor(now, from, to);
  const stretchMs = GRAINS[grain];
  const span = { grain, from: from - (from % stretchMs), to: Math.ceil(to / stretchMs) * stretchMs };
  if (faults.length === 0 && (span.to - span.from) / stretchMs > STRETCHES_MAX)
    faults.push({ parameter: "from", message: `from must be at most ${STRETCHES_MAX} steps before to.` });
  if (faults.length === 0 && grain === "minute" && from < now - MINUTES_KEPT_MS)
    faults.push({ parameter: "step", message: "step minute goes back one day only: use 10m, or a later from." });
  refuseFaults(faults);
  return span;
}

const isGrain = (word: string): word is Grain => Object.hasOwn(GRAINS, word);

/** The step of a plot by its length. */
export function grainFor(now: number, from: number, to: number): Grain {
  const spanMs = to - from;
  if (spanMs <= 2 * HOUR_MS && from >= now - MINUTES_KEPT_MS) return "minute";
  if (spanMs <= 2 * DAY_MS) return "10m";
  return spanMs <= 14 * DAY_MS ? "hour" : "day";
}

const countOf = (totals: readonly StatsTotal[], is: (figure: StatsTotal) => boolean): number =>
  totals.reduce((sum, figure) => (is(figure) ? sum + figure.count : sum), 0);

const sumsOf =
  (totals: readonly StatsTotal[]) =>
  (measure: Measure, channel: string | null = null): number => {
    const words: readonly Counted[] = MEASURES[measure];
    return countOf(totals, (figure) => words.includes(figure.what) && (channel === null || figure.channel === channel));
  };

/** Count with the relative change, which is null if the previous count is zero or incomplete. */
const compared = (count: number, before: number, isKept: boolean): object => ({
  count,
  before,
  change: before === 0 || !isKept ? null : rounded((count - before) / before),
});

/** At most 1: a delivery counts when it is reported, also for a message that was sent before the range of time. */
export const shareOf = (part: number, whole: number): number | null =>
  whole === 0 ? null : Math.min(1, rounded(part / whole));

const rounded = (share: number): number => Math.round(share * 10_000) / 10_000;

function seriesOf(points: readonly StatsPoint[]): object[] {
  const rows = Map.groupBy(points, ({ at, channel }) => `${at} ${channel}`);
  return [...rows.values()].flatMap((row) => {
    const [first] = row;
    if (!first) return [];
    const counts = MEASURE_NAMES.map((name) => [name, sumOf(row, MEASURES[name])]);
    return [{ at: first.at, channel: first.channel, ...Object.fromEntries(counts) }];
  });
}

export interface Failure {
  code: string | null;
  description: string | null;
  carrierCode: boolean;
  count: number;
}

/** Failure reasons, most frequent first. */
export function failuresOf(
  totals: readonly { what: Counted; code: string; count: number }[],
  describe: (code: string) => string | null,
): Failure[] {
  const codes = new Map<string, number>();
  for (const { what, code, count } of totals)
    if (FAILED.includes(what)) codes.set(code, (codes.get(code) ?? 0) + count);
  return [...codes]
    .toSorted(([, a], [, b]) => b - a)
    .map(([code, count]) => ({
      code: code === "" ? null : code,
      description: describe(code),
      carrierCode: code !== "" && code !== OTHER_CODES && describeFailure(code) === null,
      count,
    }));
}

export type CarrierText = Omit<CodeText, "accountId">;

/** Describes codes of this service, and those of carriers by what a carrier said. */
export function describeCodes(codeTexts: readonly CarrierText[]): (code: string) => string | null {
  const texts = new Map(codeTexts.map(({ code, text }) => [code, text]));
  return (code) => describeFailure(code) ?? texts.get(code) ?? null;
}

function latencyOf(totals: readonly StatsTotal[], what: Counted): object {
  const counts = [...LATENCY_BOUNDS_MS, null].map((_, place) =>
    countOf(totals, (figure) => figure.what === what && figure.code === String(place)),
  );
  return {
    p50: percentile(counts, 0.5),
    p95: percentile(counts, 0.95),
    p99: percentile(counts, 0.99),
    buckets: counts.map((count, place) => ({ upToMs: LATENCY_BOUNDS_MS[place] ?? null, count })),
  };
}

function otpOf(totals: readonly StatsTotal[], earlier: readonly StatsTotal[]): object {
  const count = (figures: readonly StatsTotal[], what: Counted): number =>
    countOf(figures, (figure) => figure.what === what);
  const sent = count(totals, "otp sent");
  const verified = count(totals, "otp verified");
  return {
    sent,
    verified,
    refused: count(totals, "otp refused"),
    conversion: shareOf(verified, sent),
    conversionBefore: shareOf(count(earlier, "otp verified"), count(earlier, "otp sent")),
  };
}

function callbacksOf(totals: readonly StatsTotal[], earlier: readonly StatsTotal[]): object {
  const attempts = (figures: readonly StatsTotal[]) => {
    const count = (what: Counted): number => countOf(figures, (figure) => figure.what === what);
    const delivered = count("callback delivered");
    const failed = count("callback waiting") + count("callback exhausted");
    const given = count("callback exhausted");
    return {
      delivered,
      failed,
      given,
      dropped: count("callback dropped"),
      success: shareOf(delivered, delivered + failed),
    };
  };
  const { delivered, failed, given, dropped, success } = attempts(totals);
  return {
    delivered,
    failedAttempts: failed,
    givenUp: given,
    dropped,
    success,
    successBefore: attempts(earlier).success,
  };
}

export const whole = (description: string) => Type.Integer({ description });
export const share = (description: string) =>
  nullable(Type.Number(), `${description} From 0 to 1; null if there are none.`);

const Compared = Type.Object(
  {
    count: whole("Count in the time range."),
    before: whole("Count in the previous range of the same length."),
    change: nullable(Type.Number(), "Relative change: 0.25 means 25 % more. Null if there is nothing to compare with."),
  },
  { title: "ComparedCount", description: "Count with comparison to the previous range." },
);

const Latency = Type.Object(
  {
    p50: nullable(Type.Integer(), "Median in milliseconds; null if there are none."),
    p95: nullable(Type.Integer(), "95th percentile in milliseconds."),
    p99: nullable(Type.Integer(), "99th percentile in milliseconds."),
    buckets: Type.Array(
      Type.Object({
        upToMs: nullable(Type.Integer(), "Upper bound of the bucket; null for the last, which is unbounded."),
        count: whole("Messages in this bucket."),
      }),
      { description: "Histogram, fastest first." },
    ),
  },
  { title: "Latency", description: "Time since the message was accepted." },
);

export const measures: Record<Measure, string> = {
  accepted: "Accepted messages, whatever their outcome.",
  sent: "Messages taken by a carrier.",
  delivered: "Delivered messages.",
  failed: "Messages that ended undelivered, including those refused at once.",
  read: "Messages read, on channels with read reports.",
};
export const measureFields = (field: (description: string) => Schema) =>
  Object.fromEntries(MEASURE_NAMES.map((name) => [name, field(measures[name])]));

const funnelFields = {
  accepted: whole(measures.accepted),
  sent: whole(measures.sent),
  delivered: whole(measures.delivered),
  read: whole(measures.read),
};

export const FailureReason = Type.Object(
  {
    code: nullable(
      Type.String(),
      "Error code of this service or of a carrier; `other` beyond 100 different codes a day; null if none was given.",
    ),
    description: nullable(
      Type.String(),
      "Meaning of the code. For a carrier's code: the carrier's latest text, with long numbers left out; null if it gave none.",
    ),
    carrierCode: Type.Boolean({ description: "True for a carrier's code, false for one of this service." }),
    count: whole("Messages that failed with this code."),
  },
  { title: "FailureReason" },
);

export const StepName = Type.Union(
  Object.keys(GRAINS).map((name) => Type.Literal(name)),
  { description: "Step of the series." },
);

const Stats = Type.Object(
  {
    from: whole("Start of the time range, in epoch milliseconds."),
    to: whole("End of the time range, exclusive."),
    step: StepName,
    comparable: Type.Boolean({
      description: "True if the previous range is still fully retained. If false, no change is calculated.",
    }),
    totals: Type.Object(
      measureFields(() => Compared),
      { description: "Totals of the time range." },
    ),
    series: Type.Array(
      Type.Object({
        at: whole("Start of the step (UTC), in epoch milliseconds."),
        channel: Type.String({ description: "sms, rcs, chatapp or email." }),
        ...measureFields(whole),
      }),
      { description: "Counts by step and channel, oldest first. Empty steps are omitted." },
    ),
    funnel: Type.Array(
      Type.Object({
        channel: nullable(Type.String(), "sms, rcs, chatapp or email; null for the total."),
        ...funnelFields,
      }),
      { description: "Delivery funnel." },
    ),
    failures: Type.Array(FailureReason, {
      description: `The ${CODES_SHOWN} most frequent failure reasons.`,
    }),
    latency: Type.Object(
      { sent: Latency, delivered: Latency },
      { description: "Time until submitted to a carrier, and until delivered." },
    ),
    otp: Type.Object(
      {
        sent: whole("One-time passwords sent."),
        verified: whole("One-time passwords verified."),
        refused: whole("Attempts with a wrong or expired code."),
        conversion: share("Share of verified codes."),
        conversionBefore: share("Conversion in the previous range."),
      },
      { description: "One-time passwords." },
    ),
    callbacks: Type.Object(
      {
        delivered: whole("Delivered callbacks."),
        failedAttempts: whole("Failed attempts."),
        givenUp: whole("Callbacks whose attempts are exhausted."),
        dropped: whole("Callbacks whose endpoint was deleted or disabled."),
        success: share("Share of successful attempts."),
        successBefore: share("Success rate in the previous range."),
      },
      { description: "Webhook and delivery-report callbacks." },
    ),
  },
  { title: "Stats" },
);

export const spanParameters = {
  from: timeParameter(
    "Start of the time range: epoch milliseconds or ISO 8601. Defaults to 24 hours before `to`. The range is extended to whole steps.",
  ),
  to: timeParameter("End of the time range, exclusive. Defaults to now.", "end"),
  step: {
    ...choiceParameter(
      Object.keys(GRAINS),
      "minute, 10m, hour or day. Minutes are kept for one day. Defaults to minute for up to two hours of the last day, 10m for up to two days, hour for up to two weeks, else day.",
    ),
    example: "hour",
  },
};

const exampleLatency = { p50: 40, p95: 210, p99: 480, buckets: [{ upToMs: 50, count: 800 }] };

/** Served from counters that are updated with each state transition. */
export const statsRoute: KeyedRoute = {
  method: "GET",
  path: "/api/stats",
  family: "plain",
  scope: "read",
  testKeys: null,
  group: "Statistics",
  summary: "Get statistics",
  description:
    "Returns counts for a time range, compared with the previous range of the same length. Counts are at most one second behind. Each event counts when it happens: a message accepted today and delivered tomorrow counts once on each day. A message that expired and was delivered later counts as both. Counts are kept for as long as messages are.",
  query: spanParameters,
  response: Stats,
  responseExample: {
    from: 1767225600000,
    to: 1767312000000,
    step: "10m",
    comparable: true,
    totals: {
      accepted: { count: 1000, before: 800, change: 0.25 },
      sent: { count: 990, before: 796, change: 0.2437 },
      delivered: { count: 960, before: 780, change: 0.2308 },
      failed: { count: 25, before: 20, change: 0.25 },
      read: { count: 120, before: 0, change: null },
    },
    series: [{ at: 1767225600000, channel: "sms", accepted: 12, sent: 12, delivered: 11, failed: 1, read: 0 }],
    funnel: [{ channel: null, accepted: 1000, sent: 990, delivered: 960, read: 120 }],
    failures: [{ code: "NO_ROUTE", description: "No route takes this message.", carrierCode: false, count: 10 }],
    latency: { sent: exampleLatency, delivered: exampleLatency },
    otp: { sent: 200, verified: 170, refused: 12, conversion: 0.85, conversionBefore: 0.87 },
    callbacks: { delivered: 1900, failedAttempts: 12, givenUp: 0, dropped: 0, success: 0.9937, successBefore: 1 },
  },
  handle: getStats,
};
