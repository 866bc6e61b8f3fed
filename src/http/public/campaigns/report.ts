import { Type, nullable } from "../../../lib/schema.ts";
import { CAMPAIGN_STATES, SKIP_CODES } from "../../../model/campaign.ts";
import { CUSTOMER_STATUSES, customerStatus, type State } from "../../../model/message.ts";
import type { AuthenticCall, Services } from "../../route.ts";
import { skippedRow, skippedRows } from "./skipped-rows.ts";
import { count, EXAMPLE_ID, exampleCampaign, findCampaign, time } from "./view.ts";

/** The counts of a campaign. */
export async function reportOf(services: Services, call: AuthenticCall): Promise<object> {
  const { store } = services;
  const campaign = await findCampaign(services, call);
  const { accountId, id, name, test, state, accepted, skipped, skips, startedAt, endedAt } = campaign;
  const audience = await store.findAudience({ accountId, id: campaign.audienceId });
  const states =
    startedAt === null
      ? {}
      : test
        ? await store.countTestMessages(accountId, name)
        : ((await store.countCampaigns(accountId, [name])).get(name) ?? {});
  const counts: Record<string, number> = Object.fromEntries(CUSTOMER_STATUSES.map((status) => [status, 0]));
  for (const [each, messages] of Object.entries(states)) {
    const status = customerStatus(each as State);
    counts[status] = (counts[status] ?? 0) + messages;
  }
  return {
    id,
    name,
    state,
    recipients: audience?.recipients ?? null,
    accepted,
    skipped,
    counts,
    states,
    skips: skips.counts,
    skippedRows: skips.rows.map(skippedRow),
    startedAt,
    endedAt,
  };
}

export const CampaignReport = Type.Object(
  {
    id: Type.String({ description: "Campaign ID." }),
    name: Type.String({ description: "Its name." }),
    state: Type.Union(
      CAMPAIGN_STATES.map((state) => Type.Literal(state)),
      { description: "Its state." },
    ),
    recipients: nullable(Type.Integer(), "Recipients of its audience now; null if the audience is gone."),
    accepted: count("Recipients whose message was accepted."),
    skipped: count("Recipients without a message."),
    counts: Type.Record(Type.Integer(), { description: "Message counts by status: Pending, Delivered, Failed." }),
    states: Type.Record(Type.Integer(), { description: "Message counts by internal state." }),
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
  skips: { MESSAGE_TOO_LONG: 2 },
  skippedRows: [
    { row: 17, code: "MESSAGE_TOO_LONG", message: SKIP_CODES.MESSAGE_TOO_LONG },
    { row: 4711, code: "MESSAGE_TOO_LONG", message: SKIP_CODES.MESSAGE_TOO_LONG },
  ],
  startedAt: 1767225700000,
  endedAt: 1767297000000,
};
