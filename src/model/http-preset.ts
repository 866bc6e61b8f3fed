import type { HttpErrorRule, HttpPick, HttpSettings } from "./http-connection.ts";

/** Defaults of one provider; only names and secrets of the account are missing. */
export type HttpPreset = Partial<Omit<HttpSettings, "preset">>;

export const at = (path: string, pattern: string | null = null): HttpPick => ({ path, pattern });

export const rule = (
  meaning: HttpErrorRule["meaning"],
  fits: Partial<Omit<HttpErrorRule, "meaning">>,
): HttpErrorRule => ({
  status: null,
  path: null,
  pattern: null,
  equals: null,
  ...fits,
  meaning,
});
