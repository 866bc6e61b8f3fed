import { Type } from "../../lib/schema.ts";
import { changeCampaign } from "../../pipeline/campaigns.ts";
import type { CampaignContent, CatalogRecord } from "../../model/catalog.ts";
import { CUSTOMER_STATUSES, customerStatus, type State } from "../../model/message.ts";
import { Problem, refuseFaults } from "../../model/problem.ts";
import type { StateCounts } from "../../store/store.ts";
import { readLimit } from "../pagination.ts";
import { pageParameters, textParameter } from "../parameters.ts";
import type { AuthenticCall, KeyedRoute, Services } from "../route.ts";

type Campaign = CatalogRecord<"campaign">;

/** The campaigns of one account with their message counts. */
async function campaignViews({ store }: Services, campaigns: readonly Campaign[]): Promise<object[]> {
  const [first] = campaigns;
  if (!first) return [];
  const names = campaigns.map(({ name }) => name);
  const counted = await store.countCampaigns(first.accountId, names);
  return campaigns.map((campaign) => viewOf(campaign, counted.get(campaign.name) ?? {}));
}

const campaignView = async (services: Services, campaign: Campaign): Promise<object> =>
  (await campaignViews(services, [campaign]))[0] ?? {};

function viewOf({ id, name, content, createdAt }: Campaign, states: StateCounts): object {
  const counts: Record<string, number> = Object.fromEntries(CUSTOMER_STATUSES.map((status) => [status, 0]));
  for (const [state, count] of Object.entries(states)) {
    const status = customerStatus(state as State);
    counts[status] = (counts[status] ?? 0) + count;
  }
  const { status, pausedAt } = content;
  return { id, name, status, pausedAt, createdAt, counts, states };
}

/** Refreshes the catalog first: another node may just have learned or changed the campaign. */
async function find({ catalog }: Services, { params, caller }: AuthenticCall): Promise<Campaign> {
  await catalog.refresh();
  const campaign = catalog.find(caller.account.id, "campaign", params.id ?? "");
  if (!campaign) throw new Problem("RECORD_NOT_FOUND");
  return campaign;
}

async function change(services: Services, call: AuthenticCall, status: CampaignContent["status"]): Promise<object> {
  const campaign = await find(services, call);
  const changed = await changeCampaign(services.campaignDeps, campaign, status);
  // The campaign of an audience stops and continues with the messages under its name.
  await services.store.followCampaignName(campaign.accountId, campaign.name, status, services.clock.now());
  return campaignView(services, changed);
}

const CampaignView = Type.Object(
  {
    id: Type.String({ description: "Campaign ID." }),
    name: Type.String({ description: "`campaignName` of its messages." }),
    status: Type.String({ description: "running, paused or cancelled." }),
    pausedAt: Type.Union([Type.Integer(), Type.Null()], { description: "Time of the pause, in epoch milliseconds." }),
    createdAt: Type.Integer({ description: "Time of its first message, in epoch milliseconds." }),
    counts: Type.Record(Type.Integer(), {
      description: "Message counts by status: Pending, Delivered, Failed.",
    }),
    states: Type.Record(Type.Integer(), {
      description: "Message counts by internal state.",
    }),
  },
  { title: "Campaign" },
);

const example = {
  id: "0198f3a2-7c40-7d1e-9a51-3f0c8e2b6d47",
  name: "spring sale",
  status: "running",
  pausedAt: null,
  createdAt: 1767225600000,
  counts: { Pending: 12, Delivered: 980, Failed: 8 },
  states: { accepted: 12, delivered: 980, undelivered: 8 },
};
const common = { family: "plain", scope: "manage", testKeys: null, group: "Campaigns" } as const;
const ofOne = {
  params: { id: { meaning: "Campaign ID.", example: example.id } },
  problems: ["RECORD_NOT_FOUND"],
  response: CampaignView,
} as const;

export const listCampaigns: KeyedRoute = {
  ...common,
  method: "GET",
  path: "/api/campaigns",
  summary: "List campaigns",
  description: "Lists every `campaignName` in use, sorted by name, with message counts.",
  query: {
    q: textParameter("Campaigns whose name contains this, in capitals or not.", "sale"),
    ...pageParameters("autumn"),
  },
  response: Type.Object({
    data: Type.Array(CampaignView, { description: "Campaigns on this page." }),
    nextCursor: Type.Union([Type.String(), Type.Null()], {
      description: "Cursor of the next page; null on the last page.",
    }),
  }),
  responseExample: { data: [example], nextCursor: null },
  handle: async (services, { query, caller }) => {
    const faults: Parameters<typeof readLimit>[1] = [];
    const limit = readLimit(query, faults);
    refuseFaults(faults);
    await services.catalog.refresh();
    const wanted = query.q?.toLowerCase() ?? "";
    const names = [...services.catalog.of(caller.account.id).named("campaign").values()]
      .filter(({ name }) => wanted === "" || name.toLowerCase().includes(wanted))
      .toSorted((a, b) => (a.name < b.name ? -1 : 1));
    const rest = query.cursor === undefined ? names : names.filter(({ name }) => name > (query.cursor ?? ""));
    const page = rest.slice(0, limit);
    const data = await campaignViews(services, page);
    return { data, nextCursor: rest.length > limit ? (page.at(-1)?.name ?? null) : null };
  },
};

export const getCampaign: KeyedRoute = {
  ...common,
  ...ofOne,
  method: "GET",
  path: "/api/campaigns/:id",
  summary: "Get a campaign",
  description: "Returns one campaign with its message counts.",
  responseExample: example,
  handle: async (services, call) => campaignView(services, await find(services, call)),
};

export const pauseCampaign: KeyedRoute = {
  ...common,
  ...ofOne,
  method: "POST",
  path: "/api/campaigns/:id/pause",
  summary: "Pause a campaign",
  description:
    "Holds all messages of the campaign that no carrier has yet, including messages accepted later. Once the response arrives, no node sends any of them; with several nodes the response takes about a second. The pause does not count towards message validity.",
  problems: ["RECORD_NOT_FOUND", "CAMPAIGN_CANCELLED"],
  responseExample: { ...example, status: "paused", pausedAt: 1767225600000 },
  handle: (services, call) => change(services, call, "paused"),
};

export const resumeCampaign: KeyedRoute = {
  ...common,
  ...ofOne,
  method: "POST",
  path: "/api/campaigns/:id/resume",
  summary: "Resume a campaign",
  description: "Releases the held messages of a paused campaign.",
  problems: ["RECORD_NOT_FOUND", "CAMPAIGN_CANCELLED"],
  responseExample: example,
  handle: (services, call) => change(services, call, "running"),
};

export const cancelCampaign: KeyedRoute = {
  ...common,
  ...ofOne,
  method: "POST",
  path: "/api/campaigns/:id/cancel",
  summary: "Cancel a campaign",
  description:
    "Cancels all messages of the campaign that no carrier has yet. Once the response arrives, no node sends any of them; with several nodes the response takes about a second. The campaign name cannot be used again.",
  responseExample: { ...example, status: "cancelled" },
  handle: (services, call) => change(services, call, "cancelled"),
};
