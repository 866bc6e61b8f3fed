import about from "../package.json" with { type: "json" };

/** Version, commit and date of the running code. */
export interface BuildInfo {
  version: string;
  /** Null when the server runs from its source. */
  commit: string | null;
  /** Time of the commit, in ISO 8601; null when the server runs from its source. */
  builtAt: string | null;
}

/** Set by the release build. */
declare const HELIOGRAPH_BUILD: BuildInfo | undefined;

export const buildInfo: BuildInfo =
  typeof HELIOGRAPH_BUILD === "undefined" ? { version: about.version, commit: null, builtAt: null } : HELIOGRAPH_BUILD;

/** One line for people: `0.1.0 (commit 1a2b3c4, 2026-11-18)`. */
export const versionLine = ({ version, commit, builtAt }: BuildInfo): string =>
  commit === null ? `${version} (from source)` : `${version} (commit ${commit.slice(0, 7)}, ${builtAt?.slice(0, 10)})`;

/** Command line that starts this program: installed, or in a clone. */
export const PROGRAM = buildInfo.commit === null ? "npm run heliograph --" : "heliograph";
