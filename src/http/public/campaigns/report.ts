import { nullable, Type } from "../../../lib/schema.ts";
import { CAMPAIGN_STATES, type Campaign } from "../../../model/campaign.ts";
import { CUSTOMER_STATUSES, customerStatus, type State } from "../../../model/message.ts";
import { GRAINS } from "../../../model/stats.ts";
import type { CampaignTotal, StatsSpan } from "../../../store/stats.ts";
import type { StateCounts } from "../../../store/store.ts";
import {
  ALL_MEASURES,
  describeCodes,
  FailureReason,
  failuresOf,
  grainFor,
  MEASURE_NAMES,
  measureFields,
  MEASURES,
  measures,
  share,
  shareOf,
  StepName,
  STRETCHES_MAX,
  sumOf,
  whole,
} from "../../admin/stats.ts";
import type { AuthenticCall, Services } from "../../route.ts";
import { skippedRow, skippedRows } from "./skipped-rows.ts";
import { EXAMPLE_ID, exampleCampaign, findCampaign, time } from "./view.ts";

/** The results of a campaign. Everything is read from counts that are kept, so its cost does not depend on the recipients. */
export async function reportOf(services: Services, call: AuthenticCall): Promise<object> {
  const { store, clock } = services;
  const campaign = await findCampaign(services, call);
  const { accountId, id, name, test, state, accepted, skipped, skips, optedOut, startedAt, endedAt } = campaign;
  const ofName = { name, test };
  const now = clock.now();
  const span = spanOf(campaign, now);
  const [audience, states, totals, points, codeTexts, clicks] = await Promise.all([
    store.findAudience({ accountId, id: campaign.audienceId }),
    statesOf(services, campaign),
    startedAt === null ? [] : store.sumCampaign(accountId, ofName, startedAt),
    startedAt === null ? [] : store.listCampaignSteps(accountId, ofName, span, ALL_MEASURES),
    store.listCodeTexts(accountId),
    store.countCampaignClicks(campaign),
  ]);
  return {
    id,
    name,
    state,
    recipients: audience?.recipients ?? null,
    accepted,
    skipped,
    counts: countsOf(states),
    states,
    step: span.grain,
    series: [...Map.groupBy(points, ({ at }) => at)].map(([at, counts]) => ({ at, ...measuresIn(counts) })),
    carriers: carriersIn(totals),
    failures: failuresOf(totals, describeCodes(codeTexts)),
    clicks,
    optedOut,
    skips: skips.counts,
    skippedRows: skips.rows.map(skippedRow),
    startedAt,
    endedAt,
  };
}

async function statesOf(
  { store }: Services,
  { accountId, name, test, startedAt }: Campaign,
): Promise<Readonly<StateCounts>> {
  if (startedAt === null) return {};
  if (test) return store.countTestMessages(accountId, name);
  return (await store.countCampaigns(accountId, [name])).get(name) ?? {};
}

function countsOf(states: Readonly<StateCounts>): Record<string, number> {
  const counts: Record<string, number> = Object.fromEntries(CUSTOMER_STATUSES.map((status) => [status, 0]));
  for (const [state, count] of Object.entries(states)) {
    const status = customerStatus(state as State);
    counts[status] = (counts[status] ?? 0) + count;
  }
  return counts;
}

/** From the start on, in steps by the length of the campaign. Receipts that come much later are left out. */
function spanOf({ startedAt, endedAt }: Campaign, now: number): StatsSpan {
  const start = startedAt ?? now;
  const grain = grainFor(now, start, endedAt ?? now);
  const stepMs = GRAINS[grain];
  const from = start - (start % stepMs);
  return { grain, from, to: from + STRETCHES_MAX * stepMs };
}

const measuresIn = (counts: Parameters<typeof sumOf>[0]): Record<string, number> =>
  Object.fromEntries(MEASURE_NAMES.map((measure) => [measure, sumOf(counts, MEASURES[measure])]));

function carriersIn(totals: readonly CampaignTotal[]): object[] {
  const counted = totals.filter(({ what }) => what !== "accepted");
  return [...Map.groupBy(counted, ({ carrier }) => carrier)]
    .map(([carrier, counts]) => {
      const sum = (measure: keyof typeof MEASURES): number => sumOf(counts, MEASURES[measure]);
      const [sent, delivered, failed, read] = [sum("sent"), sum("delivered"), sum("failed"), sum("read")];
      const deliveryRate = shareOf(delivered, sent);
      return { name: carrier === "" ? null : carrier, sent, delivered, failed, read, deliveryRate };
    })
    .filter(({ sent, delivered, failed }) => sent + delivered + failed > 0)
    .toSorted((a, b) => b.sent + b.failed - (a.sent + a.failed));
}

const Clicks = Type.Object({
  recipients: whole("Recipients with a link, once for each link in the text."),
  recipientsClicked: whole("Recipients whose link a person has followed."),
  person: whole("Clicks by people."),
  preview: whole("Clicks by apps that show a preview of the link."),
  bot: whole("Clicks by other programs."),
});

export const CampaignReport = Type.Object(
  {
    id: Type.String({ description: "Campaign ID." }),
    name: Type.String({ description: "Its name." }),
    state: Type.Union(
      CAMPAIGN_STATES.map((state) => Type.Literal(state)),
      { description: "Its state." },
    ),
    recipients: nullable(Type.Integer(), "Recipients of its audience now; null if the audience is gone."),
    accepted: whole("Recipients whose message was accepted."),
    skipped: whole("Recipients without a message."),
    counts: Type.Record(Type.Integer(), { description: "Message counts by status: Pending, Delivered, Failed." }),
    states: Type.Record(Type.Integer(), { description: "Message counts by internal state." }),
    step: StepName,
    series: Type.Array(
      Type.Object({ at: whole("Start of the step (UTC), in epoch milliseconds."), ...measureFields(whole) }),
      {
        description: `Counts by step from the start on, oldest first, for at most ${STRETCHES_MAX} steps. Empty steps are omitted.`,
      },
    ),
    carriers: Type.Array(
      Type.Object({
        name: nullable(
          Type.String(),
          "Name of the carrier; null for messages that failed before any carrier had them.",
        ),
        sent: whole(`${measures.sent} A message that failed over counts for each.`),
        delivered: whole(measures.delivered),
        failed: whole(measures.failed),
        read: whole(measures.read),
        deliveryRate: share("Delivered messages as a share of sent ones."),
      }),
      { description: "Counts of each carrier, the largest first." },
    ),
    failures: Type.Array(FailureReason, { description: "Failure reasons, the most frequent first." }),
    clicks: nullable(Clicks, "Clicks on the short links of the text; null without links."),
    optedOut: whole(
      "Recipients who opted out by a reply within a week. The last campaign that reached them counts it.",
    ),
    skips: Type.Record(Type.Integer(), { description: "Recipients without a message by reason." }),
    skippedRows: skippedRows("The first 100 recipients without a message."),
    startedAt: time("Time of the start; null before."),
    endedAt: time("Time at which it finished or was cancelled; null before."),
  },
  { title: "CampaignReport" },
);

export const reportExample = {
  id: EXAMPLE_ID,
  name: exampleCampaign.name,
  state: "finished",
  recipients: 99_120,
  accepted: 99_118,
  skipped: 2,
  counts: { Pending: 0, Delivered: 97_012, Failed: 2106 },
  states: { delivered: 97_012, undelivered: 802, rejected: 1304 },
  step: "hour",
  series: [
    { at: 1767225600000, accepted: 52_000, sent: 51_000, delivered: 50_100, failed: 900, read: 0 },
    { at: 1767229200000, accepted: 47_118, sent: 46_814, delivered: 46_912, failed: 1206, read: 0 },
  ],
  carriers: [
    { name: "main smsc", sent: 97_814, delivered: 97_012, failed: 802, read: 0, deliveryRate: 0.9918 },
    { name: null, sent: 0, delivered: 0, failed: 1304, read: 0, deliveryRate: null },
  ],
  failures: [
    {
      code: "RECIPIENT_OPTED_OUT",
      description: "The recipient has asked for no more promotions.",
      carrierCode: false,
      count: 1304,
    },
    { code: "011", description: "Absent subscriber", carrierCode: true, count: 802 },
  ],
  clicks: { recipients: 99_118, recipientsClicked: 8012, person: 9104, preview: 1203, bot: 77 },
  optedOut: 41,
  skips: { MESSAGE_TOO_LONG: 2 },
  skippedRows: [
    { row: 17, code: "MESSAGE_TOO_LONG", message: "With the values of the row, the text is too long." },
    { row: 4711, code: "MESSAGE_TOO_LONG", message: "With the values of the row, the text is too long." },
  ],
  startedAt: 1767225700000,
  endedAt: 1767297000000,
};
