import type { Migration } from "./migration.ts";

/**
 * Configuration records, opt-outs, credits with their ledger, the timeline of each message, and failover from a route that
 * returns no receipt.
 */
export const sms: Migration = {
  name: "0002-sms",
  statements: ({ uuid, time, clustered }) => [
    `insert into revisions (topic, revision) values ('catalog', 1)`,
    `create table catalog (
      account_id integer not null,
      kind text not null,
      id ${uuid} not null,
      name text not null,
      origin text not null,
      content text not null,
      created_at ${time} not null,
      updated_at ${time} not null,
      primary key (account_id, kind, id),
      unique (account_id, kind, name)
    )${clustered}`,
    `insert into catalog (account_id, kind, id, name, origin, content, created_at, updated_at)
      select id, 'route', '00000000-0000-7000-8000-000000000001', 'Everything to the simulator', 'authored',
        '{"channel":"sms","routeClasses":[],"prefixes":[],"senders":[],"carrier":"simulator","priority":100,"weight":1,"enabled":true,"quietHours":null,"failoverAfterSeconds":null,"repeatPromotionsInDoubt":false}',
        created_at, created_at from accounts`,
    `alter table messages add column credits integer not null default 0`,
    `alter table messages add column charge integer not null default 0`,
    `alter table messages add column charge_change integer not null default 0`,
    `alter table messages add column tried text`,
    `alter table messages add column trail text`,
    `update messages set credits = segments`,
    `drop index messages_waiting`,
    `create index messages_waiting on messages (owner, lane, due_at) where state in ('accepted', 'scheduled', 'submitting')`,
    `create index messages_of_campaign on messages (account_id, campaign_name, state) where campaign_name is not null`,
    `create index submissions_by_message on submissions (account_id, request_id, n)`,
    `create table failovers (
      account_id integer not null,
      request_id ${uuid} not null,
      n integer not null,
      due_at ${time} not null,
      primary key (account_id, request_id, n)
    )${clustered}`,
    `create index failovers_due on failovers (due_at)`,
    `create table optouts (
      account_id integer not null,
      number text not null,
      source text not null,
      note text,
      created_at ${time} not null,
      primary key (account_id, number)
    )${clustered}`,
    // The check constraint prevents an overdraft, also by concurrent transactions.
    `create table balances (
      account_id integer not null primary key,
      balance ${time} not null constraint balances_not_overdrawn check (balance >= 0),
      held ${time} not null
    )${clustered}`,
    `insert into balances (account_id, balance, held) select id, 0, 0 from accounts`,
    // The key names the subject of an entry, so no entry is written twice. `n` is 0 for a whole request or a top-up.
    `create table ledger (
      account_id integer not null,
      request_id ${uuid} not null,
      n integer not null,
      kind text not null,
      amount ${time} not null,
      held ${time} not null,
      note text,
      at ${time} not null,
      primary key (account_id, request_id, n, kind)
    )${clustered}`,
    // Position up to which the texts of an account are erased, and the older messages whose texts are still kept.
    `create table retention (
      account_id integer not null primary key,
      erased_to ${uuid} not null,
      erased_to_n integer not null
    )${clustered}`,
    `create table kept_texts (
      account_id integer not null,
      request_id ${uuid} not null,
      n integer not null,
      primary key (account_id, request_id, n)
    )${clustered}`,
    `alter table phone_messages add column carrier text not null default 'simulator'`,
  ],
};
