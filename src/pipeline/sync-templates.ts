import type { Catalog } from "../records/catalog.ts";
import { planNews, planTemplates, type TemplateList, type TemplatePlan } from "../records/plan-templates.ts";
import type { Carrier, Carriers } from "../carriers/carrier.ts";
import type { Clock } from "../lib/clock.ts";
import type { Log } from "../lib/log.ts";
import { carrierNameOf, type CatalogRecord } from "../model/catalog.ts";
import type {
  ChatTemplate,
  ChatVersion,
  PulledTemplates,
  TemplateNews,
  TemplateSubmission,
  UnreadTemplate,
} from "../model/chatapp.ts";
import { Problem } from "../model/problem.ts";
import { templateIn, withLanguage } from "../model/template-language.ts";
import type { CatalogStore } from "../store/catalog.ts";
import type { RecordStore } from "../store/records.ts";
import type { Membership } from "../cluster/membership.ts";

export interface SyncTemplatesDeps {
  store: Pick<CatalogStore, "changeSetUp"> & Pick<RecordStore, "revision">;
  catalog: Catalog;
  clock: Clock;
}

export interface SyncedTemplates {
  made: readonly string[];
  changed: readonly string[];
  /** Templates of the platform that Heliograph cannot send. */
  unread: readonly UnreadTemplate[];
}

/** Accounts that are synchronised concurrently: a slow platform delays its own account only. */
const AT_ONCE = 4;

type CarrierRecord = CatalogRecord<"carrier">;
type Pulled = Extract<PulledTemplates, { kind: "pulled" }>;

/** Synchronises an account's template records with the platform of a carrier. */
export async function syncTemplates(
  deps: SyncTemplatesDeps,
  accountId: number,
  carrier: Carrier,
): Promise<SyncedTemplates> {
  const { templates, unread } = await pull(carrier);
  const lines = deps.catalog.of(accountId).named("carrier");
  const record = lines.get(carrierNameOf(carrier.name));
  const [list] = record ? listsOf(record, templates) : [];
  // The carrier was changed during the request.
  if (!list) return { made: [], changed: [], unread };
  const others = [...lines.values()].flatMap((each) => listsOf(each, null)).filter(isBeside(list));
  const { make, change } = await applyPlan(deps, accountId, (records) => planTemplates(records, list, others));
  const nameOf = ({ name }: { name: string }): string => name;
  return { made: make.map(nameOf), changed: change.map(nameOf), unread };
}

async function pull(carrier: Carrier): Promise<Pulled> {
  if (!carrier.templates)
    throw new Problem("INVALID_REQUEST", {
      message: "The platform behind this carrier has no templates to fetch: create them with POST /api/templates.",
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

/** Carriers of the same business account have the same templates. */
const isBeside =
  ({ businessAccountId }: TemplateList) =>
  (other: TemplateList): boolean =>
    other.businessAccountId !== businessAccountId;

export interface SyncAllTemplatesDeps extends SyncTemplatesDeps {
  carriers: Carriers;
  membership: Pick<Membership, "sends" | "rank">;
  log: Log;
}

/** Synchronises the templates of all carriers whose platforms answer. One node does it for all. */
export async function syncAllTemplates(deps: SyncAllTemplatesDeps): Promise<void> {
  const { catalog, membership } = deps;
  if (!membership.sends || membership.rank > 0) return;
  const records = catalog.all("carrier").filter((record) => businessAccountOf(record) !== null);
  const accounts = [...Map.groupBy(records, ({ accountId }) => accountId)];
  const work = async (): Promise<void> => {
    for (let next = accounts.shift(); next; next = accounts.shift()) await syncAccount(deps, ...next);
  };
  const ended = await Promise.allSettled(Array.from({ length: AT_ONCE }, work));
  for (const each of ended) if (each.status === "rejected") throw each.reason;
}

/** Reads all lists before planning, because a template may be in the list of another carrier. */
async function syncAccount(
  deps: SyncAllTemplatesDeps,
  accountId: number,
  records: readonly CarrierRecord[],
): Promise<void> {
  const lists: TemplateList[] = [];
  for (const record of records) {
    const carrier = deps.carriers.find(accountId, record.name);
    lists.push(...listsOf(record, carrier?.templates ? await listed(deps, carrier) : null));
  }
  for (const list of lists)
    await applyPlan(deps, accountId, (known) => planTemplates(known, list, lists.filter(isBeside(list))));
}

async function listed({ log }: SyncAllTemplatesDeps, carrier: Carrier): Promise<TemplateList["templates"]> {
  try {
    return (await pull(carrier)).templates;
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    log.warn({ carrier: carrier.name, reason: error.message }, "template sync failed");
    return null;
  }
}

/** Applies a status change of a template that the platform reported. */
export async function syncStatus(deps: SyncTemplatesDeps, accountId: number, news: TemplateNews): Promise<void> {
  await applyPlan(deps, accountId, (records) => {
    const change = planNews(records, news);
    return { make: [], change: change ? [change] : [] };
  });
}

/** Submits a template to the platform of a carrier, and stores the platform's response. */
export async function submitTemplate(
  deps: SyncTemplatesDeps,
  { accountId, id, name, content }: CatalogRecord<"chatTemplate">,
  carrier: Carrier,
  submission: TemplateSubmission,
  language: string = content.language,
): Promise<void> {
  if (!carrier.submitTemplate)
    throw new Problem("INVALID_REQUEST", {
      faults: [{ parameter: "carrier", message: "The platform behind this carrier stores no templates." }],
    });
  const submitted = await carrier.submitTemplate(name, templateIn(content, language), submission);
  if (submitted.kind === "refused") throw new Problem("TEMPLATE_REFUSED", { message: `${submitted.description}.` });
  const line = deps.catalog.of(accountId).named("carrier").get(carrierNameOf(carrier.name));
  const businessAccountId = line ? businessAccountOf(line) : null;
  const { status, approval, id: platformId } = submitted;
  await applyPlan(deps, accountId, (records) => {
    const record = records.find((each) => each.id === id);
    if (!record) return { make: [], change: [] };
    const after = <V extends ChatVersion>(version: V): V => ({
      ...version,
      ...(approval && { status: approval }),
      platform: {
        ...(version.platform ?? { reason: null, quality: null, status: "PENDING" }),
        ...(status !== null && { status, reason: null }),
        ...(platformId !== null && { id: platformId }),
      },
    });
    const { content: before } = record;
    const changed: ChatTemplate = {
      ...(before.language === language ? after(before) : withLanguage(before, language, after)),
      ...(businessAccountId !== null && { businessAccountId }),
    };
    return { make: [], change: [{ id, name: record.name, content: changed }] };
  });
}

type Plan = (records: Parameters<typeof planTemplates>[0]) => TemplatePlan;

/** Applies a plan atomically, and plans again after a concurrent change (optimistic locking). */
function applyPlan({ store, catalog, clock }: SyncTemplatesDeps, accountId: number, plan: Plan): Promise<TemplatePlan> {
  return catalog.change(async (revision) => {
    const records = catalog.of(accountId);
    const known = records.named("chatTemplate");
    const planned = plan([...known.values()]);
    const now = clock.now();
    const put = [...planned.make, ...planned.change].map(({ name, content }): CatalogRecord<"chatTemplate"> => ({
      accountId,
      kind: "chatTemplate",
      id: records.newIdFor({ accountId, kind: "chatTemplate", name }, now),
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
