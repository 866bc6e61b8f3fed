import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { BadSetting } from "../../config.ts";
import { isObject } from "../../lib/json.ts";

/** A server that commands talk to, with the key for it. */
export interface Profile {
  url: string;
  key: string;
}

interface Profiles {
  /** The profile of commands that name none. */
  current: string | null;
  profiles: Record<string, Profile>;
}

const NAME = /^[a-z0-9][a-z0-9_-]{0,62}$/;

/** The user's file of profiles: only its owner can read it, because it has keys. */
export const profilesFile = (env: NodeJS.ProcessEnv): string =>
  join(env["XDG_CONFIG_HOME"] || join(homedir(), ".config"), "heliograph", "profiles.json");

export function readProfiles(file: string): Profiles {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return { current: null, profiles: {} };
    throw new BadSetting(`${file} cannot be read: ${(error as Error).message}`, { cause: error });
  }
  try {
    const read = JSON.parse(text) as unknown;
    if (isObject(read) && isObject(read["profiles"])) return read as unknown as Profiles;
  } catch {
    // Reported below, as any other content that is no list of profiles.
  }
  throw new BadSetting(`${file} is no file of profiles: remove it, and add the profiles again`);
}

function writeProfiles(file: string, profiles: Profiles): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  // Renamed when it is whole, so that a full disk loses no profile.
  writeFileSync(`${file}.new`, `${JSON.stringify(profiles, null, 2)}\n`, { mode: 0o600 });
  renameSync(`${file}.new`, file);
}

/** Adds or replaces a profile, which becomes the current one. */
export function saveProfile(file: string, name: string, profile: Profile): void {
  if (!NAME.test(name)) throw new BadSetting("NAME has 1 to 63 lower-case letters, digits, dashes and underscores");
  const { profiles } = readProfiles(file);
  writeProfiles(file, { current: name, profiles: { ...profiles, [name]: profile } });
}

export function chooseProfile(file: string, name: string): void {
  const { profiles } = readProfiles(file);
  findProfile(profiles, name);
  writeProfiles(file, { current: name, profiles });
}

export function removeProfile(file: string, name: string): void {
  const { current, profiles } = readProfiles(file);
  findProfile(profiles, name);
  const { [name]: _, ...others } = profiles;
  writeProfiles(file, { current: current === name ? null : current, profiles: others });
}

export function findProfile(profiles: Readonly<Record<string, Profile>>, name: string): Profile {
  const found = Object.hasOwn(profiles, name) ? profiles[name] : undefined;
  if (found) return found;
  const names = Object.keys(profiles);
  throw new BadSetting(
    `there is no profile ${name}: ${names.length === 0 ? "there is none yet" : `there are ${names.join(", ")}`}`,
  );
}
