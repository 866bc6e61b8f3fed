import type { Migration } from "./migration.ts";

/**
 * Inbound messages on any channel. Routes were for SMS only, so the default route of every account now covers every channel.
 * Routes that users created stay unchanged.
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
    // Partial index: most inbound messages answer no particular message and add nothing to it.
    `create index inbound_answers on inbound (account_id, request_id, n, id) where request_id is not null`,
    `update catalog set content = replace(content, '"channel":"sms"', '"channel":null')
      where kind = 'route' and name = 'Everything to the simulator'`,
    // An unmatched receipt names the channel of its message.
    `alter table parked_receipts add column channel text`,
    // Includes the time, so that SQLite finds a campaign's messages in the index alone.
    `drop index messages_of_campaign`,
    `create index messages_of_campaign on messages (account_id, campaign_name, state, due_at) where campaign_name is not null`,
  ],
};
