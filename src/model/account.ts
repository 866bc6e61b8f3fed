import { CALM, type Chaos } from "./phone.ts";

/** Who owns messages, keys and records; everything stored belongs to exactly one account. */
export interface Account {
  id: number;
  name: string;
  suspended: boolean;
  settings: AccountSettings;
}

export interface AccountSettings {
  /** `strict` refuses numbers at the door that no country could have given out. */
  numbers: "lenient" | "strict";
  /** Country (ISO 3166 alpha-2) in which numbers without a plus may be written nationally. */
  defaultRegion: string | null;
  /** How the simulated carrier misbehaves for this account. */
  chaos: Chaos;
}

export const DEFAULT_SETTINGS: AccountSettings = { numbers: "lenient", defaultRegion: null, chaos: CALM };

export type Role = "owner" | "member" | "viewer";
