import { Type } from "../../lib/schema.ts";
import { changeCampaign } from "../../messages/campaign.ts";
import type { CampaignContent, CatalogRecord } from "../../model/catalog.ts";
import { CUSTOMER_STATUSES, customerStatus, type State } from "../../model/message.ts";
import { Problem } from "../../model/problem.ts";
import { readLimit, refuseFaults } from "../page-query.ts";
import type { AuthenticCall, KeyedRoute, Services } from "../route.ts";

type Campaign = CatalogRecord<"campaign">;

async function campaignView(
  { store }: Services,
  { accountId, id, name, content, createdAt }: Campaign,
): Promise<object> {
  const states = await store.countCampaign(accountId, name);
  const counts: Record<string, number> = Object.fromEntries(CUSTOMER_STATUSES.map((status) => [status, 0]));
  for (const [state, count] of Object.entries(states)) {
    const status = customerStatus(state as State);
    counts[status] = (counts[status] ?? 0) + count;
  }
  const { status, pausedAt } = content;
  return { id, name, status, pausedAt, createdAt, counts, states };
}

function find({ catalog }: Services, { params, caller }: AuthenticCall): Campaign {
  const campaign = catalog.find(caller.account.id, "campaign", params.id ?? "");
  if (!campaign) throw new Problem("RECORD_NOT_FOUND");
  return campaign;
}

async function change(services: Services, call: AuthenticCall, status: CampaignContent["status"]): Promise<object> {
  const campaign = find(services, call);
  if (campaign.content.status === "cancelled" && status !== "cancelled")
    throw new Problem("NOT_CANCELLABLE", { message: "The campaign was cancelled; it cannot be taken up again." });
  return campaignView(services, await changeCampaign(services.campaigning, campaign, status));
}

const CampaignView = Type.Object(
  {
    id: Type.String({ description: "Names the campaign in paths." }),
    name: Type.String({ description: "The `campaignName` of its messages." }),
    status: Type.String({ description: "running, paused or cancelled." }),
    pausedAt: Type.Union([Type.Integer(), Type.Null()], { description: "When it was paused, in epoch milliseconds." }),
    createdAt: Type.Integer({ description: "When its first message came." }),
    counts: Type.Record(Type.Integer(), {
      description: "Messages by status: Pending, Delivered, Failed.",
    }),
    states: Type.Record(Type.Integer(), {
      description: "Messages by the finer state behind the status.",
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
const common = { family: "plain", scope: "manage", group: "Campaigns" } as const;
const ofOne = {
  params: { id: { meaning: "The campaign's `id`.", example: example.id } },
  problems: ["RECORD_NOT_FOUND"],
  response: CampaignView,
} as const;

export const listCampaigns: KeyedRoute = {
  ...common,
  method: "GET",
  path: "/api/campaigns",
  summary: "List campaigns",
  description: "Every `campaignName` that messages were sent under, by name, with what became of its messages.",
  query: { cursor: "The nextCursor of the page before.", limit: "1 to 200, 50 unless given." },
  response: Type.Object({
    data: Type.Array(CampaignView, { description: "One page of campaigns." }),
    nextCursor: Type.Union([Type.String(), Type.Null()], {
      description: "The cursor of the next page; null on the last.",
    }),
  }),
  responseExample: { data: [example], nextCursor: null },
  handle: async (services, { query, caller }) => {
    const faults: Parameters<typeof readLimit>[1] = [];
    const limit = readLimit(query, faults);
    refuseFaults(faults);
    const names = [...services.catalog.of(caller.account.id).named("campaign").values()].toSorted((a, b) =>
      a.name < b.name ? -1 : 1,
    );
    const rest = query.cursor === undefined ? names : names.filter(({ name }) => name > (query.cursor ?? ""));
    const page = rest.slice(0, limit);
    const data = await Promise.all(page.map((campaign) => campaignView(services, campaign)));
    return { data, nextCursor: rest.length > limit ? (page.at(-1)?.name ?? null) : null };
  },
};

export const getCampaign: KeyedRoute = {
  ...common,
  ...ofOne,
  method: "GET",
  path: "/api/campaigns/:id",
  summary: "Read a campaign",
  description: "A campaign with what became of its messages.",
  responseExample: example,
  handle: (services, call) => campaignView(services, find(services, call)),
};

export const pauseCampaign: KeyedRoute = {
  ...common,
  ...ofOne,
  method: "POST",
  path: "/api/campaigns/:id/pause",
  summary: "Pause a campaign",
  description:
    "Holds every message of the campaign that no carrier has yet, also those that are sent to it later. The pause does not count towards their validity.",
  problems: ["RECORD_NOT_FOUND", "NOT_CANCELLABLE"],
  responseExample: { ...example, status: "paused", pausedAt: 1767225600000 },
  handle: (services, call) => change(services, call, "paused"),
};

export const resumeCampaign: KeyedRoute = {
  ...common,
  ...ofOne,
  method: "POST",
  path: "/api/campaigns/:id/resume",
  summary: "Resume a campaign",
  description: "Lets the messages of a paused campaign go on.",
  problems: ["RECORD_NOT_FOUND", "NOT_CANCELLABLE"],
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
    "Cancels every message of the campaign that no carrier has yet. Nothing can be sent under its name any more.",
  responseExample: { ...example, status: "cancelled" },
  handle: (services, call) => change(services, call, "cancelled"),
};
