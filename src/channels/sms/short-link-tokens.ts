const TOKEN = "{SORT}";
/** The search for the start of a link goes back at most this far. */
const LINK_MAX = 300;
// Text with a slash directly before a token is a link that the author began.
const BEGUN_LINK = /\/[^\s\p{Ps}\p{Pe}\p{Pi}\p{Pf}<>"'`]*$/u;

/** Stands for a code while segments are counted. It has the length of a code, and no code contains `0`. */
export const STAND_IN_CODE = "0000000";

/** The number of short-link tokens in a text; each needs its own target. */
export function countTokens(text: string): number {
  return text.split(TOKEN).length - 1;
}

/** Replaces the k-th token by the k-th code: bare inside a link that the author began, otherwise as a whole link. */
export function placeCodes(text: string, codes: readonly string[], base: string): string {
  const tokens = countTokens(text);
  if (tokens !== codes.length) throw new RangeError(`${codes.length} codes for ${tokens} tokens`);
  let placed = 0;
  return text.replaceAll(TOKEN, (_token, at: number) => {
    const code = codes[placed++] ?? "";
    return BEGUN_LINK.test(text.slice(Math.max(0, at - LINK_MAX), at)) ? code : `${base}/${code}`;
  });
}
