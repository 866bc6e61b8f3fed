import type { ChatTemplate, ChatVersion } from "./chatapp.ts";
import { readLocale } from "./locale.ts";

/** All languages of a template, its own first. */
export const versionsOf = (template: ChatTemplate): readonly ChatVersion[] => [template, ...(template.languages ?? [])];

/** The template with the parts of one of its languages; itself if it has no such language. */
export function templateIn(template: ChatTemplate, language: string): ChatTemplate {
  const version = template.languages?.find((each) => each.language === language);
  return version ? withVersion(template, version) : template;
}

/**
 * The template in the language of a recipient: in that language; otherwise without its region; otherwise in another region
 * of the same language; otherwise the template's own. Versions that are not approved are passed over.
 */
export function templateFor(template: ChatTemplate, wanted: string | null): ChatTemplate {
  const locale = wanted === null ? null : readLocale(wanted);
  if (!template.languages || locale === null) return template;
  const [language = ""] = locale.split("-");
  const approved = versionsOf(template).filter(({ status }) => status === "approved");
  const tagOf = (version: ChatVersion): string | null => readLocale(version.language);
  const found =
    approved.find((version) => tagOf(version) === locale) ??
    approved.find((version) => tagOf(version) === language) ??
    approved.find((version) => tagOf(version)?.split("-")[0] === language);
  return found ? templateIn(template, found.language) : template;
}

/** Parts that the version lacks are absent, and not those of the template's own language. */
function withVersion(template: ChatTemplate, version: ChatVersion): ChatTemplate {
  const { category, businessAccountId } = template;
  return { ...version, category, ...(businessAccountId !== undefined && { businessAccountId }) };
}

/** The template after a change of one of its further languages. */
export const withLanguage = (
  template: ChatTemplate,
  language: string,
  change: (version: ChatVersion) => ChatVersion,
): ChatTemplate => ({
  ...template,
  ...(template.languages && {
    languages: template.languages.map((version) => (version.language === language ? change(version) : version)),
  }),
});
