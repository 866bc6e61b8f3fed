import type { PhoneMessage } from "../../model/phone.ts";
import { columns } from "./columns.ts";
import type { Query } from "./pool.ts";

const MESSAGES = columns({
  account_id: "integer",
  id: "uuid",
  number: "text",
  sender: "text",
  channel: "text",
  content: "text",
  message_id: "text",
  received_at: "bigint",
  reports_due_at: "bigint",
  carrier: "text",
  test: "integer",
});

/** Counts per phone first, because one statement cannot update a phone twice. The order prevents deadlocks between nodes. */
const RECEIVE = `
  with landed as (
    insert into phone_messages (account_id, id, number, sender, channel, content, message_id, received_at, reports_due_at, carrier, test)
    select account_id, id, number, sender, channel, content, message_id, received_at, reports_due_at, carrier, test from ${MESSAGES.rows}
    order by account_id, id
    on conflict (account_id, id) do nothing
    returning account_id, number, received_at
  )
  insert into phones (account_id, number, name, message_count, last_message_at)
  select account_id, number, null, count(*), max(received_at) from landed group by account_id, number order by account_id, number
  on conflict (account_id, number) do update set
    message_count = phones.message_count + excluded.message_count, last_message_at = excluded.last_message_at`;

export async function receiveOnPhones(query: Query, batch: readonly PhoneMessage[]): Promise<void> {
  const messages = batch.map((message) => ({
    account_id: message.accountId,
    id: message.id,
    number: message.number,
    sender: message.sender,
    channel: message.channel,
    content: JSON.stringify(message.content),
    message_id: message.messageId,
    received_at: message.receivedAt,
    reports_due_at: message.reportsDueAt,
    carrier: message.carrier,
    test: message.test ? 1 : 0,
  }));
  await query({ name: "receive on phones", text: RECEIVE, values: MESSAGES.values(messages) });
}

const IDS = columns({ account_id: "integer", id: "uuid" });

const MARK = `
  update phone_messages set reports_due_at = null from ${IDS.rows}
  where phone_messages.account_id = batch.account_id and phone_messages.id = batch.id`;

export async function markReported(
  query: Query,
  batch: readonly Pick<PhoneMessage, "accountId" | "id">[],
): Promise<void> {
  const rows = batch.map(({ accountId, id }) => ({ account_id: accountId, id }));
  await query({ name: "mark reported", text: MARK, values: IDS.values(rows) });
}
