import type { Migration } from "./migration.ts";

/** Limits of keys that agents use, and the sends that agents have prepared. */
export const agents: Migration = {
  name: "0042-agents",
  statements: ({ uuid, time, clustered }) => [
    `alter table api_keys add column agent text`,
    `create table agent_sends (
      account_id integer not null,
      id ${uuid} not null,
      key_id ${uuid} not null,
      digest text not null,
      operation text not null,
      body text,
      recipients integer not null,
      credits integer not null,
      state text not null,
      claim text,
      reason text,
      result text,
      address text not null,
      created_at ${time} not null,
      expires_at ${time} not null,
      counted_at ${time},
      decided_by text,
      decided_at ${time},
      primary key (account_id, id)
    )${clustered}`,
    `create index agent_sends_by_key on agent_sends (key_id, counted_at)`,
  ],
};
