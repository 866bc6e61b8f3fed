import { nullable } from "../../lib/nullable.ts";
import { Type, type Schema } from "../../lib/schema.ts";
import { FAILED_STATES, GRAINS, LATENCY_BOUNDS_MS, percentile, type Counted, type Grain } from "../../model/figure.ts";
import { CHANNELS, describeFailure } from "../../model/message.ts";
import type { Fault } from "../../model/problem.ts";
import type { FigurePoint, FigureSpan, FigureTotal } from "../../store/figure-store.ts";
import { readTime, refuseFaults } from "../page-query.ts";
import type { AuthenticCall, KeyedRoute, Services } from "../route.ts";

const DAY_MS = GRAINS.day;
/** Stretches that one answer tells of: its cost is bounded by these, however many messages there are. */
const STRETCHES_MAX = 400;
const CODES_SHOWN = 10;

const FAILED: readonly Counted[] = FAILED_STATES;
const MEASURES = { accepted: ["accepted"], sent: ["submitted"], delivered: ["delivered"], failed: FAILED, read: ["read"] } as const satisfies Record<string, readonly Counted[]>; // prettier-ignore
type Measure = keyof typeof MEASURES;
const MEASURE_NAMES = Object.keys(MEASURES) as readonly Measure[];

async function getStats({ store, clock }: Services, { query, caller }: AuthenticCall): Promise<object> {
  const span = readSpan(clock.now(), query);
  const before = { ...span, from: span.from - (span.to - span.from), to: span.from };
  const { id, settings } = caller.account;
  // What is forgotten was not nothing.
  const isKept = before.from >= clock.now() - settings.keepMessagesDays * DAY_MS;
  const [totals, earlier, points] = await Promise.all([
    store.sumFigures(id, span),
    store.sumFigures(id, before),
    store.listFigures(id, span, Object.values(MEASURES).flat()),
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
    failures: failuresOf(totals),
    latency: { sent: latencyOf(totals, "until submitted"), delivered: latencyOf(totals, "until delivered") },
    otp: otpOf(totals, earlier),
    callbacks: callbacksOf(totals, earlier),
  };
}

/** Stretches that are long enough for the span, unless the caller says which; the span is widened to whole ones. */
function readSpan(now: number, query: AuthenticCall["query"]): FigureSpan {
  const faults: Fault[] = [];
  const to = readTime(query, "to", faults) ?? now + 1;
  const from = readTime(query, "from", faults) ?? to - DAY_MS;
  const { step } = query;
  if (step !== undefined && !isGrain(step))
    faults.push({ parameter: "step", message: `step is one of ${Object.keys(GRAINS).join(", ")}.` });
  if (faults.length === 0 && from >= to) faults.push({ parameter: "from", message: "from lies before to." });
  const grain = step !== undefined && isGrain(step) ? step : grainFor(to - from);
  const stretchMs = GRAINS[grain];
  const span = { grain, from: from - (from % stretchMs), to: Math.ceil(to / stretchMs) * stretchMs };
  if (faults.length === 0 && (span.to - span.from) / stretchMs > STRETCHES_MAX)
    faults.push({ parameter: "from", message: `from lies at most ${STRETCHES_MAX} steps before to.` });
  refuseFaults(faults);
  return span;
}

const isGrain = (word: string): word is Grain => Object.hasOwn(GRAINS, word);

const grainFor = (spanMs: number): Grain => (spanMs <= 2 * DAY_MS ? "10m" : spanMs <= 14 * DAY_MS ? "hour" : "day");

const countOf = (totals: readonly FigureTotal[], is: (figure: FigureTotal) => boolean): number =>
  totals.reduce((sum, figure) => (is(figure) ? sum + figure.count : sum), 0);

const sumsOf =
  (totals: readonly FigureTotal[]) =>
  (measure: Measure, channel: string | null = null): number => {
    const words: readonly Counted[] = MEASURES[measure];
    return countOf(totals, (figure) => words.includes(figure.what) && (channel === null || figure.channel === channel));
  };

/** A count beside that of the time before; without anything then there is nothing to compare with. */
const compared = (count: number, before: number, isKept: boolean): object => ({
  count,
  before,
  change: before === 0 || !isKept ? null : rounded((count - before) / before),
});

const shareOf = (part: number, whole: number): number | null => (whole === 0 ? null : rounded(part / whole));

const rounded = (share: number): number => Math.round(share * 10_000) / 10_000;

function seriesOf(points: readonly FigurePoint[]): object[] {
  const rows = Map.groupBy(points, ({ at, channel }) => `${at} ${channel}`);
  return [...rows.values()].flatMap((row) => {
    const [first] = row;
    if (!first) return [];
    const sum = (words: readonly Counted[]): number =>
      row.reduce((total, { what, count }) => (words.includes(what) ? total + count : total), 0);
    const counts = MEASURE_NAMES.map((name) => [name, sum(MEASURES[name])]);
    return [{ at: first.at, channel: first.channel, ...Object.fromEntries(counts) }];
  });
}

/** Why messages failed, the most frequent first. */
function failuresOf(totals: readonly FigureTotal[]): object[] {
  const codes = new Map<string, number>();
  for (const { what, code, count } of totals)
    if (FAILED.includes(what)) codes.set(code, (codes.get(code) ?? 0) + count);
  return [...codes]
    .toSorted(([, a], [, b]) => b - a)
    .slice(0, CODES_SHOWN)
    .map(([code, count]) => ({ code: code === "" ? null : code, description: describeFailure(code), count }));
}

function latencyOf(totals: readonly FigureTotal[], what: Counted): object {
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

function otpOf(totals: readonly FigureTotal[], earlier: readonly FigureTotal[]): object {
  const count = (figures: readonly FigureTotal[], what: Counted): number =>
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

function callbacksOf(totals: readonly FigureTotal[], earlier: readonly FigureTotal[]): object {
  const attempts = (figures: readonly FigureTotal[]) => {
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

const whole = (description: string) => Type.Integer({ description });
const share = (description: string) => nullable(Type.Number(), `${description} 0 to 1; null when there were none.`);

const Compared = Type.Object(
  {
    count: whole("In the span."),
    before: whole("In the span of the same length before it."),
    change: nullable(
      Type.Number(),
      "How much more than before: 0.25 is a quarter more. Null when there is nothing to compare with.",
    ),
  },
  { title: "ComparedCount", description: "How many, and how many before." },
);

const Latency = Type.Object(
  {
    p50: nullable(Type.Integer(), "Half of them took at most so many milliseconds; null when there were none."),
    p95: nullable(Type.Integer(), "95 of 100 took at most so many milliseconds."),
    p99: nullable(Type.Integer(), "99 of 100 took at most so many milliseconds."),
    buckets: Type.Array(
      Type.Object({
        upToMs: nullable(Type.Integer(), "The longest time that it counts; null of the last, which has no end."),
        count: whole("Messages that took longer than the bucket before counts, and no longer than this one does."),
      }),
      { description: "All of them by how long it took, the quickest first." },
    ),
  },
  { title: "Latency", description: "How long it took from the moment at which the message was accepted." },
);

const measures: Record<Measure, string> = {
  accepted: "Messages that were accepted, whatever became of them.",
  sent: "Messages that a carrier took.",
  delivered: "Messages that were delivered.",
  failed: "Messages that came to an end without being delivered, those that were refused at once among them.",
  read: "Messages that were read, where the channel tells.",
};
const measureFields = (field: (description: string) => Schema) =>
  Object.fromEntries(MEASURE_NAMES.map((name) => [name, field(measures[name])]));

const funnelFields = {
  accepted: whole(measures.accepted),
  sent: whole(measures.sent),
  delivered: whole(measures.delivered),
  read: whole(measures.read),
};

const Stats = Type.Object(
  {
    from: whole("The span begins here, in epoch milliseconds."),
    to: whole("And ends before this."),
    step: Type.Union(
      Object.keys(GRAINS).map((name) => Type.Literal(name)),
      { description: "How long the stretches of the series are." },
    ),
    comparable: Type.Boolean({
      description: "Whether all of the span before is still kept; where it is not, nothing is compared.",
    }),
    totals: Type.Object(
      measureFields(() => Compared),
      { description: "The span as a whole." },
    ),
    series: Type.Array(
      Type.Object({
        at: whole("When the stretch begins, in UTC; epoch milliseconds."),
        channel: Type.String({ description: "sms, rcs or chatapp." }),
        ...measureFields(whole),
      }),
      { description: "By stretch and channel, oldest first. What has nothing in it is left out." },
    ),
    funnel: Type.Array(
      Type.Object({
        channel: nullable(Type.String(), "sms, rcs or chatapp; null for all of them."),
        ...funnelFields,
      }),
      { description: "How far messages came." },
    ),
    failures: Type.Array(
      Type.Object({
        code: nullable(
          Type.String(),
          "The code of the failure: one of this service or a carrier's own; `other` for those that come after a hundred different ones in a day; null where none was told.",
        ),
        description: nullable(Type.String(), "What the code means, where it is one of this service."),
        count: whole("Messages that failed with it."),
      }),
      { description: `The ${CODES_SHOWN} most frequent reasons of failures.` },
    ),
    latency: Type.Object(
      { sent: Latency, delivered: Latency },
      { description: "Until a carrier had them, and until their delivery was known." },
    ),
    otp: Type.Object(
      {
        sent: whole("One-time passwords that were made."),
        verified: whole("Those that came back."),
        refused: whole("Tries that were not right, or too late."),
        conversion: share("The part of them that came back."),
        conversionBefore: share("The same in the span before."),
      },
      { description: "One-time passwords." },
    ),
    callbacks: Type.Object(
      {
        delivered: whole("Callbacks that arrived."),
        failedAttempts: whole("Attempts that failed."),
        givenUp: whole("Callbacks that were tried as often as they are."),
        dropped: whole("Callbacks whose endpoint was gone or switched off."),
        success: share("The part of all attempts that arrived."),
        successBefore: share("The same in the span before."),
      },
      { description: "What your servers were told." },
    ),
  },
  { title: "Stats" },
);

const exampleLatency = { p50: 40, p95: 210, p99: 480, buckets: [{ upToMs: 50, count: 800 }] };

/** How it goes, from counts that are kept as messages move. */
export const statsRoute: KeyedRoute = {
  method: "GET",
  path: "/api/stats",
  family: "plain",
  scope: "read",
  group: "Statistics",
  summary: "Read how it goes",
  description:
    "Counts of a span of time, with the span before it to compare with. They are kept as messages move, a second behind at the most, and each event counts when it happens: a message that is accepted today and delivered tomorrow counts once on each day. A message that expired and was delivered after all counts as both. What is older than the account keeps its messages is forgotten.",
  query: {
    from: "From this time on: epoch milliseconds or ISO 8601. Unless given, 24 hours before `to`. The span is widened to whole steps.",
    to: "Before this time; now unless given.",
    step: {
      meaning: "10m, hour or day. Unless given, as the span asks for: up to two days, up to two weeks, or longer.",
      example: "hour",
    },
  },
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
    failures: [{ code: "NO_ROUTE", description: "No route takes this message.", count: 10 }],
    latency: { sent: exampleLatency, delivered: exampleLatency },
    otp: { sent: 200, verified: 170, refused: 12, conversion: 0.85, conversionBefore: 0.87 },
    callbacks: { delivered: 1900, failedAttempts: 12, givenUp: 0, dropped: 0, success: 0.9937, successBefore: 1 },
  },
  handle: getStats,
};
