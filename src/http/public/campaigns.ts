import {
  cancelCampaign,
  pauseCampaign,
  resumeCampaign,
  startCampaign,
  stateProblem,
  type CampaignControlDeps,
} from "../../campaigns/control.ts";
import { isUuid } from "../../lib/ids.ts";
import { nullable, Type } from "../../lib/schema.ts";
import { CAMPAIGN_STATES, type Campaign } from "../../model/campaign.ts";
import { Problem, refuseFaults, type Fault } from "../../model/problem.ts";
import { seesTestsOnly } from "../auth/test-mode.ts";
import { readLimit } from "../pagination.ts";
import { choiceParameter, pageParameters } from "../parameters.ts";
import { keyedRoute, type AuthenticCall, type KeyedRoute, type Services, type WithBody } from "../route.ts";
import { CampaignChange, NewCampaign, ScheduleBody, TIME_RULE } from "./campaigns/body.ts";
import {
  changeDraft,
  createDraft,
  duplicateCampaign,
  refuseMissingScopes,
  timeFaults,
  timeOf,
} from "./campaigns/drafts.ts";
import { CampaignPreview, PreviewBody, previewCampaign, previewExample } from "./campaigns/preview.ts";
import { CampaignReport, reportExample, reportOf } from "./campaigns/report.ts";
import {
  CampaignView,
  EXAMPLE_AUDIENCE,
  EXAMPLE_ID,
  exampleCampaign as example,
  findCampaign,
  viewOf,
} from "./campaigns/view.ts";

const controlDeps = ({ store, clock, acceptDeps, prepareDeps, campaignDeps }: Services): CampaignControlDeps => ({
  ...acceptDeps,
  store,
  clock,
  prepareDeps,
  campaignDeps,
});

async function schedule(services: Services, call: WithBody<AuthenticCall, typeof ScheduleBody>): Promise<object> {
  const campaign = await findCampaign(services, call);
  refuseMissingScopes(call, campaign.message.ways);
  const scheduledAt = call.body.scheduledAt === undefined ? campaign.scheduledAt : timeOf(call.body.scheduledAt);
  if (campaign.state !== "draft" && campaign.state !== "scheduled") throw stateProblem(campaign.state);
  if (scheduledAt === null)
    throw new Problem("INVALID_REQUEST", { faults: [{ parameter: "scheduledAt", message: TIME_RULE }] });
  refuseFaults(timeFaults(scheduledAt, services.clock.now()));
  await startCampaign(controlDeps(services), campaign, call.caller.account, scheduledAt);
  return viewOf(await findCampaign(services, call));
}

const act =
  (action: (deps: CampaignControlDeps, campaign: Campaign) => Promise<void>): KeyedRoute["handle"] =>
  async (services, call) => {
    await action(controlDeps(services), await findCampaign(services, call));
    return viewOf(await findCampaign(services, call));
  };

const running = { ...example, state: "running", accepted: 1200, startedAt: 1767225700000 };
const newExample = {
  name: example.name,
  type: example.type,
  sender: example.sender,
  text: example.text,
  audienceId: EXAMPLE_AUDIENCE,
  throttle: example.throttle,
  window: example.window,
};

const changing = { family: "plain", scope: "sms", testKeys: "sms", group: "Campaigns" } as const;
const reading = { method: "GET", family: "plain", scope: "read", testKeys: "read", group: "Campaigns" } as const;
const ofOne = {
  params: { id: { meaning: "Campaign ID.", example: EXAMPLE_ID } },
  problems: ["RECORD_NOT_FOUND"],
} as const;
const acting = {
  ...changing,
  ...ofOne,
  method: "POST",
  problems: ["RECORD_NOT_FOUND", "CAMPAIGN_STATE"],
  response: CampaignView,
} as const;
const STARTING = [
  "RECORD_NOT_FOUND",
  "CAMPAIGN_STATE",
  "INVALID_REQUEST",
  "SENDER_NOT_REGISTERED",
  "TEMPLATE_NOT_FOUND",
  "PARAMS_MISMATCH",
  "MESSAGE_TOO_LONG",
  "SHORT_LINK_MISMATCH",
  "BOT_NOT_FOUND",
  "TEMPLATE_KIND_MISMATCH",
  "MEDIA_TYPE_UNSUPPORTED",
] as const;

export const campaignRoutes: readonly KeyedRoute[] = [
  keyedRoute({
    ...changing,
    method: "POST",
    path: "/v1/campaigns",
    summary: "Create a campaign",
    description:
      "Creates a draft: one message to every recipient of an audience, as an SMS or by `ways`. Then start it with `POST /v1/campaigns/{id}/start`, or schedule it. With ways, the key needs the scope of every channel in them.",
    status: 201,
    problems: ["NAME_TAKEN", "TOO_MANY_CAMPAIGNS"],
    body: NewCampaign,
    requestExamples: {
      "text with variables": newExample,
      template: {
        name: "reminder",
        type: "TRANS",
        sender: "HELIOG",
        templateId: "welcome",
        custom: ["{{first name}}", "4711"],
        audienceId: EXAMPLE_AUDIENCE,
      },
      "several channels": {
        name: "arrivals",
        type: "TRANS",
        audienceId: EXAMPLE_AUDIENCE,
        ways: [
          {
            channel: "rcs",
            botId: "heliograph",
            templateName: "order-shipped",
            content: [{ params: ["{{first name}}", "4711"] }],
          },
          {
            channel: "chatapp",
            from: "+15550100199",
            templateName: "order_shipped",
            components: { body: { params: ["{{first name}}", "4711"] } },
          },
          { channel: "sms", sender: "HELIOG", text: "{{first name}}, your order 4711 is on its way." },
        ],
        moveOnAfterSeconds: 120,
      },
    },
    response: CampaignView,
    responseExample: example,
    handle: async (services, call) => {
      const created = await createDraft(services, call);
      void call.reply.code(201);
      return created;
    },
  }),
  {
    ...reading,
    path: "/v1/campaigns",
    summary: "List campaigns with their messages",
    description: "Lists the campaigns of the account, newest first. A test key sees those of test keys.",
    query: {
      state: { ...choiceParameter(CAMPAIGN_STATES, "Only campaigns in this state."), example: "running" },
      ...pageParameters(EXAMPLE_ID),
    },
    response: Type.Object({
      data: Type.Array(CampaignView, { description: "Campaigns on this page." }),
      nextCursor: nullable(Type.String(), "Cursor of the next page; null on the last page."),
    }),
    responseExample: { data: [running], nextCursor: null },
    handle: async ({ store }, { query, caller }) => {
      const faults: Fault[] = [];
      const state = CAMPAIGN_STATES.find((known) => known === query.state);
      if (query.state !== undefined && !state)
        faults.push({ parameter: "state", message: `state is one of ${CAMPAIGN_STATES.join(", ")}.` });
      const limit = readLimit(query, faults);
      if (query.cursor !== undefined && !isUuid(query.cursor))
        faults.push({ parameter: "cursor", message: "cursor is the nextCursor of an earlier response." });
      refuseFaults(faults);
      const filter = { ...(seesTestsOnly(caller) && { test: true as const }), ...(state && { state }) };
      const { rows, next } = await store.listCampaigns(caller.account.id, filter, query.cursor ?? null, limit);
      return { data: rows.map(viewOf), nextCursor: next };
    },
  },
  {
    ...reading,
    ...ofOne,
    path: "/v1/campaigns/:id",
    summary: "Get a campaign with its message",
    description: "Returns a campaign with its state and progress.",
    response: CampaignView,
    responseExample: running,
    handle: async (services, call) => viewOf(await findCampaign(services, call)),
  },
  keyedRoute({
    ...changing,
    ...ofOne,
    method: "PATCH",
    path: "/v1/campaigns/:id",
    summary: "Update a draft",
    description: "Changes the given fields of a draft; null removes an optional one.",
    problems: ["RECORD_NOT_FOUND", "CAMPAIGN_STATE", "NAME_TAKEN"],
    body: CampaignChange,
    requestExamples: { throttle: { throttle: 10_000, window: null } },
    response: CampaignView,
    responseExample: { ...example, throttle: 10_000, window: null },
    handle: changeDraft,
  }),
  keyedRoute({
    ...acting,
    path: "/v1/campaigns/:id/schedule",
    summary: "Schedule a campaign",
    description:
      "Starts a draft at `scheduledAt`, of the body or else of the draft. A scheduled campaign gets another time. The audience must be ready, and the message valid for its first recipient.",
    problems: STARTING,
    body: ScheduleBody,
    requestExamples: { time: { scheduledAt: "2026-01-31T18:00:00+05:30" } },
    response: CampaignView,
    responseExample: { ...example, state: "scheduled", scheduledAt: 1769862600000 },
    handle: schedule,
  }),
  keyedRoute({
    ...changing,
    ...ofOne,
    method: "POST",
    audit: false,
    path: "/v1/campaigns/:id/preview",
    summary: "Preview a campaign",
    description:
      "Shows what the first recipients of the audience would get: the finished texts on each channel, the price, what every policy says, and the routes. Nothing is sent, stored, learned or counted.",
    problems: STARTING.filter((problem) => problem !== "CAMPAIGN_STATE"),
    body: PreviewBody,
    requestExamples: { several: { limit: 20 } },
    response: CampaignPreview,
    responseExample: previewExample,
    handle: previewCampaign,
  }),
  {
    ...acting,
    path: "/v1/campaigns/:id/start",
    summary: "Start a campaign",
    description:
      "Starts a draft or a scheduled campaign now. The audience must be ready, and the message valid for its first recipient. Outside its window, it begins when the window opens.",
    problems: STARTING,
    responseExample: { ...running, accepted: 0 },
    handle: async (services, call) => {
      const campaign = await findCampaign(services, call);
      refuseMissingScopes(call, campaign.message.ways);
      await startCampaign(controlDeps(services), campaign, call.caller.account, null);
      return viewOf(await findCampaign(services, call));
    },
  },
  {
    ...acting,
    path: "/v1/campaigns/:id/pause",
    summary: "Pause a running campaign",
    description:
      "Stops feeding recipients and holds the messages that no carrier has yet. Once the response arrives, no node sends any of them. Of a test campaign, messages that were accepted are still sent.",
    responseExample: { ...running, state: "paused" },
    handle: act(pauseCampaign),
  },
  {
    ...acting,
    path: "/v1/campaigns/:id/resume",
    summary: "Resume a paused campaign",
    description: "Releases the held messages and continues with the next recipient.",
    problems: ["RECORD_NOT_FOUND", "CAMPAIGN_STATE", "CAMPAIGN_CANCELLED"],
    responseExample: running,
    handle: async (services, call) => {
      const campaign = await findCampaign(services, call);
      refuseMissingScopes(call, campaign.message.ways);
      await resumeCampaign(controlDeps(services), campaign);
      return viewOf(await findCampaign(services, call));
    },
  },
  {
    ...acting,
    path: "/v1/campaigns/:id/cancel",
    summary: "Stop a campaign for good",
    description:
      "Stops feeding recipients and cancels the messages that no carrier has yet. A cancelled campaign can only be duplicated.",
    responseExample: { ...running, state: "cancelled", endedAt: 1767225900000 },
    handle: act(cancelCampaign),
  },
  {
    ...acting,
    path: "/v1/campaigns/:id/duplicate",
    summary: "Duplicate a campaign",
    description: "Creates a draft with the same fields under the next free name, such as `autumn sale 2`.",
    status: 201,
    problems: ["RECORD_NOT_FOUND", "NAME_TAKEN", "TOO_MANY_CAMPAIGNS"],
    responseExample: { ...example, name: "autumn sale 2" },
    handle: async (services, call) => {
      const made = await duplicateCampaign(services, call);
      void call.reply.code(201);
      return made;
    },
  },
  {
    ...reading,
    ...ofOne,
    path: "/v1/campaigns/:id/report",
    summary: "Get the report of a campaign",
    description:
      "The results of a campaign: its messages over time, by carrier and by failure reason, clicks on its short links and opt-outs. `accepted`, `skipped`, `clicks` and `optedOut` are of this campaign, the other counts of all messages under its name; `series`, `carriers` and `failures` leave out those of test keys, and `counts` and `states` do not. All counts are kept, so a report takes the same time at any size. `series`, `carriers` and `failures` follow within seconds.",
    response: CampaignReport,
    responseExample: reportExample,
    handle: reportOf,
  },
];
