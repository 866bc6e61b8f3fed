/** SQL fragments that differ between the engines. */
export interface Dialect {
  uuid: string;
  /** Epoch milliseconds, and every other integer that exceeds 32 bits. */
  time: string;
  /** An auto-increment primary key column. */
  counter: string;
  /** Suffix of a table that stores its rows in primary-key order, if the engine supports that. */
  clustered: string;
  /** Suffix of any other table. */
  plain: string;
}

export const SQLITE: Dialect = {
  uuid: "text",
  time: "integer",
  counter: "integer primary key autoincrement",
  clustered: " strict, without rowid",
  plain: " strict",
};

export const POSTGRES: Dialect = {
  uuid: "uuid",
  time: "bigint",
  counter: "integer generated always as identity primary key",
  clustered: "",
  plain: "",
};

/** One forward-only schema change. All its statements run in one transaction, so a crash leaves nothing half done. */
export interface Migration {
  name: string;
  /**
   * True if a running node of an older release would leave the new tables wrong for good, because it does not write to them.
   * Such a migration waits until all nodes have stopped.
   */
  stopsNodes?: true;
  /**
   * The oldest release that works on the migrated schema without knowing the migration, such as `0.1.0`. Its nodes may then be
   * restarted, and put back, after a newer release has migrated. Only for a migration that expands the schema: see `contracts`.
   */
  worksWith?: string;
  statements(dialect: Dialect): string[];
}

/** Statements that take away what an older release uses, or ask for what it does not write. */
const CONTRACTING = [
  /\bdrop\s+(table|column|view|index|constraint)\b/i,
  /\brename\b/i,
  /\balter\s+column\b/i,
  /\badd\s+constraint\b/i,
  /\bcreate\s+unique\s+index\b/i,
  /\badd\s+column\s+(?![^,]*\bdefault\b)[^,]*\bnot\s+null\b/i,
  /\b(update|delete\s+from)\s/i,
];

/** The statements of a migration that an older release could not work with. */
export const contracts = ({ statements }: Pick<Migration, "statements">): string[] =>
  [SQLITE, POSTGRES].flatMap(statements).filter((text) => CONTRACTING.some((pattern) => pattern.test(text)));

/** Tables with a row for every message or request: they may have ten million rows and more. */
const LARGE =
  "messages|submissions|callbacks|links|clicks|phone_messages|inbound|verifications|verify_requests|search_numbers|idempotency";

/**
 * Statements whose duration grows with a large table. SQLite checks every row of a STRICT table for any added column, whatever
 * its type or default.
 */
const READING_ALL = [
  new RegExp(`\\balter\\s+table\\s+(?:${LARGE})\\s+(?:add|drop)\\b`, "i"),
  new RegExp(`\\bindex\\s+\\w+\\s+on\\s+(?:${LARGE})\\b`, "i"),
  new RegExp(`\\b(?:update|from|join)\\s+(?:${LARGE})\\b`, "i"),
];

/** The statements of a migration that would stop a large database for minutes. */
export const readsLargeTables = ({ statements }: Pick<Migration, "statements">): string[] =>
  [SQLITE, POSTGRES].flatMap(statements).filter((text) => READING_ALL.some((pattern) => pattern.test(text)));
