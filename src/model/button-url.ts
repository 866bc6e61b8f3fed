import { URL_VARIABLE } from "./chatapp.ts";

/** The normal form of a button's address, which may have one variable at its end; null for anything else. */
export function readButtonUrl(written: string): string | null {
  const hasVariable = written.endsWith(URL_VARIABLE);
  const fixed = hasVariable ? written.slice(0, -URL_VARIABLE.length) : written;
  if (!/^https?:\/\//i.test(fixed) || fixed.includes("{{") || !URL.canParse(fixed)) return null;
  return hasVariable ? fixed + URL_VARIABLE : new URL(fixed).href;
}

export const hasUrlVariable = (url: string): boolean => url.endsWith(URL_VARIABLE);

/** The address with its value, as the platform completes it. */
export const withUrlValue = (url: string, value: string): string =>
  hasUrlVariable(url) ? url.slice(0, -URL_VARIABLE.length) + value : url;
