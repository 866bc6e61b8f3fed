import { isSupportedCountry } from "libphonenumber-js/max";
import { nullable, PATTERN_RULE, Type, type Typed } from "../../lib/schema.ts";
import { isPlainText } from "../../lib/text.ts";

export const oneOf = <const T extends string>(words: readonly T[], description: string): Typed<T> =>
  Type.Union(
    words.map((word) => Type.Literal(word)),
    { description },
  );

/** Approval status of a template at the platform. */
export const status = oneOf(
  ["draft", "approved", "paused"],
  "Approval status. Only approved templates can be sent. Defaults to approved.",
);

const TITLE_MAX = 100;
const TITLE_RULE = `title must be plain text of 1 to ${TITLE_MAX} characters, not only spaces, or null.`;

/** Display name of a sender whose `name` is an identifier. */
export const title = nullable(
  Type.String({
    minLength: 1,
    maxLength: TITLE_MAX,
    error: TITLE_RULE,
    check: (shown) => (isPlainText(shown) && shown.trim() !== "" ? null : TITLE_RULE),
  }),
  "Display name on phones. Defaults to null, which shows the name.",
);

/** DLT ids are digits in India; other registers use letters too. */
export const registerId = (description: string): Typed<string | null> =>
  nullable(
    Type.String({
      minLength: 1,
      maxLength: 50,
      pattern: "^[0-9A-Za-z_-]+$",
      [PATTERN_RULE]: "have letters of A to Z, digits, dashes and underscores only",
    }),
    description,
  );

const PREFIX = /^[1-9][0-9]{0,14}$/;

/** True for the first digits of an international number, without plus. */
export const isPrefix = (value: string): boolean => PREFIX.test(value);

/** Countries of phone numbers, as two letters. */
export const country = Type.String({
  check: (code) => (isSupportedCountry(code) ? null : "Use a two-letter country code in capitals, such as IN."),
});
export const countries = Type.Array(country, { minItems: 1, maxItems: 300 });

/** The `check` of a field with a time zone. */
export const zoneFault = (name: string): string | null =>
  isZone(name) ? null : "zone must be the name of a time zone, such as Asia/Kolkata or UTC.";

function isZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name }).resolvedOptions().timeZone !== "";
  } catch {
    // The constructor of `DateTimeFormat` is the only check for a time zone name.
    return false;
  }
}
