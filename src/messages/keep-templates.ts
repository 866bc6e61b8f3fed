import type { Catalog } from "../catalog/catalog.ts";
import { planStatus, planTemplates, type TemplatePlan } from "../catalog/plan-templates.ts";
import type { Carrier, Carriers } from "../carriers/carrier.ts";
import type { Clock } from "../lib/clock.ts";
import { newId } from "../lib/ids.ts";
import type { Log } from "../lib/log.ts";
import type { ChatTemplate, UnreadTemplate } from "../model/chatapp.ts";
import { Problem } from "../model/problem.ts";
import type { CatalogStore } from "../store/store.ts";

export interface KeepTemplatesNeeds {
  store: Pick<CatalogStore, "insertCatalogRecord" | "changeCatalogRecord">;
  catalog: Catalog;
  clock: Clock;
}

export interface KeptTemplates {
  made: readonly string[];
  changed: readonly string[];
  /** What the platform has and requests could not be made for. */
  unread: readonly UnreadTemplate[];
}

/** Brings an account's records of templates to what the platform behind a carrier says of them. */
export async function keepTemplates(
  needs: KeepTemplatesNeeds,
  accountId: number,
  carrier: Carrier,
): Promise<KeptTemplates> {
  if (!carrier.templates)
    throw new Problem("INVALID_REQUEST", {
      message: "The platform behind this carrier keeps no templates: they are made at /api/templates.",
    });
  const pulled = await carrier.templates();
  if (pulled.kind === "failed") throw new Problem("INVALID_REQUEST", { message: `${pulled.description}.` });
  const { make, change } = await carryOut(needs, accountId, (records) => planTemplates(records, pulled.templates));
  const nameOf = ({ name }: { name: string }): string => name;
  return { made: make.map(nameOf), changed: change.map(nameOf), unread: pulled.unread };
}

/** The same for all carriers of the service, as far as their platforms answer. */
export async function keepAllTemplates(needs: KeepTemplatesNeeds & { carriers: Carriers; log: Log }): Promise<void> {
  for (const { accountId, name, content } of needs.catalog.all("carrier")) {
    const carrier = content.whatsapp?.businessAccountId ? needs.carriers.find(accountId, name) : null;
    if (!carrier?.templates) continue;
    try {
      await keepTemplates(needs, accountId, carrier);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      needs.log.warn({ carrier: carrier.name, reason: error.message }, "templates were not brought");
    }
  }
}

/** Takes up what a platform has just decided about a template. */
export async function keepStatus(
  needs: KeepTemplatesNeeds,
  accountId: number,
  { name, language, status }: { name: string; language: string; status: ChatTemplate["status"] },
): Promise<void> {
  await carryOut(needs, accountId, (records) => {
    const change = planStatus(records, name, language, status);
    return { make: [], change: change ? [change] : [] };
  });
}

type Plan = (records: Parameters<typeof planTemplates>[0]) => TemplatePlan;

/** One record at a time: each is whole by itself, and what was done before a crash need not be done again. */
async function carryOut(
  { store, catalog, clock }: KeepTemplatesNeeds,
  accountId: number,
  plan: Plan,
): Promise<TemplatePlan> {
  const done: { make: TemplatePlan["make"][number][]; change: TemplatePlan["change"][number][] } = {
    make: [],
    change: [],
  };
  const now = clock.now();
  for (;;) {
    const isOver = await catalog.change(async (revision) => {
      const records = catalog.of(accountId).named("chatTemplate");
      const { make, change } = plan([...records.values()]);
      const [made] = make;
      const [changed] = change;
      if (made) {
        const record = {
          accountId,
          kind: "chatTemplate",
          id: newId(now),
          name: made.name,
          origin: "authored",
        } as const;
        const times = { createdAt: now, updatedAt: now };
        const result = await store.insertCatalogRecord({ ...record, content: made.content, ...times }, revision);
        if (result === "inserted") done.make.push(made);
        return result === "inserted" ? false : "outdated";
      }
      const known = changed && records.get(changed.name);
      if (!known) return true;
      const record = { ...known, origin: "authored", content: changed.content, updatedAt: now } as const;
      const result = await store.changeCatalogRecord(record, revision);
      if (result === "changed") done.change.push(changed);
      return result === "changed" ? false : "outdated";
    });
    if (isOver) return done;
  }
}
