import { isDeepStrictEqual } from "node:util";
import type { CatalogRecord } from "../model/catalog.ts";
import type { ChatTemplate, PlatformTemplate, PulledTemplate, TemplateNews } from "../model/chatapp.ts";

/** Changes that bring an account's templates in line with the platform. */
export interface TemplatePlan {
  make: readonly PulledTemplate[];
  change: readonly { id: string; name: string; content: ChatTemplate }[];
}

type TemplateRecord = Pick<CatalogRecord<"chatTemplate">, "id" | "name" | "origin" | "content">;

/** Templates of one business account at the platform. */
export interface TemplateList {
  businessAccountId: string;
  /** Null if not known yet. */
  templates: readonly PulledTemplate[] | null;
}

/**
 * Compares an account's templates with a platform's list. Templates missing from the list stay unchanged. So do
 * templates synced from another of the account's lists (`others`) that may still contain them, and templates of unknown
 * origin that equal another list's.
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
  const { businessAccountId: owner, platform: _said, ...words } = said;
  if (owner === mine.businessAccountId) return false;
  if (owner !== undefined)
    return others.some(
      (other) => other.businessAccountId === owner && (other.templates?.some((each) => each.name === name) ?? true),
    );
  const { businessAccountId: _, platform: _mine, ...mineInWords } = mine;
  if (isDeepStrictEqual(mineInWords, words)) return false;
  return others.some(({ templates }) =>
    templates?.some((each) => {
      const { platform: _theirs, ...theirs } = withExample(each.content, said);
      return each.name === name && isDeepStrictEqual(theirs, words);
    }),
  );
}

/**
 * Requests cannot choose a language, so each name has one version: the record's language, or the first that can be
 * sent.
 */
function choose(versions: readonly PulledTemplate[], language: string | null): PulledTemplate | undefined {
  return (
    versions.find(({ content }) => content.language === language) ??
    versions.find(({ content }) => content.status === "approved") ??
    versions[0]
  );
}

/** The platform returns no URL of a sample file, so the record's own is kept. */
function withExample(content: ChatTemplate, before: ChatTemplate): ChatTemplate {
  const { header } = content;
  const known = before.header;
  if (!header || header.type === "text" || known?.type !== header.type) return content;
  return { ...content, header: known };
}

const UNKNOWN: PlatformTemplate = { status: "UNKNOWN", reason: null, quality: null };

/** Record after a notification of the platform; null if it changes nothing. */
export function planNews(
  records: readonly TemplateRecord[],
  { name, language, businessAccountId, status, category, platform }: TemplateNews,
): TemplatePlan["change"][number] | null {
  const record = records.find((each) => each.name === name);
  if (record?.origin !== "authored" || record.content.language !== language) return null;
  const owner = record.content.businessAccountId;
  if (owner !== undefined && businessAccountId !== null && owner !== businessAccountId) return null;
  const before = record.content;
  const content: ChatTemplate = {
    ...before,
    ...(status && { status }),
    ...(category && { category }),
    ...(platform && { platform: { ...(before.platform ?? UNKNOWN), ...platform } }),
  };
  return isDeepStrictEqual(content, before) ? null : { id: record.id, name, content };
}
