import type { Catalog } from "../catalog/catalog.ts";
import { planStatus, planTemplates, type TemplateList, type TemplatePlan } from "../catalog/plan-templates.ts";
import type { Carrier, Carriers } from "../carriers/carrier.ts";
import type { Clock } from "../lib/clock.ts";
import { newId } from "../lib/ids.ts";
import type { Log } from "../lib/log.ts";
import { carrierNameOf, type CatalogRecord } from "../model/catalog.ts";
import type { PulledTemplates, TemplateNews, UnreadTemplate } from "../model/chatapp.ts";
import { Problem } from "../model/problem.ts";
import type { CatalogStore } from "../store/catalog-store.ts";
import type { RecordStore } from "../store/record-store.ts";
import type { Membership } from "../work/membership.ts";

export interface KeepTemplatesNeeds {
  store: Pick<CatalogStore, "changeSetUp"> & Pick<RecordStore, "revision">;
  catalog: Catalog;
  clock: Clock;
}

export interface KeptTemplates {
  made: readonly string[];
  changed: readonly string[];
  /** What the platform has and requests could not be made for. */
  unread: readonly UnreadTemplate[];
}

/** Lines that are asked at the same time: a slow platform holds up the others of its account and nobody else. */
const AT_ONCE = 4;

type CarrierRecord = CatalogRecord<"carrier">;
type Pulled = Extract<PulledTemplates, { kind: "pulled" }>;

/** Brings an account's records of templates to what the platform behind a carrier says of them. */
export async function keepTemplates(
  needs: KeepTemplatesNeeds,
  accountId: number,
  carrier: Carrier,
): Promise<KeptTemplates> {
  const { templates, unread } = await pull(carrier);
  const lines = needs.catalog.of(accountId).named("carrier");
  const record = lines.get(carrierNameOf(carrier.name));
  const [list] = record ? listsOf(record, templates) : [];
  // The line was changed while it was asked.
  if (!list) return { made: [], changed: [], unread };
  const others = [...lines.values()].flatMap((each) => listsOf(each, null)).filter(isBeside(list));
  const { make, change } = await carryOut(needs, accountId, (records) => planTemplates(records, list, others));
  const nameOf = ({ name }: { name: string }): string => name;
  return { made: make.map(nameOf), changed: change.map(nameOf), unread };
}

async function pull(carrier: Carrier): Promise<Pulled> {
  if (!carrier.templates)
    throw new Problem("INVALID_REQUEST", {
      message: "The platform behind this carrier keeps no templates: they are made at /api/templates.",
    });
  const pulled = await carrier.templates();
  if (pulled.kind === "failed") throw new Problem("INVALID_REQUEST", { message: `${pulled.description}.` });
  return pulled;
}

const businessAccountOf = ({ content }: CarrierRecord): string | null => content.whatsapp?.businessAccountId ?? null;

function listsOf(record: CarrierRecord, templates: TemplateList["templates"]): TemplateList[] {
  const businessAccountId = businessAccountOf(record);
  return businessAccountId === null ? [] : [{ businessAccountId, templates }];
}

/** Lines of the same business account say the same. */
const isBeside =
  ({ businessAccountId }: TemplateList) =>
  (other: TemplateList): boolean =>
    other.businessAccountId !== businessAccountId;

export interface KeepAllTemplatesNeeds extends KeepTemplatesNeeds {
  carriers: Carriers;
  membership: Pick<Membership, "sends" | "rank">;
  log: Log;
}

/** The same for all carriers of the service, as far as their platforms answer. One node does it for all of them. */
export async function keepAllTemplates(needs: KeepAllTemplatesNeeds): Promise<void> {
  const { catalog, membership } = needs;
  if (!membership.sends || membership.rank > 0) return;
  const records = catalog.all("carrier").filter((record) => businessAccountOf(record) !== null);
  const accounts = [...Map.groupBy(records, ({ accountId }) => accountId)];
  const work = async (): Promise<void> => {
    for (let next = accounts.shift(); next; next = accounts.shift()) await keepAccount(needs, ...next);
  };
  const ended = await Promise.allSettled(Array.from({ length: AT_ONCE }, work));
  for (const each of ended) if (each.status === "rejected") throw each.reason;
}

/** All lists first: what one of them names may be another's. */
async function keepAccount(
  needs: KeepAllTemplatesNeeds,
  accountId: number,
  records: readonly CarrierRecord[],
): Promise<void> {
  const lists: TemplateList[] = [];
  for (const record of records) {
    const carrier = needs.carriers.find(accountId, record.name);
    lists.push(...listsOf(record, carrier?.templates ? await listed(needs, carrier) : null));
  }
  for (const list of lists)
    await carryOut(needs, accountId, (known) => planTemplates(known, list, lists.filter(isBeside(list))));
}

async function listed({ log }: KeepAllTemplatesNeeds, carrier: Carrier): Promise<TemplateList["templates"]> {
  try {
    return (await pull(carrier)).templates;
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    log.warn({ carrier: carrier.name, reason: error.message }, "templates were not brought");
    return null;
  }
}

/** Takes up what a platform has just decided about a template. */
export async function keepStatus(needs: KeepTemplatesNeeds, accountId: number, news: TemplateNews): Promise<void> {
  await carryOut(needs, accountId, (records) => {
    const change = planStatus(records, news);
    return { make: [], change: change ? [change] : [] };
  });
}

type Plan = (records: Parameters<typeof planTemplates>[0]) => TemplatePlan;

/** All of a plan or nothing: it is made anew when somebody else was quicker. */
function carryOut({ store, catalog, clock }: KeepTemplatesNeeds, accountId: number, plan: Plan): Promise<TemplatePlan> {
  return catalog.change(async (revision) => {
    const known = catalog.of(accountId).named("chatTemplate");
    const planned = plan([...known.values()]);
    const now = clock.now();
    const put = [...planned.make, ...planned.change].map(({ name, content }): CatalogRecord<"chatTemplate"> => ({
      accountId,
      kind: "chatTemplate",
      id: newId(now),
      name,
      createdAt: now,
      ...known.get(name),
      origin: "authored",
      content,
      updatedAt: now,
    }));
    const from = { records: await store.revision("records"), catalog: revision };
    return (await store.changeSetUp({ accountId, from, put, remove: [], settings: {} })) ? planned : "outdated";
  });
}
