import type { Migration } from "./migration.ts";

/**
 * The part of its block in which a zone's messages lie, so that a search for a rare value reads a few messages and not the
 * block. The default is the whole block. Adding the columns takes no time at any size. The job `search-index` then summarizes
 * every block again, in the background: 10 million messages took 7 minutes on a busy machine.
 */
export const searchZones: Migration = {
  name: "0032-search-zones",
  statements: () => [
    `alter table search_zones add column first_id text not null default '00000000-0000-0000-0000-000000000000'`,
    `alter table search_zones add column last_id text not null default 'ffffffff-ffff-ffff-ffff-ffffffffffff'`,
    `update search_blocks set firm_after = 0 where firm_after is null`,
  ],
};
