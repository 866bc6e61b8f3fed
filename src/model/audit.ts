/** Who did something: a person, a program with its key, or somebody who did not get in. */
export interface Actor {
  kind: "user" | "key" | "nobody";
  id: string | null;
  /** The person's e-mail address, or the key's name. */
  name: string | null;
}

/** One thing that was done: who, what and when, and never what was in it. */
export interface AuditEntry {
  accountId: number;
  /** Ordered by time. */
  id: string;
  actor: Actor;
  /** Method and path as the table of routes has them, or one of the words below. */
  action: string;
  /** What it was done to, as `/api` names it: `keys`, `templates`. */
  kind: string;
  recordId: string | null;
  recordName: string | null;
  /** Which fields the request had; never what they held. */
  fields: readonly string[];
  /** Where the request came from. */
  address: string;
}

/** What happens at the door itself. */
export const DOOR_ACTIONS = ["login", "login failed", "login locked", "logout"] as const;
export type DoorAction = (typeof DOOR_ACTIONS)[number];

/** The account of whoever is nobody here: what is tried under an unknown address is written down like everything else. */
export const NO_ACCOUNT = 0;
