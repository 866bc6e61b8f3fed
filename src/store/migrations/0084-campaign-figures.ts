import type { Migration } from "./migration.ts";

/**
 * The report of a campaign: its messages over time, by carrier and by failure reason, the requests whose short links count for
 * it, and the opt-outs that followed it.
 */
export const campaignFigures: Migration = {
  name: "0084-campaign-figures",
  worksWith: "0.1.0",
  statements: ({ uuid, time, clustered }) => [
    // A report reads one range of the key: a campaign name, a grain, a time span. Only days have carriers and codes.
    `create table campaign_figures (
      account_id integer not null,
      name text not null,
      test integer not null,
      grain ${time} not null,
      at ${time} not null,
      what text not null,
      carrier text not null,
      code text not null,
      count ${time} not null,
      primary key (account_id, name, test, grain, at, what, carrier, code)
    )${clustered}`,
    // For retention.
    `create index campaign_figures_by_age on campaign_figures (account_id, at)`,
    `create table campaign_links (
      account_id integer not null,
      campaign_id ${uuid} not null,
      request_id ${uuid} not null,
      primary key (account_id, campaign_id, request_id)
    )${clustered}`,
    `alter table campaigns add column opted_out integer not null default 0`,
  ],
};
