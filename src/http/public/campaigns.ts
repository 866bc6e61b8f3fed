import {
  cancelCampaign,
  pauseCampaign,
  resumeCampaign,
  startCampaign,
  stateProblem,
  type CampaignControlDeps,
} from "../../campaigns/control.ts";
import { messageFaults } from "../../campaigns/message.ts";
import { sender, templateId, values } from "../../channels/sms/body.ts";
import { isUuid, newId } from "../../lib/ids.ts";
import { ISO_TIME, parseIsoTime } from "../../lib/iso-time.ts";
import { nullable, Type, type Infer } from "../../lib/schema.ts";
import { isPlainText, isShowable } from "../../lib/text.ts";
import { findTimeZone } from "../../lib/time-zone.ts";
import {
  CAMPAIGN_STATES,
  RECIPIENT_ZONE,
  CAMPAIGN_TYPES,
  SKIP_CODES,
  type Campaign,
  type CampaignMessage,
  type SendWindow,
} from "../../model/campaign.ts";
import { CUSTOMER_STATUSES, customerStatus, type State } from "../../model/message.ts";
import { Problem, refuseFaults, type Fault } from "../../model/problem.ts";
import { seesTestsOnly } from "../auth/test-mode.ts";
import { readLimit } from "../pagination.ts";
import { choiceParameter, pageParameters } from "../parameters.ts";
import { keyedRoute, type AuthenticCall, type KeyedRoute, type Services, type WithBody } from "../route.ts";

const EXAMPLE_ID = "0198f3a2-7c40-7d1e-9a51-3f0c8e2b6d48";
const EXAMPLE_AUDIENCE = "0198f3a2-7c40-7d1e-9a51-3f0c8e2b6d47";
const NAME_MAX = 100;
const THROTTLE_MAX = 10_000_000;
/** Others may take the next free name at the same time. */
const DUPLICATE_TRIES = 5;
const AHEAD_MAX_MS = 30 * 86_400_000;

function view(campaign: Campaign): object {
  const { id, name, test, state, message, audienceId, throttle, window, scheduledAt } = campaign;
  const { accepted, skipped, failure, createdAt, startedAt, endedAt } = campaign;
  return {
    id,
    name,
    test,
    channel: "sms",
    state,
    ...message,
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

type Finding = Pick<AuthenticCall, "params" | "caller">;

async function find({ store }: Pick<Services, "store">, { params, caller }: Finding): Promise<Campaign> {
  const { id = "" } = params;
  const campaign = isUuid(id) ? await store.findCampaign({ accountId: caller.account.id, id }) : null;
  if (!campaign || (seesTestsOnly(caller) && !campaign.test))
    throw new Problem("RECORD_NOT_FOUND", { message: "There is no campaign with this id." });
  return campaign;
}

const controlDeps = ({ store, clock, acceptDeps, prepareDeps, campaignDeps }: Services): CampaignControlDeps => ({
  ...acceptDeps,
  store,
  clock,
  prepareDeps,
  campaignDeps,
});

/** The fields of a campaign that a request sets; absent ones stay. */
type Given = Infer<typeof CampaignChange>;
type Draft = Pick<Campaign, "name" | "message" | "audienceId" | "throttle" | "window" | "scheduledAt">;

function merge(before: Draft, given: Given): Draft {
  const { message } = before;
  const pick = <T>(value: T | undefined, other: T): T => (value === undefined ? other : value);
  return {
    name: pick(given.name, before.name),
    message: {
      type: pick(given.type, message.type),
      sender: pick(given.sender, message.sender),
      text: pick(given.text, message.text),
      templateId: pick(given.templateId, message.templateId),
      custom: given.custom === undefined ? message.custom : (given.custom?.map(String) ?? null),
    },
    audienceId: pick(given.audienceId, before.audienceId),
    throttle: pick(given.throttle, before.throttle),
    window: pick(given.window, before.window),
    scheduledAt: given.scheduledAt === undefined ? before.scheduledAt : timeOf(given.scheduledAt),
  };
}

const timeOf = (written: string | number | null): number | null =>
  typeof written === "string" ? parseIsoTime(written) : written;

function timeFaults(time: number | null, now: number): Fault[] {
  const isRight = time === null || (time > now && time <= now + AHEAD_MAX_MS);
  return isRight ? [] : [{ parameter: "scheduledAt", message: TIME_RULE }];
}

/**
 * Faults of a draft that its schema cannot find. A live campaign takes no audience of test keys, because a test key could change
 * its recipients.
 */
async function refuseDraft(
  { store, catalog, clock }: Services,
  { accountId, test }: Pick<Campaign, "accountId" | "test">,
  draft: Draft,
  changed: { name: boolean; scheduledAt: boolean },
): Promise<void> {
  const faults = changed.scheduledAt ? timeFaults(draft.scheduledAt, clock.now()) : [];
  const found = isUuid(draft.audienceId) ? await store.findAudience({ accountId, id: draft.audienceId }) : null;
  const audience = found?.test === test ? found : null;
  if (!audience) {
    const whose = test ? "of test keys" : "of live keys or users";
    const message = `There is no audience ${whose} with this id: see GET /v1/audiences.`;
    faults.push({ parameter: "audienceId", message });
  }
  faults.push(...messageFaults(draft.message, audience?.layout ?? null));
  if (changed.name && !test) {
    await catalog.refresh();
    if (catalog.of(accountId).named("campaign").has(draft.name))
      faults.push({ parameter: "name", message: "Messages were sent under this campaign name: use another one." });
  }
  refuseFaults(faults);
}

const NAME_TAKEN = "There is a campaign with this name: use another one.";
const nameTaken = (): Problem =>
  new Problem("NAME_TAKEN", { message: NAME_TAKEN, faults: [{ parameter: "name", message: NAME_TAKEN }] });

const newCampaign = (draft: Draft, accountId: number, test: boolean, now: number): Campaign => ({
  ...draft,
  accountId,
  id: newId(now),
  test,
  state: "draft",
  position: 0,
  accepted: 0,
  skipped: 0,
  skips: { counts: {}, rows: [] },
  isFed: false,
  failure: null,
  nextAt: 0,
  createdAt: now,
  changedAt: now,
  startedAt: null,
  endedAt: null,
});

async function create(services: Services, call: WithBody<AuthenticCall, typeof NewCampaign>): Promise<object> {
  const { store, clock } = services;
  const { body, caller } = call;
  const empty: CampaignMessage = { type: body.type, sender: body.sender, text: null, templateId: null, custom: null };
  const draft = merge(
    {
      name: body.name,
      message: empty,
      audienceId: body.audienceId,
      throttle: null,
      window: null,
      scheduledAt: null,
    },
    body,
  );
  await refuseTooMany(services, caller.account.id);
  const campaign = newCampaign(draft, caller.account.id, seesTestsOnly(caller), clock.now());
  await refuseDraft(services, campaign, draft, { name: true, scheduledAt: true });
  if (!(await store.addCampaign(campaign))) throw nameTaken();
  return view(campaign);
}

async function change(services: Services, call: WithBody<AuthenticCall, typeof CampaignChange>): Promise<object> {
  const { store, clock } = services;
  const campaign = await find(services, call);
  if (campaign.state !== "draft") throw stateProblem(campaign.state);
  const { body } = call;
  const draft = merge(campaign, body);
  const changed = { name: draft.name !== campaign.name, scheduledAt: body.scheduledAt !== undefined };
  await refuseDraft(services, campaign, draft, changed);
  const result = await store.changeDraft(campaign, draft, clock.now());
  if (result === "name taken") throw nameTaken();
  if (result === "outdated") {
    const current = await find(services, call);
    if (current.state !== "draft") throw stateProblem(current.state);
    throw new Problem("CAMPAIGN_STATE", { message: "The draft was changed at the same time: read it and retry." });
  }
  return view(await find(services, call));
}

async function schedule(services: Services, call: WithBody<AuthenticCall, typeof ScheduleBody>): Promise<object> {
  const campaign = await find(services, call);
  const scheduledAt = call.body.scheduledAt === undefined ? campaign.scheduledAt : timeOf(call.body.scheduledAt);
  if (campaign.state !== "draft" && campaign.state !== "scheduled") throw stateProblem(campaign.state);
  if (scheduledAt === null)
    throw new Problem("INVALID_REQUEST", { faults: [{ parameter: "scheduledAt", message: TIME_RULE }] });
  refuseFaults(timeFaults(scheduledAt, services.clock.now()));
  await startCampaign(controlDeps(services), campaign, call.caller.account, scheduledAt);
  return view(await find(services, call));
}

const act =
  (action: (deps: CampaignControlDeps, campaign: Campaign) => Promise<void>): KeyedRoute["handle"] =>
  async (services, call) => {
    await action(controlDeps(services), await find(services, call));
    return view(await find(services, call));
  };

/** A draft with the same message under the next free name. A time in the past is left out. */
async function duplicate(services: Services, call: AuthenticCall): Promise<object> {
  const { store, catalog, clock } = services;
  const campaign = await find(services, call);
  const { accountId, test } = campaign;
  await catalog.refresh();
  const base = campaign.name
    .replace(/ \d{1,6}$/, "")
    .slice(0, NAME_MAX - 7)
    .toWellFormed()
    .trimEnd();
  const known = catalog.of(accountId).named("campaign");
  await refuseTooMany(services, accountId);
  for (let tries = 0; tries < DUPLICATE_TRIES; tries += 1) {
    const taken = new Set(await store.listCampaignNames(accountId, test, base));
    let copy = 2;
    while (taken.has(`${base} ${copy}`) || (!test && known.has(`${base} ${copy}`))) copy += 1;
    const now = clock.now();
    const scheduledAt = campaign.scheduledAt !== null && campaign.scheduledAt > now ? campaign.scheduledAt : null;
    const made = newCampaign({ ...draftOf(campaign), name: `${base} ${copy}`, scheduledAt }, accountId, test, now);
    if (await store.addCampaign(made)) return view(made);
  }
  throw nameTaken();
}

async function refuseTooMany(
  { store, audienceLimits: { campaignsMax } }: Pick<Services, "store" | "audienceLimits">,
  accountId: number,
): Promise<void> {
  if ((await store.countCampaignsOf(accountId)) >= campaignsMax) throw new Problem("TOO_MANY_CAMPAIGNS");
}

const draftOf = ({ name, message, audienceId, throttle, window, scheduledAt }: Campaign): Draft => ({
  name,
  message,
  audienceId,
  throttle,
  window,
  scheduledAt,
});

async function report(services: Services, call: AuthenticCall): Promise<object> {
  const { store } = services;
  const campaign = await find(services, call);
  const { accountId, id, name, test, state, accepted, skipped, skips, startedAt, endedAt } = campaign;
  const audience = await store.findAudience({ accountId, id: campaign.audienceId });
  const states =
    startedAt === null
      ? {}
      : test
        ? await store.countTestMessages(accountId, name)
        : ((await store.countCampaigns(accountId, [name])).get(name) ?? {});
  const counts: Record<string, number> = Object.fromEntries(CUSTOMER_STATUSES.map((status) => [status, 0]));
  for (const [each, count] of Object.entries(states)) {
    const status = customerStatus(each as State);
    counts[status] = (counts[status] ?? 0) + count;
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
    skippedRows: skips.rows.map(({ row, code }) => ({ row, code, message: SKIP_CODES[code] })),
    startedAt,
    endedAt,
  };
}

const NAME_RULE = `name is plain text of 1 to ${NAME_MAX} characters.`;
const nameField = Type.String({
  minLength: 1,
  maxLength: NAME_MAX,
  description: "Name of the campaign, unique in the account. It is the `campaignName` of its messages.",
  error: NAME_RULE,
  check: (name) => (name.trim() !== "" && name.length <= NAME_MAX && isPlainText(name) ? null : NAME_RULE),
});

const typeField = Type.Union([Type.Literal("TRANS"), Type.Literal("PROMO")], {
  description: "Route type. PROMO respects opt-outs and quiet hours.",
  error: `type is one of ${CAMPAIGN_TYPES.join(", ")}.`,
});

const TEXT_RULE = "The text is a non-empty string without half a character (a lone surrogate) or a NUL.";
const textField = Type.String({
  maxLength: 10_000,
  error: TEXT_RULE,
  check: (written) => (written.trim() !== "" && isShowable(written) ? null : TEXT_RULE),
});
const audienceField = Type.String({ description: "Id of the audience that gets it." });
const throttleField = Type.Integer({
  minimum: 1,
  maximum: THROTTLE_MAX,
  description: "Most messages in an hour, spread evenly.",
});

const TIME_OF_DAY = "A time of day is written as 09:00, from 00:00 to 23:59.";
const timeOfDay = (description: string) =>
  Type.String({
    description,
    error: TIME_OF_DAY,
    check: (time) => (/^([01]\d|2[0-3]):[0-5]\d$/.test(time) ? null : TIME_OF_DAY),
  });
const windowField = Type.Object(
  {
    from: timeOfDay("Begin, `HH:MM`."),
    to: timeOfDay("End, `HH:MM`. Before `from`, it is on the next day."),
    zone: Type.String({
      description: "Time zone, such as `Asia/Kolkata`, or `recipient` for each recipient's own time, by the number.",
      check: (zone) =>
        zone === RECIPIENT_ZONE || findTimeZone(zone)
          ? null
          : "zone is a time zone such as Asia/Kolkata or UTC, or recipient for each recipient's own time.",
    }),
  },
  {
    description:
      "Hours in which recipients are accepted. At its end, at most 2,000 accepted messages wait for their carrier. With the zone `recipient`, all are accepted, and messages wait until the window opens where their recipient is.",
    check: ({ from, to }: SendWindow) => (from === to ? "from and to of a window differ." : null),
  },
);

const TIME_RULE =
  "scheduledAt is a time within the next 30 days: epoch milliseconds, or like 2026-01-31T18:00:00Z with its zone.";
const timeField = Type.Union([Type.Integer(), Type.String({ examples: ["2026-01-31T18:00:00Z"] })], {
  description: "Start, within the next 30 days: epoch milliseconds, or ISO 8601 with its zone.",
  error: TIME_RULE,
  check: (time) => (typeof time === "number" || ISO_TIME.test(time) ? null : TIME_RULE),
});

const customField = values(
  "One value per variable of the template, in order, each with variables of the audience as placeholders.",
);
const templateField = templateId("Template to fill in with `custom`.");
const channelField = Type.Literal("sms", { description: "Channel.", error: "channel is sms." });

const optionalFields = {
  text: Type.Optional(
    nullable(
      textField,
      "Text with variables of the audience as placeholders, such as `{{first name}}`; null with a template.",
    ),
  ),
  templateId: Type.Optional(nullable(templateField, "Template to fill in with `custom`, instead of `text`.")),
  custom: Type.Optional(
    nullable(
      customField,
      "One value per variable of the template, in order, each with variables of the audience as placeholders.",
    ),
  ),
  throttle: Type.Optional(nullable(throttleField, "Most messages in an hour, spread evenly; null for no limit.")),
  window: Type.Optional(nullable(windowField, "Hours in which recipients are accepted; null for all.")),
  scheduledAt: Type.Optional(
    nullable(timeField, "Start, within the next 30 days: epoch milliseconds, or ISO 8601 with its zone."),
  ),
};

const NewCampaign = Type.Object({
  name: nameField,
  channel: Type.Default(channelField, "sms"),
  type: typeField,
  sender,
  audienceId: audienceField,
  ...optionalFields,
});

const CampaignChange = Type.Object({
  name: Type.Optional(nameField),
  type: Type.Optional(typeField),
  sender: Type.Optional(sender),
  audienceId: Type.Optional(audienceField),
  ...optionalFields,
});

const ScheduleBody = Type.Object({ scheduledAt: Type.Optional(timeField) });

const count = (description: string) => Type.Integer({ description });
const time = (description: string) => nullable(Type.Integer(), description);

const CampaignView = Type.Object(
  {
    id: Type.String({ description: "Campaign ID." }),
    name: Type.String({ description: "Its name, the `campaignName` of its messages." }),
    test: Type.Boolean({ description: "True if it was created with a test key: it goes to the simulator." }),
    channel: Type.Literal("sms", { description: "Channel." }),
    state: Type.Union(
      CAMPAIGN_STATES.map((state) => Type.Literal(state)),
      {
        description:
          "draft: it can be changed. scheduled: it starts at `scheduledAt`. running: recipients are fed, or messages wait to be sent. paused: `failure` has the reason if it paused by itself. finished: no message waits to be sent. cancelled: it was stopped for good.",
      },
    ),
    type: Type.String({ description: "TRANS or PROMO." }),
    sender: Type.String({ description: "Sender." }),
    text: nullable(Type.String(), "Text; null with a template."),
    templateId: nullable(Type.String(), "Template; null with a text."),
    custom: nullable(Type.Array(Type.String()), "Values of the template's variables; null with a text."),
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

const example = {
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

const CampaignReport = Type.Object(
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
    skippedRows: Type.Array(
      Type.Object({
        row: count("Row of the audience's file."),
        code: Type.Union(
          Object.keys(SKIP_CODES).map((code) => Type.Literal(code)),
          { description: "Reason." },
        ),
        message: Type.String({ description: "The same as text." }),
      }),
      { description: "The first 100 recipients without a message." },
    ),
    startedAt: time("Time of the start; null before."),
    endedAt: time("Time at which it finished or was cancelled; null before."),
  },
  { title: "CampaignReport" },
);

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
] as const;

export const campaignRoutes: readonly KeyedRoute[] = [
  keyedRoute({
    ...changing,
    method: "POST",
    path: "/v1/campaigns",
    summary: "Create a campaign",
    description:
      "Creates a draft: one message to every recipient of an audience. Then start it with `POST /v1/campaigns/{id}/start`, or schedule it.",
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
    },
    response: CampaignView,
    responseExample: example,
    handle: async (services, call) => {
      const created = await create(services, call);
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
      return { data: rows.map(view), nextCursor: next };
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
    handle: async (services, call) => view(await find(services, call)),
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
    handle: change,
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
  {
    ...acting,
    path: "/v1/campaigns/:id/start",
    summary: "Start a campaign",
    description:
      "Starts a draft or a scheduled campaign now. The audience must be ready, and the message valid for its first recipient. Outside its window, it begins when the window opens.",
    problems: STARTING,
    responseExample: { ...running, accepted: 0 },
    handle: async (services, call) => {
      await startCampaign(controlDeps(services), await find(services, call), call.caller.account, null);
      return view(await find(services, call));
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
    handle: act(resumeCampaign),
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
      const made = await duplicate(services, call);
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
      "Counts the recipients and messages of a campaign. `accepted` and `skipped` are of this campaign; `counts` and `states` of all messages under its name.",
    response: CampaignReport,
    responseExample: {
      id: EXAMPLE_ID,
      name: example.name,
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
    },
    handle: report,
  },
];
