import { inFieldsOfCampaign } from "../../../campaigns/control.ts";
import { messageFaults } from "../../../campaigns/message-faults.ts";
import { prepareFitting } from "../../../campaigns/prepare-fitting.ts";
import { requestsOf } from "../../../campaigns/requests.ts";
import { composedFor } from "../../../channels/draft.ts";
import { withCodes } from "../../../channels/sms/compose.ts";
import { STAND_IN_CODE } from "../../../channels/sms/short-link-tokens.ts";
import { nullable, Type } from "../../../lib/schema.ts";
import { fallbackOf } from "../../../model/fallback.ts";
import { isSms, SEND_CHANNELS, textOf, type MessageContent } from "../../../model/message.ts";
import { Problem, refuseFaults } from "../../../model/problem.ts";
import type { Prepared } from "../../../pipeline/accept/prepare.ts";
import { refuseMissingScope } from "../../auth/authenticate.ts";
import type { AuthenticCall, Services, WithBody } from "../../route.ts";
import { outcomeExample, outcomeFields, outcomeOf, recipientFields, routesField, routesOf } from "../outcome.ts";
import { refuseMissingScopes } from "./drafts.ts";
import { skippedRow, skippedRows } from "./skipped-rows.ts";
import { count, findCampaign } from "./view.ts";

const SAMPLE = 20;
const SAMPLE_MAX = 100;

export const PreviewBody = Type.Object({
  limit: Type.Default(
    Type.Integer({
      minimum: 1,
      maximum: SAMPLE_MAX,
      description: `Number of recipients, the first ones of the audience; ${SAMPLE} by default.`,
    }),
    SAMPLE,
  ),
});

/** Prepares the message of a campaign for its first recipients, and returns the result instead of storing it. */
export async function previewCampaign(
  services: Services,
  call: WithBody<AuthenticCall, typeof PreviewBody>,
): Promise<object> {
  const { store, prepareDeps, smsRules, clock } = services;
  const campaign = await findCampaign(services, call);
  refuseMissingScopes(call, campaign.message.ways);
  // The answer shows numbers and values of the audience.
  refuseMissingScope(call.caller.key, "read");
  const ref = { accountId: campaign.accountId, id: campaign.audienceId };
  const layout = (await store.findAudience(ref))?.layout;
  if (!layout)
    throw new Problem("INVALID_REQUEST", {
      faults: [{ parameter: "audienceId", message: "The audience is gone, or its columns are not read yet." }],
    });
  refuseFaults(messageFaults(campaign.message, layout, { limits: smsRules, now: clock.now() }));
  const { rows } = await store.listAudienceRecipients(ref, 0, call.body.limit);
  const requests = requestsOf(prepareDeps, campaign, layout);
  const sending = { account: call.caller.account, test: campaign.test, dryRun: true };
  const { prepared, skipped } = await prepareFitting(prepareDeps, sending, requests, rows).catch((error: unknown) => {
    throw inFieldsOfCampaign(error);
  });
  const left = skipped.map(skippedRow);
  if (!prepared) return { ...NOTHING, skipped: left };
  const rowOf = new Map(rows.map(({ number, row }) => [number, row]));
  const { recipients, ...outcome } = await outcomeOf(services, call.caller, prepared);
  const linkBase = prepareDeps.shortLinkBase();
  return {
    ...outcome,
    recipients: recipients.map((view, place) => ({
      row: rowOf.get(view.recipient) ?? 0,
      ...view,
      ways: waysFor(prepared, place, linkBase),
    })),
    skipped: left,
  };
}

const NOTHING = { credits: 0, balance: null, affordable: true, wouldRefuse: [], recipients: [] };

type MessageWay = Pick<Prepared["subject"]["draft"], "channel" | "sender">;

interface ShownWay extends MessageWay {
  text: string;
  segments: number | null;
  routes: ReturnType<typeof routesOf>;
}

/** The message of a recipient on each channel, with placeholder codes in its short links. */
function waysFor(prepared: Prepared, place: number, linkBase: string): ShownWay[] {
  const { subject, verdicts } = prepared;
  const { channel, sender, recipients: to } = subject.draft;
  const isSent = (verdicts[place]?.failure ?? null) === null;
  const shown = (own: MessageWay, { content, segments }: { content: MessageContent; segments: number }): ShownWay => ({
    ...own,
    text: textOf(content),
    segments: isSms(content) ? segments : null,
    routes: isSent ? routesOf(subject, own, to[place]?.number ?? "") : [],
  });
  const composed = composedFor(prepared, place);
  const codes = prepared.targets.map(() => STAND_IN_CODE);
  const { content } = composed;
  const first = isSms(content) && codes.length > 0 ? withCodes({ ...composed, content }, codes, linkBase) : composed;
  const ways = [shown({ channel, sender }, first)];
  for (let next = fallbackOf(composed); next; next = fallbackOf(next))
    ways.push(shown({ channel: next.channel ?? "sms", sender: next.sender }, next));
  return ways;
}

export const CampaignPreview = Type.Object(
  {
    ...outcomeFields,
    recipients: Type.Array(
      Type.Object({
        row: count("Row of the audience's file."),
        ...recipientFields,
        ways: Type.Array(
          Type.Object({
            channel: Type.Union(
              SEND_CHANNELS.map((channel) => Type.Literal(channel)),
              { description: "Channel." },
            ),
            sender: Type.String({ description: "Sender." }),
            text: Type.String({ description: "Text with the recipient's values. Codes of short links are zeros." }),
            segments: nullable(Type.Integer(), "Number of SMS segments; null on other channels."),
            routes: routesField,
          }),
          { description: "The message on each channel, in their order." },
        ),
      }),
      { description: "The first recipients of the audience who would get a message." },
    ),
    skipped: skippedRows("Rows among the first recipients that would get no message."),
  },
  { title: "CampaignPreview" },
);

const { recipients, ...total } = outcomeExample("15550100100");

export const previewExample = {
  ...total,
  recipients: recipients.map((each) => ({
    row: 2,
    ...each,
    ways: [
      {
        channel: "sms",
        sender: "HELIOG",
        text: "Hello Ada, 20 % off in Pune until Sunday.",
        segments: 1,
        routes: each.routes,
      },
    ],
  })),
  skipped: [],
};
