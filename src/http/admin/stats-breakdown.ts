import { nullable, Type } from "../../lib/schema.ts";
import { CHANNELS } from "../../model/message.ts";
import { Problem } from "../../model/problem.ts";
import { DIMENSIONS, type Counted, type Dimension } from "../../model/stats.ts";
import type { GroupPoint, GroupTotal } from "../../store/stats.ts";
import { choiceParameter } from "../parameters.ts";
import type { AuthenticCall, KeyedRoute, Services } from "../route.ts";
import {
  ALL_MEASURES,
  describeCodes,
  FailureReason,
  failuresOf,
  MEASURE_NAMES,
  measureFields,
  MEASURES,
  measures,
  readSpan,
  share,
  shareOf,
  spanParameters,
  StepName,
  sumOf,
  whole,
  type CarrierText,
  type Failure,
  type Measure,
} from "./stats.ts";

/** Groups with a series: a plot of more is hard to read. */
const SERIES_MAX = 8;
const CODES_SHOWN = 3;

async function getBreakdown({ store, clock }: Services, { query, caller }: AuthenticCall): Promise<object> {
  const { id } = caller.account;
  const dimension = readChoice(query, "by", DIMENSIONS);
  const channel = query["channel"] === undefined ? {} : { channel: readChoice(query, "channel", CHANNELS) };
  const span = readSpan(clock.now(), query);
  const filter = { dimension, ...channel };
  const [totals, codeTexts] = await Promise.all([store.sumGroups(id, span, filter), store.listCodeTexts(id)]);
  const groups = groupsOf(totals, dimension, codeTexts);
  const names = groups.slice(0, SERIES_MAX).map(({ name }) => name ?? "");
  const points = await store.listGroups(id, span, { ...filter, names, what: ALL_MEASURES });
  return { from: span.from, to: span.to, step: span.grain, by: dimension, groups, series: seriesOf(points) };
}

function readChoice<T extends string>(query: AuthenticCall["query"], name: string, choices: readonly T[]): T {
  const choice = choices.find((each) => each === query[name]);
  if (choice !== undefined) return choice;
  const rule = query[name] === undefined ? "is missing: give one of" : "must be one of";
  const fault = { parameter: name, message: `${name} ${rule} ${choices.join(", ")}.` };
  throw new Problem("INVALID_REQUEST", { faults: [fault] });
}

interface Group {
  name: string | null;
  accepted: number | null;
  sent: number;
  delivered: number;
  failed: number;
  read: number;
  deliveryRate: number | null;
  failures: readonly Failure[];
}

/** The groups with their counts, the largest first. */
function groupsOf(totals: readonly GroupTotal[], dimension: Dimension, codeTexts: readonly CarrierText[]): Group[] {
  const describeAny = describeCodes(codeTexts);
  const describeFor = (carrier: string) => describeCodes(codeTexts.filter((text) => text.carrier === carrier));
  return [...Map.groupBy(totals, ({ name }) => name)]
    .map(([name, counts]): Group => {
      const sum = (measure: Measure): number => sumOf(counts, MEASURES[measure]);
      const failures = failuresOf(counts, dimension === "carrier" ? describeFor(name) : describeAny);
      return {
        name: name === "" ? null : name,
        // Messages are accepted before their carrier is chosen.
        accepted: dimension === "carrier" ? null : sum("accepted"),
        sent: sum("sent"),
        delivered: sum("delivered"),
        failed: sum("failed"),
        read: sum("read"),
        deliveryRate: shareOf(sum("delivered"), sum("sent")),
        failures: failures.slice(0, CODES_SHOWN),
      };
    })
    .toSorted((a, b) => sizeOf(b) - sizeOf(a));
}

const sizeOf = ({ accepted, sent, failed }: Group): number => accepted ?? sent + failed;

function seriesOf(points: readonly GroupPoint[]): object[] {
  const steps = Map.groupBy(points, ({ at, name }) => `${at} ${name}`);
  return [...steps.values()].flatMap((counts) => {
    const [first] = counts;
    if (!first) return [];
    const of = (words: readonly Counted[]): number => sumOf(counts, words);
    const fields = MEASURE_NAMES.map((measure) => [measure, of(MEASURES[measure])]);
    return [{ at: first.at, name: first.name === "" ? null : first.name, ...Object.fromEntries(fields) }];
  });
}

const GroupName = nullable(
  Type.String(),
  "Name of the carrier, null for messages that failed before any carrier had them; or two-letter country code, `unknown` for numbers of no country.",
);

const Breakdown = Type.Object(
  {
    from: whole("Start of the time range, in epoch milliseconds."),
    to: whole("End of the time range, exclusive."),
    step: StepName,
    by: Type.Union(
      DIMENSIONS.map((name) => Type.Literal(name)),
      { description: "The dimension." },
    ),
    groups: Type.Array(
      Type.Object({
        name: GroupName,
        accepted: nullable(Type.Integer(), `${measures.accepted} Null by carrier: a carrier is chosen later.`),
        sent: whole(`${measures.sent} By carrier, a message that failed over counts for each.`),
        delivered: whole(measures.delivered),
        failed: whole(measures.failed),
        read: whole(measures.read),
        deliveryRate: share("Delivered messages as a share of sent ones."),
        failures: Type.Array(FailureReason, { description: `The ${CODES_SHOWN} most frequent failure reasons.` }),
      }),
      { description: "Counts of each carrier or country, the largest first." },
    ),
    series: Type.Array(
      Type.Object({
        at: whole("Start of the step (UTC), in epoch milliseconds."),
        name: GroupName,
        ...measureFields(whole),
      }),
      {
        description: `Counts by step of the ${SERIES_MAX} largest groups, oldest first. Empty steps are omitted. \`accepted\` is 0 by carrier.`,
      },
    ),
  },
  { title: "StatsBreakdown" },
);

/** Served from counters, as the statistics of all messages are. */
export const statsBreakdownRoute: KeyedRoute = {
  method: "GET",
  path: "/api/stats/breakdown",
  family: "plain",
  scope: "read",
  testKeys: null,
  group: "Statistics",
  summary: "Get statistics by carrier or country",
  description:
    "Returns counts for a time range by carrier or by country, with the most frequent failure reasons of each. Counts are at most one second behind, follow the same rules as `GET /api/stats`, and are kept as long.",
  query: {
    by: { ...choiceParameter(DIMENSIONS, "carrier or country."), example: "carrier", required: true },
    channel: choiceParameter(CHANNELS, "Only messages of this channel: sms, rcs, chatapp or email."),
    ...spanParameters,
  },
  response: Breakdown,
  responseExample: {
    from: 1767225600000,
    to: 1767312000000,
    step: "10m",
    by: "carrier",
    groups: [
      {
        name: "north",
        accepted: null,
        sent: 990,
        delivered: 960,
        failed: 25,
        read: 0,
        deliveryRate: 0.9697,
        failures: [{ code: "001", description: "Unknown subscriber", carrierCode: true, count: 15 }],
      },
    ],
    series: [{ at: 1767225600000, name: "north", accepted: 0, sent: 12, delivered: 11, failed: 1, read: 0 }],
  },
  handle: getBreakdown,
};
