import type { Migration } from "./migration.ts";

/** Files of an account; their bytes are in a folder or a bucket. */
export const media: Migration = {
  name: "0076-media",
  worksWith: "0.1.0",
  statements: ({ uuid, time, clustered }) => [
    `create table media (
      account_id integer not null,
      id ${uuid} not null,
      test integer not null,
      state text not null,
      type text not null,
      size ${time} not null,
      sha256 text not null,
      name text,
      number text,
      inbound_id ${uuid},
      source text,
      content_key text,
      failure text,
      attempts integer not null,
      created_at ${time} not null,
      expires_at ${time},
      due_at ${time} not null,
      primary key (account_id, id),
      unique (account_id, content_key)
    )${clustered}`,
    // Bytes to fetch or to remove, and uploads that a crash interrupted.
    `create index media_at_work on media (due_at) where state in ('pending', 'storing', 'deleting')`,
    `create index media_expiring on media (expires_at) where state in ('ready', 'failed')`,
    `create index media_of_number on media (account_id, number) where number is not null`,
    `create table media_uploads (
      account_id integer not null,
      media_id ${uuid} not null,
      destination text not null,
      platform_id text not null,
      expires_at ${time} not null,
      primary key (account_id, media_id, destination)
    )${clustered}`,
  ],
};
