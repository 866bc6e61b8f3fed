import type { Migration } from "./migration.ts";

/** Due time of held callbacks. */
const HELD = Number.MAX_SAFE_INTEGER;

/**
 * Callbacks that wait for their receiver to connect are found by endpoint. The index is empty unless a receiver is away.
 *
 * Binds of clients to the SMPP server, and the parts of texts that they submit.
 */
export const smppServer: Migration = {
  name: "0036-smpp-server",
  statements: ({ uuid, time, clustered }) => [
    `create table smpp_binds (
      account_id integer not null,
      id ${uuid} not null,
      credential_id ${uuid} not null,
      node integer not null,
      kind text not null,
      address text not null,
      secure integer not null,
      bound_at ${time} not null,
      counters text not null,
      trace text,
      closing integer not null,
      trace_until ${time} not null,
      primary key (account_id, id)
    )${clustered}`,
    `create table submitted_parts (
      account_id integer not null,
      credential_id ${uuid} not null,
      source text not null,
      destination text not null,
      reference text not null,
      total integer not null,
      part integer not null,
      part_id ${uuid} not null,
      octets text not null,
      data_coding integer not null,
      registered_delivery integer not null,
      fields text not null,
      at ${time} not null,
      done_at ${time},
      request_id ${uuid},
      primary key (account_id, credential_id, source, destination, reference, total, part)
    )${clustered}`,
    `create unique index submitted_parts_id on submitted_parts (account_id, part_id)`,
    `create index submitted_parts_waiting on submitted_parts (at) where done_at is null`,
    `create index submitted_parts_done on submitted_parts (done_at) where done_at is not null`,
    `create index callbacks_held on callbacks (account_id, endpoint_id, event_id)
      where state = 'waiting' and due_at = ${HELD}`,
  ],
};
