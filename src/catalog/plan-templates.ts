import { isDeepStrictEqual } from "node:util";
import type { CatalogRecord } from "../model/catalog.ts";
import type { ChatTemplate, PulledTemplate, TemplateNews } from "../model/chatapp.ts";

/** What there is to do so that an account's records say what the platform says. */
export interface TemplatePlan {
  make: readonly PulledTemplate[];
  change: readonly { id: string; name: string; content: ChatTemplate }[];
}

type TemplateRecord = Pick<CatalogRecord<"chatTemplate">, "id" | "name" | "origin" | "content">;

/** What one business account of the platform has. */
export interface TemplateList {
  businessAccountId: string;
  /** Null while it is not known. */
  templates: readonly PulledTemplate[] | null;
}

/**
 * Compares an account's records with a list. A record that the list does not name is left alone; so is one that another of
 * the account's lists, `others`, has brought, as long as that one may still name it, and one of unknown origin that says
 * exactly what another says under its name.
 */
export function planTemplates(
  records: readonly TemplateRecord[],
  { businessAccountId, templates }: TemplateList,
  others: readonly TemplateList[] = [],
): TemplatePlan {
  const make: PulledTemplate[] = [];
  const change: TemplatePlan["change"][number][] = [];
  const known = new Map(records.map((record) => [record.name, record]));
  for (const [name, versions] of Map.groupBy(templates ?? [], (each) => each.name)) {
    const record = known.get(name);
    const chosen = choose(versions, record?.content.language ?? null);
    if (!chosen) continue;
    if (!record) {
      make.push({ name, content: { ...chosen.content, businessAccountId } });
      continue;
    }
    const content = { ...withExample(chosen.content, record.content), businessAccountId };
    if (record.origin === "authored" && isDeepStrictEqual(content, record.content)) continue;
    if (!isOthers(record, content, others)) change.push({ id: record.id, name, content });
  }
  return { make, change };
}

function isOthers(
  { name, content: said }: TemplateRecord,
  mine: ChatTemplate,
  others: readonly TemplateList[],
): boolean {
  const { businessAccountId: owner, ...words } = said;
  if (owner === mine.businessAccountId) return false;
  if (owner !== undefined)
    return others.some(
      (other) => other.businessAccountId === owner && (other.templates?.some((each) => each.name === name) ?? true),
    );
  const { businessAccountId: _, ...mineInWords } = mine;
  if (isDeepStrictEqual(mineInWords, words)) return false;
  return others.some(({ templates }) =>
    templates?.some((each) => each.name === name && isDeepStrictEqual(withExample(each.content, said), words)),
  );
}

/** A request cannot say a language, so there is one for each name: the record's own, or the first that can be sent. */
function choose(versions: readonly PulledTemplate[], language: string | null): PulledTemplate | undefined {
  return (
    versions.find(({ content }) => content.language === language) ??
    versions.find(({ content }) => content.status === "approved") ??
    versions[0]
  );
}

/** The platform shows no address of an example file, and people's own is kept. */
function withExample(content: ChatTemplate, before: ChatTemplate): ChatTemplate {
  const { header } = content;
  const known = before.header;
  if (!header || header.type === "text" || known?.type !== header.type) return content;
  return { ...content, header: known };
}

/** The record that the platform's news about a template changes, as it is after it; null when it changes none. */
export function planStatus(
  records: readonly TemplateRecord[],
  { name, language, status, businessAccountId }: TemplateNews,
): TemplatePlan["change"][number] | null {
  const record = records.find((each) => each.name === name);
  if (record?.origin !== "authored" || record.content.language !== language) return null;
  if (record.content.status === status) return null;
  const owner = record.content.businessAccountId;
  if (owner !== undefined && businessAccountId !== null && owner !== businessAccountId) return null;
  return { id: record.id, name, content: { ...record.content, status } };
}
