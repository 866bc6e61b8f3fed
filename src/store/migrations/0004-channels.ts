import type { Migration } from "./migration.ts";

/**
 * What users send back on any channel. Routes could until now be for SMS only, so the one that every account began with
 * means every channel from now on; what people wrote themselves stays as they wrote it.
 */
export const channels: Migration = {
  name: "0004-channels",
  statements: ({ uuid, time, clustered }) => [
    `create table inbound (
      account_id integer not null,
      id ${uuid} not null,
      channel text not null,
      number text not null,
      sender text not null,
      content text not null,
      request_id ${uuid},
      n integer,
      received_at ${time} not null,
      primary key (account_id, id)
    )${clustered}`,
    `create index inbound_of_conversation on inbound (account_id, channel, number, sender, id)`,
    // Most of what comes answers nothing in particular, and pays nothing for this.
    `create index inbound_answers on inbound (account_id, request_id, n, id) where request_id is not null`,
    `update catalog set content = replace(content, '"channel":"sms"', '"channel":null')
      where kind = 'route' and name = 'Everything to the simulator'`,
    // With the time in it, so that SQLite finds a campaign's messages in it alone.
    // A receipt that came early says by which channel its message went.
    `alter table parked_receipts add column channel text`,
    `drop index messages_of_campaign`,
    `create index messages_of_campaign on messages (account_id, campaign_name, state, due_at) where campaign_name is not null`,
  ],
};
