import type { Migration } from "./migration.ts";

/** Campaigns: one message to every recipient of an audience. */
export const campaigns: Migration = {
  name: "0044-campaigns",
  statements: ({ uuid, time, clustered }) => [
    `create table campaigns (
      account_id integer not null,
      id ${uuid} not null,
      test integer not null,
      name text not null,
      state text not null,
      message text not null,
      audience_id ${uuid} not null,
      throttle integer,
      send_window text,
      scheduled_at ${time},
      position integer not null,
      accepted integer not null,
      skipped integer not null,
      skips text not null,
      is_fed integer not null,
      failure text,
      batch_key text,
      next_at ${time} not null,
      created_at ${time} not null,
      changed_at ${time} not null,
      started_at ${time},
      ended_at ${time},
      claim text,
      claimed_until ${time} not null,
      primary key (account_id, id)
    )${clustered}`,
    // Pausing and cancelling go by name, so two campaigns never share one.
    `create unique index campaigns_by_name on campaigns (account_id, test, name)`,
    // The idempotency key of the batch at which a campaign stands does not expire.
    `create index campaigns_by_batch on campaigns (account_id, batch_key)`,
    `create index campaigns_by_audience on campaigns (account_id, audience_id)`,
    `create index campaigns_at_work on campaigns (next_at) where state in ('scheduled', 'running')`,
  ],
};
