import type { Migration } from "./migration.ts";

/**
 * Blocked prefixes of an account, and unmatched receipts of one carrier: without these indexes both lists read every row of
 * the account. The first index is partial, so that a send writes to it only when it blocks a prefix. Both tables have at most
 * some hundred thousand rows in a store of ten million messages, so the migration takes less than a second.
 */
export const boundedLists: Migration = {
  name: "0031-bounded-lists",
  statements: () => [
    `create index verify_prefixes_blocked on verify_prefixes (account_id, blocked_until) where blocked_until > 0`,
    `create index parked_receipts_of_carrier on parked_receipts (account_id, carrier, id)`,
  ],
};
