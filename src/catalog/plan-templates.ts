import { isDeepStrictEqual } from "node:util";
import type { CatalogRecord } from "../model/catalog.ts";
import type { ChatTemplate, PulledTemplate } from "../model/chatapp.ts";

/** What there is to do so that an account's records say what the platform says. */
export interface TemplatePlan {
  make: readonly PulledTemplate[];
  change: readonly { id: string; name: string; content: ChatTemplate }[];
}

type TemplateRecord = Pick<CatalogRecord<"chatTemplate">, "id" | "name" | "origin" | "content">;

/**
 * Compares an account's records with a line's list. A record that the list does not name is left alone, because it may be
 * another line's; so is one that says exactly what a list of another line, `elsewhere`, says under its name.
 */
export function planTemplates(
  records: readonly TemplateRecord[],
  pulled: readonly PulledTemplate[],
  elsewhere: readonly PulledTemplate[] = [],
): TemplatePlan {
  const make: PulledTemplate[] = [];
  const change: TemplatePlan["change"][number][] = [];
  const known = new Map(records.map((record) => [record.name, record]));
  for (const [name, versions] of Map.groupBy(pulled, (each) => each.name)) {
    const record = known.get(name);
    const chosen = choose(versions, record?.content.language ?? null);
    if (!chosen) continue;
    if (!record) {
      make.push(chosen);
      continue;
    }
    const content = withExample(chosen.content, record.content);
    const isSaid = isDeepStrictEqual(content, record.content);
    if (isSaid && record.origin === "authored") continue;
    const isOthers = elsewhere.some(
      (other) => other.name === name && isDeepStrictEqual(withExample(other.content, record.content), record.content),
    );
    if (!isOthers) change.push({ id: record.id, name, content });
  }
  return { make, change };
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
  name: string,
  language: string,
  status: ChatTemplate["status"],
): TemplatePlan["change"][number] | null {
  const record = records.find((each) => each.name === name);
  if (record?.origin !== "authored" || record.content.language !== language) return null;
  if (record.content.status === status) return null;
  return { id: record.id, name, content: { ...record.content, status } };
}
