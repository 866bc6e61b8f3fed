import type { Migration } from "./migration.ts";

/**
 * The search index. An index of numbers straight on `messages` would be written at a random page per message, so these side
 * tables are filled in batches behind the accept. Creating them costs nothing at any size. The job `search-index` then reads
 * the existing messages once, in the background; until it has reached them, a search scans them.
 *
 * - `search_blocks`: an account's messages in the order of their ids, cut into blocks that begin after a position and end with
 *   one. `firm_after` is the time of the next summary of a block whose messages may still change; null if they rarely do.
 * - `search_zones`: the combinations of fields that occur in a block, with their counts (a zone map).
 * - `search_numbers`: messages by the last digits of their number, in segments of a few blocks. A segment is written once, in
 *   the order of its key, so that it adds 75 bytes per message to the log. One tree over all segments would add a page.
 * - `search_changes`: seconds whose messages changed after their block was summarized.
 */
export const search: Migration = {
  name: "0026-search",
  stopsNodes: true,
  statements: ({ uuid, time, clustered }) => [
    `create table search_blocks (
      account_id integer not null,
      block integer not null,
      after_request_id ${uuid} not null,
      after_n integer not null,
      last_request_id ${uuid} not null,
      last_n integer not null,
      firm_after ${time},
      messages integer not null,
      has_texts integer not null,
      version ${uuid} not null,
      primary key (account_id, block)
    )${clustered}`,
    `create index search_blocks_by_end on search_blocks (account_id, last_request_id, last_n)`,
    `create index search_blocks_due on search_blocks (firm_after) where firm_after is not null`,
    `create table search_zones (
      account_id integer not null,
      block integer not null,
      zone integer not null,
      lane integer not null,
      test integer not null,
      status text,
      channel text,
      named integer not null,
      campaign_name text,
      template_name text,
      messages integer not null,
      primary key (account_id, block, zone)
    )${clustered}`,
    `create table search_numbers (
      account_id integer not null,
      segment integer not null,
      ending text not null,
      recipient text not null,
      request_id ${uuid} not null,
      n integer not null,
      primary key (account_id, segment, ending, recipient, request_id, n)
    )${clustered}`,
    `create table search_changes (
      account_id integer not null,
      from_id ${uuid} not null,
      to_id ${uuid} not null,
      noted_at ${time} not null,
      primary key (account_id, from_id)
    )${clustered}`,
  ],
};
