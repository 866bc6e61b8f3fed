import { isUuid } from "../../../lib/ids.ts";
import { nullable, Type } from "../../../lib/schema.ts";
import { CAMPAIGN_STATES, type Campaign } from "../../../model/campaign.ts";
import { SEND_CHANNELS } from "../../../model/message.ts";
import { Problem } from "../../../model/problem.ts";
import { seesTestsOnly } from "../../auth/test-mode.ts";
import type { AuthenticCall, Services } from "../../route.ts";
import { waysField } from "./ways-field.ts";

export const EXAMPLE_ID = "0198f3a2-7c40-7d1e-9a51-3f0c8e2b6d48";
export const EXAMPLE_AUDIENCE = "0198f3a2-7c40-7d1e-9a51-3f0c8e2b6d47";

/** The campaign that a request names. A test key finds only those of test keys. */
export async function findCampaign(
  { store }: Pick<Services, "store">,
  { params, caller }: Pick<AuthenticCall, "params" | "caller">,
): Promise<Campaign> {
  const { id = "" } = params;
  const campaign = isUuid(id) ? await store.findCampaign({ accountId: caller.account.id, id }) : null;
  if (!campaign || (seesTestsOnly(caller) && !campaign.test))
    throw new Problem("RECORD_NOT_FOUND", { message: "There is no campaign with this id." });
  return campaign;
}

/** A campaign as the API returns it. */
export function viewOf(campaign: Campaign): object {
  const { id, name, test, state, message, audienceId, throttle, window, scheduledAt } = campaign;
  const { accepted, skipped, failure, createdAt, startedAt, endedAt } = campaign;
  const { type, sender, text, templateId, custom, targets, ways, moveOnAfterSeconds } = message;
  return {
    id,
    name,
    test,
    channel: ways?.[0]?.channel ?? "sms",
    state,
    type,
    sender,
    text,
    templateId,
    custom,
    shortenUrlData: targets && { shortenUrl: true, targetUrl: targets },
    ways,
    moveOnAfterSeconds,
    audienceId,
    throttle,
    window,
    scheduledAt,
    accepted,
    skipped,
    failure,
    createdAt,
    startedAt,
    endedAt,
  };
}

export const count = (description: string) => Type.Integer({ description });
export const time = (description: string) => nullable(Type.Integer(), description);

export const CampaignView = Type.Object(
  {
    id: Type.String({ description: "Campaign ID." }),
    name: Type.String({ description: "Its name, the `campaignName` of its messages." }),
    test: Type.Boolean({ description: "True if it was created with a test key: it goes to the simulator." }),
    channel: Type.Union(
      SEND_CHANNELS.map((channel) => Type.Literal(channel)),
      { description: "Channel; with ways, that of the first one." },
    ),
    state: Type.Union(
      CAMPAIGN_STATES.map((state) => Type.Literal(state)),
      {
        description:
          "draft: it can be changed. scheduled: it starts at `scheduledAt`. running: recipients are fed, or messages wait to be sent. paused: `failure` has the reason if it paused by itself. finished: no message waits to be sent. cancelled: it was stopped for good.",
      },
    ),
    type: Type.String({ description: "TRANS or PROMO." }),
    sender: Type.String({ description: "Sender; with ways, that of the first one." }),
    text: nullable(Type.String(), "Text; null with a template or ways."),
    templateId: nullable(Type.String(), "Template; null with a text or ways."),
    custom: nullable(Type.Array(Type.String()), "Values of the template's variables; null with a text or ways."),
    shortenUrlData: nullable(
      Type.Object({
        shortenUrl: Type.Boolean({ description: "True." }),
        targetUrl: Type.Array(Type.String(), { description: "Addresses of the links, in the order of the text." }),
      }),
      "Short links in the text; null for none.",
    ),
    ways: nullable(waysField, "Channels in order with their content; null for a text or a template."),
    moveOnAfterSeconds: nullable(
      Type.Integer(),
      "Seconds to wait for a delivery on one channel before the next one; null without ways.",
    ),
    audienceId: Type.String({ description: "Audience that gets it." }),
    throttle: nullable(Type.Integer(), "Most messages in an hour; null for no limit."),
    window: nullable(
      Type.Object({
        from: Type.String({ description: "Begin." }),
        to: Type.String({ description: "End." }),
        zone: Type.String({ description: "Time zone." }),
      }),
      "Hours in which recipients are accepted; null for all.",
    ),
    scheduledAt: time("Start in epoch milliseconds; null for a start by hand."),
    accepted: count("Recipients whose message was accepted."),
    skipped: count("Recipients without a message; the report has the reasons."),
    failure: nullable(
      Type.Object({
        code: Type.String({ description: "Error code." }),
        message: Type.String({ description: "Reason." }),
      }),
      "Reason why it paused by itself; null otherwise. Messages that were accepted before are still sent.",
    ),
    createdAt: count("Epoch milliseconds."),
    startedAt: time("Time of the start; null before."),
    endedAt: time("Time at which it finished or was cancelled; null before."),
  },
  { title: "CampaignDetails" },
);

export const exampleCampaign = {
  id: EXAMPLE_ID,
  name: "autumn sale",
  test: false,
  channel: "sms",
  state: "draft",
  type: "PROMO",
  sender: "HELIOG",
  text: "Hello {{first name}}, 20 % off in {{city}} until Sunday.",
  templateId: null,
  custom: null,
  shortenUrlData: null,
  ways: null,
  moveOnAfterSeconds: null,
  audienceId: EXAMPLE_AUDIENCE,
  throttle: 5000,
  window: { from: "10:00", to: "20:00", zone: "Asia/Kolkata" },
  scheduledAt: null,
  accepted: 0,
  skipped: 0,
  failure: null,
  createdAt: 1767225600000,
  startedAt: null,
  endedAt: null,
};
