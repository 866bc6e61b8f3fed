import type { Migration } from "./migration.ts";

/**
 * Counts of each link target, and whether a person has followed a link. The statement that records a click changes them. A
 * target belongs to one request of at most 1,000 recipients, so few clicks wait for the same row. Also the named phones, which
 * the page of a test key lists.
 *
 * The columns are a change of their own: adding them locks the tables, and counting takes about a minute for 10 million links.
 */
export const linkCounts: Migration = {
  name: "0027-link-counts",
  statements: ({ time }) => [
    ...["recipients", "recipients_clicked", "clicks_person", "clicks_preview", "clicks_bot"].map(
      (column) => `alter table link_targets add column ${column} ${time} not null default 0`,
    ),
    `alter table links add column clicked integer not null default 0`,
  ],
};

/** Counts the existing links and clicks. Only rows are locked, so that redirects of running nodes go on. */
export const linkCountsBackfill: Migration = {
  name: "0027-link-counts-backfill",
  stopsNodes: true,
  statements: () => [
    `update link_targets set recipients = counted.recipients
      from (select account_id, request_id, k, count(*) as recipients from links group by account_id, request_id, k) as counted
      where link_targets.account_id = counted.account_id and link_targets.request_id = counted.request_id
        and link_targets.k = counted.k`,
    `update links set clicked = 1 where code in (select code from clicks where agent = 'person')`,
    `update link_targets set recipients_clicked = counted.recipients, clicks_person = counted.person,
        clicks_preview = counted.preview, clicks_bot = counted.bot
      from (
        select links.account_id, request_id, k, count(distinct case agent when 'person' then n end) as recipients,
          sum(case agent when 'person' then 1 else 0 end) as person, sum(case agent when 'preview' then 1 else 0 end) as preview,
          sum(case agent when 'bot' then 1 else 0 end) as bot
        from clicks join links on links.code = clicks.code group by links.account_id, request_id, k
      ) as counted
      where link_targets.account_id = counted.account_id and link_targets.request_id = counted.request_id
        and link_targets.k = counted.k`,
    `create index phones_named on phones (account_id, number, name) where name is not null`,
  ],
};
