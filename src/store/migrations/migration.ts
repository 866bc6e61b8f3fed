/** What the engines spell differently. */
export interface Dialect {
  uuid: string;
  /** Epoch milliseconds, and every other whole number that outgrows 32 bits. */
  time: string;
  /** A key column that counts up by itself. */
  counter: string;
  /** Ends a table whose rows lie in the order of their primary key, where the engine can do that. */
  clustered: string;
  /** Ends any other table. */
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

/** One step of the schema, forward only. All its statements are one transaction, so a kill in the middle leaves nothing half done. */
export interface Migration {
  name: string;
  statements(dialect: Dialect): string[];
}
