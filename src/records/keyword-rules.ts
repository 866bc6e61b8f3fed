import { nullable, Type, type Typed } from "../lib/schema.ts";
import { isPlainText, isShowable } from "../lib/text.ts";
import type { KeywordRule } from "../model/keyword-rule.ts";
import { readLocale } from "../model/locale.ts";
import { countries } from "./types/shared-fields.ts";
import { words } from "./words.ts";

const RULES_MAX = 50;
const NUMBERS_MAX = 100;
const NUMBER_MAX = 100;
const REPLY_MAX = 480;

const LANGUAGE_RULE = "language must be a language tag such as fr or pt-BR, or null.";
const NUMBER_RULE = `A number must be a sender, bot or business number of 1 to ${NUMBER_MAX} characters.`;
const REPLY_RULE = `A reply must be a text of 1 to ${REPLY_MAX} characters, not only spaces, or null for no reply.`;

const number = Type.String({
  minLength: 1,
  maxLength: NUMBER_MAX,
  error: NUMBER_RULE,
  check: (written) => (isPlainText(written) && written.trim() !== "" ? null : NUMBER_RULE),
});

const reply = (description: string): Typed<string | null> =>
  nullable(
    Type.String({
      minLength: 1,
      maxLength: REPLY_MAX,
      error: REPLY_RULE,
      check: (text) => (isShowable(text) && text.trim() !== "" ? null : REPLY_RULE),
    }),
    description,
  );

const fields = {
  language: Type.Default(
    nullable(
      Type.String({ maxLength: 35, check: (tag) => (readLocale(tag) === null ? LANGUAGE_RULE : null) }),
      "Language tag of the replies, such as `fr`. Defaults to null.",
    ),
    null,
  ),
  numbers: Type.Default(
    nullable(
      Type.Array(number, { minItems: 1, maxItems: NUMBERS_MAX }),
      "Senders, bots and business numbers that the rule is for. Defaults to null, which means all.",
    ),
    null,
  ),
  countries: Type.Default(
    nullable(countries, "Countries of users as two-letter codes, such as FR. Defaults to null, which means all."),
    null,
  ),
  stopWords: Type.Default(
    nullable(words(""), "Stop words, besides STOP. Defaults to null, which means `stopWords` of the account."),
    null,
  ),
  startWords: Type.Default(
    nullable(words(""), "Start words. Defaults to null, which means `startWords` of the account."),
    null,
  ),
  helpWords: Type.Default(words("Words that `helpReply` answers. Defaults to HELP and INFO."), ["HELP", "INFO"]),
  confirmWords: Type.Default(words("Words that confirm an opt-in, if `confirmReply` is set. Defaults to YES."), [
    "YES",
  ]),
  stopReply: Type.Default(reply("Text that confirms an opt-out, once. Defaults to null: no reply."), null),
  startReply: Type.Default(reply("Text that confirms an opt-in. Defaults to null: no reply."), null),
  helpReply: Type.Default(reply("Text that answers a help word. Defaults to null: no reply."), null),
  confirmReply: Type.Default(
    reply(
      "Double opt-in: text that asks a user who sent a start word to confirm. The number leaves the opt-out list once a word of `confirmWords` arrives within a day. Defaults to null: a start word counts at once.",
    ),
    null,
  ),
};

/** Keywords and replies by number and country. */
export const keywordRules: Typed<readonly KeywordRule[]> = Type.Array(Type.Object(fields, { title: "KeywordRule" }), {
  maxItems: RULES_MAX,
  description:
    "Keywords and automatic replies. Rules for the number that a user wrote to come first, then rules for the user's country, then the others; within the first such group, the first rule with the word decides.",
});
