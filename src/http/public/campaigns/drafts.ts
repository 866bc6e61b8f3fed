import { stateProblem } from "../../../campaigns/control.ts";
import { messageFaults } from "../../../campaigns/message-faults.ts";
import { isUuid, newId } from "../../../lib/ids.ts";
import { parseIsoTime } from "../../../lib/iso-time.ts";
import type { Infer } from "../../../lib/schema.ts";
import type { Campaign, CampaignMessage } from "../../../model/campaign.ts";
import { Problem, refuseFaults, type Fault } from "../../../model/problem.ts";
import { refuseMissingScope } from "../../auth/authenticate.ts";
import { seesTestsOnly } from "../../auth/test-mode.ts";
import type { AuthenticCall, Services, WithBody } from "../../route.ts";
import { NAME_MAX, TIME_RULE, type CampaignChange, type NewCampaign } from "./body.ts";
import { findCampaign, viewOf } from "./view.ts";

/** Others may take the next free name at the same time. */
const DUPLICATE_TRIES = 5;
const AHEAD_MAX_MS = 30 * 86_400_000;
const MOVE_ON_SECONDS = 60;

/** The fields of a campaign that a request sets; absent ones stay. */
type Given = Infer<typeof CampaignChange>;
type Draft = Pick<Campaign, "name" | "message" | "audienceId" | "throttle" | "window" | "scheduledAt">;

const pick = <T>(value: T | undefined, other: T): T => (value === undefined ? other : value);

const merge = (before: Draft, given: Given): Draft => ({
  name: pick(given.name, before.name),
  message: mergeMessage(before.message, given),
  audienceId: pick(given.audienceId, before.audienceId),
  throttle: pick(given.throttle, before.throttle),
  window: pick(given.window, before.window),
  scheduledAt: given.scheduledAt === undefined ? before.scheduledAt : timeOf(given.scheduledAt),
});

function mergeMessage(before: CampaignMessage, given: Given): CampaignMessage {
  const ways = pick(given.ways, before.ways);
  const wait = pick(given.moveOnAfterSeconds, before.moveOnAfterSeconds) ?? MOVE_ON_SECONDS;
  // The sender of ways is not that of a text.
  const sender = before.ways === null ? before.sender : "";
  return {
    type: pick(given.type, before.type),
    sender: ways === null ? pick(given.sender, sender) : senderOf(ways[0]),
    text: pick(given.text, before.text),
    templateId: pick(given.templateId, before.templateId),
    custom: given.custom === undefined ? before.custom : (given.custom?.map(String) ?? null),
    targets: given.shortenUrlData === undefined ? before.targets : targetsOf(given.shortenUrlData),
    ways,
    moveOnAfterSeconds: ways === null ? null : wait,
  };
}

function senderOf(way: Readonly<Record<string, unknown>> = {}): string {
  const sender = way.botId ?? way.from ?? way.sender;
  return typeof sender === "string" ? sender : "";
}

const targetsOf = (data: NonNullable<Given["shortenUrlData"]> | null): readonly string[] | null =>
  data?.shortenUrl ? (data.targetUrl ?? []).map((target) => new URL(target).href) : null;

export const timeOf = (written: string | number | null): number | null =>
  typeof written === "string" ? parseIsoTime(written) : written;

export function timeFaults(time: number | null, now: number): Fault[] {
  const isRight = time === null || (time > now && time <= now + AHEAD_MAX_MS);
  return isRight ? [] : [{ parameter: "scheduledAt", message: TIME_RULE }];
}

/** Faults of given fields that the message has no use for, so that none is dropped in silence. */
function unusedFaults(
  { channel, sender, moveOnAfterSeconds }: Given & { channel?: string },
  message: CampaignMessage,
): Fault[] {
  if (message.ways === null)
    return typeof moveOnAfterSeconds === "number"
      ? [{ parameter: "moveOnAfterSeconds", message: "Only ways move on: leave it out, or give ways." }]
      : [];
  const [first] = message.ways;
  return [
    ...(channel === undefined || channel === first?.channel
      ? []
      : [{ parameter: "channel", message: "With ways, each has its own channel: leave channel out." }]),
    ...(sender === undefined || sender === message.sender
      ? []
      : [{ parameter: "sender", message: "With ways, each has its own sender: leave sender out." }]),
  ];
}

/**
 * Faults of a draft that its schema cannot find. A live campaign takes no audience of test keys, because a test key could change
 * its recipients.
 */
async function refuseDraft(
  { store, catalog, clock, smsRules }: Services,
  { accountId, test }: Pick<Campaign, "accountId" | "test">,
  draft: Draft,
  given: Given & { channel?: string },
  changed: { name: boolean; scheduledAt: boolean },
): Promise<void> {
  const faults = changed.scheduledAt ? timeFaults(draft.scheduledAt, clock.now()) : [];
  faults.push(...unusedFaults(given, draft.message));
  const found = isUuid(draft.audienceId) ? await store.findAudience({ accountId, id: draft.audienceId }) : null;
  const audience = found?.test === test ? found : null;
  if (!audience) {
    const whose = test ? "of test keys" : "of live keys or users";
    const message = `There is no audience ${whose} with this id: see GET /v1/audiences.`;
    faults.push({ parameter: "audienceId", message });
  }
  faults.push(...messageFaults(draft.message, audience?.layout ?? null, { limits: smsRules, now: clock.now() }));
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
  optedOut: 0,
});

/** Creates a draft. */
export async function createDraft(
  services: Services,
  call: WithBody<AuthenticCall, typeof NewCampaign>,
): Promise<object> {
  const { store, clock } = services;
  const { body, caller } = call;
  refuseMissingScopes(call, body.ways);
  const empty: CampaignMessage = {
    type: body.type,
    sender: "",
    text: null,
    templateId: null,
    custom: null,
    targets: null,
    ways: null,
    moveOnAfterSeconds: null,
  };
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
  await refuseDraft(services, campaign, draft, body, { name: true, scheduledAt: true });
  if (!(await store.addCampaign(campaign))) throw nameTaken();
  return viewOf(campaign);
}

/** Changes the given fields of a draft. */
export async function changeDraft(
  services: Services,
  call: WithBody<AuthenticCall, typeof CampaignChange>,
): Promise<object> {
  const { store, clock } = services;
  const campaign = await findCampaign(services, call);
  if (campaign.state !== "draft") throw stateProblem(campaign.state);
  const { body } = call;
  const draft = merge(campaign, body);
  refuseMissingScopes(call, draft.message.ways);
  const changed = { name: draft.name !== campaign.name, scheduledAt: body.scheduledAt !== undefined };
  await refuseDraft(services, campaign, draft, body, changed);
  const result = await store.changeDraft(campaign, draft, clock.now());
  if (result === "name taken") throw nameTaken();
  if (result === "outdated") {
    const current = await findCampaign(services, call);
    if (current.state !== "draft") throw stateProblem(current.state);
    throw new Problem("CAMPAIGN_STATE", { message: "The draft was changed at the same time: read it and retry." });
  }
  return viewOf(await findCampaign(services, call));
}

/** A draft with the same message under the next free name. A time in the past is left out. */
export async function duplicateCampaign(services: Services, call: AuthenticCall): Promise<object> {
  const { store, catalog, clock } = services;
  const campaign = await findCampaign(services, call);
  const { accountId, test } = campaign;
  refuseMissingScopes(call, campaign.message.ways);
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
    if (await store.addCampaign(made)) return viewOf(made);
  }
  throw nameTaken();
}

/** A key must not reach by a campaign what it may not send directly. */
export function refuseMissingScopes(
  { caller }: Pick<AuthenticCall, "caller">,
  ways: CampaignMessage["ways"] = null,
): void {
  for (const { channel } of ways ?? []) refuseMissingScope(caller.key, channel);
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
