import { Type, type Typed } from "../lib/schema.ts";
import { isPlainText } from "../lib/text.ts";

const WORD_MAX = 30;
const WORDS_MAX = 30;
const BAD_WORD = `A word must be plain text of 1 to ${WORD_MAX} characters with at least one letter or digit.`;

/** A word without letters and digits would never match a reply. */
const word = Type.String({
  minLength: 1,
  maxLength: WORD_MAX,
  error: { minLength: BAD_WORD, maxLength: BAD_WORD },
  check: (written) => (isPlainText(written) && /[\p{L}\p{N}]/u.test(written) ? null : BAD_WORD),
});

/** Keywords that users reply with. */
export const words = (description: string): Typed<readonly string[]> =>
  Type.Array(word, { minItems: 1, maxItems: WORDS_MAX, description });
