import type { Migration } from "./migration.ts";

/** The callback that a request of a facade asks for its messages. Adding a column without a default rewrites nothing. */
export const messageCallbacks: Migration = {
  name: "0034-message-callbacks",
  statements: () => [`alter table messages add column callback text`],
};
