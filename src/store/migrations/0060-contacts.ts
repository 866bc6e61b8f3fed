import type { Migration } from "./migration.ts";

/**
 * Contacts, their imports from audiences, and audiences from segments. `granted` repeats the granted consents as a list, so that
 * a filter can look for one. `contact_attributes` has the names of all attributes of the account, which are the variables of a
 * segment.
 */
export const contacts: Migration = {
  name: "0060-contacts",
  worksWith: "0.1.0",
  statements: ({ uuid, time, clustered }) => [
    `create table contacts (
      account_id integer not null,
      test integer not null,
      number text not null,
      name text,
      attributes text not null,
      tags text not null,
      consents text not null,
      granted text not null,
      created_at ${time} not null,
      updated_at ${time} not null,
      revision integer not null,
      primary key (account_id, test, number)
    )${clustered}`,
    `create index contacts_by_age on contacts (account_id, updated_at)`,
    `create table contact_attributes (
      account_id integer not null,
      test integer not null,
      name text not null,
      primary key (account_id, test, name)
    )${clustered}`,
    `create table contact_imports (
      account_id integer not null,
      id ${uuid} not null,
      test integer not null,
      audience_id ${uuid} not null,
      state text not null,
      content text not null,
      total integer not null,
      done integer not null,
      position integer not null,
      failure text,
      created_at ${time} not null,
      ended_at ${time},
      claim text,
      claimed_until ${time} not null,
      primary key (account_id, id)
    )${clustered}`,
    `create index contact_imports_at_work on contact_imports (claimed_until) where state = 'running'`,
    `alter table audiences add column segment text`,
    // The number up to which the contacts of the segment are read.
    `alter table audiences add column segment_position text`,
  ],
};
