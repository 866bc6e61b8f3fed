import type { Migration } from "./migration.ts";

/**
 * What a customer was told of a message is found by the message alone: a message has few callbacks, and an index that held
 * their states as well was written anew for each of these.
 */
export const callbacksOfMessage: Migration = {
  name: "0014-callbacks-of-message",
  statements: () => [
    `drop index callbacks_of_message`,
    `create index callbacks_of_message on callbacks (account_id, request_id, n, endpoint_id) where request_id is not null`,
  ],
};
