import type { Migration } from "./migration.ts";

/**
 * Finds callbacks by their message alone. A message has few callbacks, and an index that included their states was rewritten at
 * every change of state.
 */
export const callbacksOfMessage: Migration = {
  name: "0014-callbacks-of-message",
  statements: () => [
    `drop index callbacks_of_message`,
    `create index callbacks_of_message on callbacks (account_id, request_id, n, endpoint_id) where request_id is not null`,
  ],
};
