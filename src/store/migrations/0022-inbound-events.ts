import type { Migration } from "./migration.ts";

/**
 * The event id of an inbound message in webhooks. It carries the time at which we stored the message, so no reader's cursor has
 * passed it. The id of the message carries the time of the phone, which may be days earlier.
 */
export const inboundEvents: Migration = {
  name: "0022-inbound-events",
  statements: ({ uuid }) => [`alter table inbound add column event_id ${uuid}`],
};
