import type { Migration } from "./migration.ts";

/**
 * A part of a submitted text is recognised when its client repeats it after the text has ended. Parts that wait without a digest
 * are readable and come from an unreleased version: they are removed.
 */
export const repeatedParts: Migration = {
  name: "0037-repeated-parts",
  statements: ({ uuid }) => [
    `delete from submitted_parts where done_at is null`,
    `alter table submitted_parts add column digest text not null default ''`,
    `alter table submitted_parts add column repeats ${uuid}`,
    `create index submitted_parts_digest on submitted_parts (account_id, digest) where done_at is not null`,
  ],
};
