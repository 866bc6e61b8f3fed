/** The actor: a person, a program with its key, an agent with its key, or a failed login. */
export interface Actor {
  kind: "user" | "key" | "agent" | "nobody";
  id: string | null;
  /** The person's e-mail address, or the key's name. */
  name: string | null;
}

/** A field that a request changed. Null stands for no value. */
export interface AuditChange {
  /** The path of a field within an object has dots. */
  field: string;
  before: string | null;
  after: string | null;
}

/** An entry of the audit log: who, what and when. */
export interface AuditEntry {
  accountId: number;
  /** Ordered by time. */
  id: string;
  actor: Actor;
  /** Method and path as in the route table, or one of the actions below. */
  action: string;
  /** The resource, as `/api` names it: `keys`, `templates`. */
  kind: string;
  recordId: string | null;
  recordName: string | null;
  /** The names of the request's fields, without their values. */
  fields: readonly string[];
  /** Values of numbers, switches and fixed choices only: no text, number or secret is one of them. */
  changes?: readonly AuditChange[];
  /** The client's address. */
  address: string;
}

/** Actions of logging in and out. */
export const LOGIN_ACTIONS = ["login", "login failed", "login locked", "logout"] as const;
export type LoginAction = (typeof LOGIN_ACTIONS)[number];

/** Binds of an SMPP client that were refused: a wrong password or address, or too many of them. */
export const BIND_ACTIONS = ["bind failed", "bind locked"] as const;
export type BindAction = (typeof BIND_ACTIONS)[number];

/** The account of login attempts with an unknown e-mail address; they are logged like all others. */
export const NO_ACCOUNT = 0;
