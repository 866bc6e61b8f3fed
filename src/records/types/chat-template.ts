import { Type } from "../../lib/schema.ts";
import { CHAT_CATEGORIES, DEFAULT_LANGUAGE, isTemplateName, type ChatVersion } from "../../model/chatapp.ts";
import { defineRecord } from "../record-type.ts";
import { languageField, toVersion, VERSION_FIELDS } from "./chat-template-version.ts";
import { oneOf } from "./shared-fields.ts";

const LANGUAGES_MAX = 100;

const NAME_RULE =
  "name must have 1 to 512 lowercase letters a to z, digits and underscores, as required by the chat app.";

export const chatTemplate = defineRecord({
  kind: "chatTemplate",
  channel: "chatapp",
  name: {
    schema: Type.String({
      minLength: 1,
      maxLength: 512,
      pattern: "^[a-z0-9_]+$",
      description: "`templateName` of requests.",
      error: NAME_RULE,
      check: (name) => (isTemplateName(name) ? null : NAME_RULE),
    }),
  },
  fields: {
    language: Type.Default(
      languageField(`Language code at the platform, such as pt_BR. Defaults to ${DEFAULT_LANGUAGE}.`),
      DEFAULT_LANGUAGE,
    ),
    category: Type.Default(
      oneOf(
        CHAT_CATEGORIES,
        "Category. Defaults to utility. Marketing messages respect the opt-out list and have the lowest priority; authentication messages have the highest.",
      ),
      "utility",
    ),
    ...VERSION_FIELDS,
    languages: Type.Default(
      Type.Array(Type.Object({ language: languageField("Language code at the platform."), ...VERSION_FIELDS }), {
        maxItems: LANGUAGES_MAX,
        description:
          "The same template in other languages, each with its own text and parts. Requests choose one by `language`. Defaults to none.",
      }),
      [],
    ),
  },
  read: ({ fields: { category, languages = [], ...own }, faults }) => {
    const first = toVersion(own, category, "", faults);
    const others = languages.map((each, index) => {
      const path = `languages[${index}]`;
      const earlier = [first, ...languages.slice(0, index)];
      if (earlier.some(({ language }) => language === each.language))
        faults.push({ parameter: `${path}.language`, message: "The template has this language already." });
      return toVersion(each, category, `${path}.`, faults);
    });
    return { ...first, category, ...(others.length > 0 && { languages: others }) };
  },
  // Editing the text keeps the origin at the platform, and its words.
  complete: ({ languages, ...content }, before) => ({
    ...content,
    ...(languages && { languages: languages.map((each) => withPlatform(each, before)) }),
    ...(before?.platform && { platform: before.platform }),
    ...(before?.businessAccountId !== undefined && { businessAccountId: before.businessAccountId }),
  }),
  show: (content) => {
    const { businessAccountId: _, languages = [], ...shown } = content;
    return { ...shownVersion(shown), languages: languages.map(shownVersion) };
  },
});

function withPlatform(version: ChatVersion, before: { languages?: readonly ChatVersion[] } | null): ChatVersion {
  const platform = before?.languages?.find(({ language }) => language === version.language)?.platform;
  return platform ? { ...version, platform } : version;
}

const shownVersion = <V extends ChatVersion>({ platform, offer, cards, ...shown }: V) => ({
  ...shown,
  offer: offer ?? null,
  cards: cards ?? [],
  platform: platform ?? null,
});
