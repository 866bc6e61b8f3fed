const TOKEN = "{SORT}";
/** A link is not looked for further back than this. */
const LINK_MAX = 300;
// What stands right before a token and has a slash in it is a link that the writer began.
const BEGUN_LINK = /\/[^\s\p{Ps}\p{Pe}\p{Pi}\p{Pf}<>"'`]*$/u;

/** As long as every code, so that a text can be counted before there are codes; `0` is in none of them. */
export const STAND_IN_CODE = "0000000";

/** How many short links a text asks for; each needs a target of its own. */
export function countTokens(text: string): number {
  return text.split(TOKEN).length - 1;
}

/** Puts the k-th code in place of the k-th token: alone inside a link that the writer began, else as a whole link. */
export function placeCodes(text: string, codes: readonly string[], base: string): string {
  const tokens = countTokens(text);
  if (tokens !== codes.length) throw new RangeError(`${codes.length} codes for ${tokens} tokens`);
  let placed = 0;
  return text.replaceAll(TOKEN, (_token, at: number) => {
    const code = codes[placed++] ?? "";
    return BEGUN_LINK.test(text.slice(Math.max(0, at - LINK_MAX), at)) ? code : `${base}/${code}`;
  });
}
