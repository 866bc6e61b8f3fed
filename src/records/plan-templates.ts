import { isDeepStrictEqual } from "node:util";
import type { CatalogRecord } from "../model/catalog.ts";
import type { ChatTemplate, ChatVersion, PlatformTemplate, PulledTemplate, TemplateNews } from "../model/chatapp.ts";
import { versionsOf, withLanguage } from "../model/template-language.ts";

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
    const merged = merge(versions, record?.content ?? null);
    if (!merged) continue;
    const content = { ...merged, businessAccountId };
    if (!record) {
      make.push({ name, content });
      continue;
    }
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
  const owner = said.businessAccountId;
  if (owner === mine.businessAccountId) return false;
  if (owner !== undefined)
    return others.some(
      (other) => other.businessAccountId === owner && (other.templates?.some((each) => each.name === name) ?? true),
    );
  const words = wordsOf(said);
  if (isDeepStrictEqual(wordsOf(mine), words)) return false;
  return others.some(({ templates }) => {
    const theirs = merge(templates?.filter((each) => each.name === name) ?? [], said);
    return theirs !== null && isDeepStrictEqual(wordsOf(theirs), words);
  });
}

/** The content without its owner and the platform's words about it. */
function wordsOf(template: ChatTemplate): object {
  const { businessAccountId: _, languages, ...content } = template;
  return { ...withoutPlatform(content), languages: languages?.map(withoutPlatform) };
}

function withoutPlatform<V extends { platform?: PlatformTemplate }>(version: V): Omit<V, "platform"> {
  const { platform: _, ...words } = version;
  return words;
}

/**
 * All languages of a name in one template. Its own language stays, or is the first one that can be sent. Languages that
 * the platform does not list stay too. Null without any.
 */
function merge(pulled: readonly PulledTemplate[], before: ChatTemplate | null): ChatTemplate | null {
  const chosen = choose(pulled, before?.language ?? null)?.content;
  if (!chosen) return null;
  const known = before ? versionsOf(before) : [];
  const others = new Map((before?.languages ?? []).map((version) => [version.language, version]));
  for (const { content } of pulled) {
    const { category: _, ...version } = content;
    others.set(version.language, withExample(version, known));
  }
  others.delete(chosen.language);
  const languages = [...others.values()].toSorted((a, b) => (a.language < b.language ? -1 : 1));
  return { ...withExample(chosen, known), ...(languages.length > 0 && { languages }) };
}

function choose(versions: readonly PulledTemplate[], language: string | null): PulledTemplate | undefined {
  return (
    versions.find(({ content }) => content.language === language) ??
    versions.find(({ content }) => content.status === "approved") ??
    versions[0]
  );
}

/** The platform returns no URLs of sample files, so those of the record's same language are kept. */
function withExample<V extends ChatVersion>(content: V, known: readonly ChatVersion[]): V {
  const before = known.find(({ language }) => language === content.language) ?? known[0];
  if (!before) return content;
  const { header, cards } = content;
  return {
    ...content,
    ...(header && "link" in header && before.header?.type === header.type && { header: before.header }),
    ...(cards && {
      cards: cards.map((card, index) => {
        const own = before.cards?.[index]?.header;
        return own?.type === card.header.type ? { ...card, header: own } : card;
      }),
    }),
  };
}

const UNKNOWN: PlatformTemplate = { status: "UNKNOWN", reason: null, quality: null };

/** Record after a notification of the platform; null if it changes nothing. */
export function planNews(
  records: readonly TemplateRecord[],
  { name, language, businessAccountId, status, category, platform }: TemplateNews,
): TemplatePlan["change"][number] | null {
  const record = records.find((each) => each.name === name);
  if (record?.origin !== "authored") return null;
  const before = record.content;
  const isOwn = before.language === language;
  if (!isOwn && !before.languages?.some((version) => version.language === language)) return null;
  const owner = before.businessAccountId;
  if (owner !== undefined && businessAccountId !== null && owner !== businessAccountId) return null;
  const after = <V extends ChatVersion>(version: V): V => ({
    ...version,
    ...(status && { status }),
    ...(platform && { platform: { ...(version.platform ?? UNKNOWN), ...platform } }),
  });
  // All languages of a name have one category.
  const content: ChatTemplate = {
    ...(isOwn ? after(before) : withLanguage(before, language, after)),
    ...(category && { category }),
  };
  return isDeepStrictEqual(content, before) ? null : { id: record.id, name, content };
}
