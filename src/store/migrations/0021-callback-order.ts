import { POSTGRES, type Migration } from "./migration.ts";

/**
 * Numbers the callbacks of a message in the commit order of their transitions. Event ids carry the wall clock of the node that
 * created them, and clocks differ. On PostgreSQL the number comes from a counter in the message's row, which the transition
 * increments under the row lock. SQLite has one writer, which continues from the callbacks it finds. Rows that wait at the
 * upgrade have number 0: they precede all later ones and keep the order of their event ids.
 */
export const callbackOrder: Migration = {
  name: "0021-callback-order",
  statements: (dialect) => [
    `alter table callbacks add column seq ${dialect.time} not null default 0`,
    ...(dialect === POSTGRES ? ["alter table messages add column callback_seq integer not null default 0"] : []),
  ],
};
