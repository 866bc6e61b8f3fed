import type { DatabaseSync } from "node:sqlite";
import type { PhoneMessage } from "../../model/phone.ts";

/** Stores messages on the simulated phones, inside the writer's transaction. */
export function createReceiveOnPhones(db: DatabaseSync) {
  const insertMessage = db.prepare(
    `insert into phone_messages (account_id, id, number, sender, channel, content, message_id, received_at, reports_due_at, carrier, test)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict (account_id, id) do nothing`,
  );
  const countOnPhone = db.prepare(
    `insert into phones (account_id, number, name, message_count, last_message_at) values (?, ?, null, 1, ?)
     on conflict (account_id, number) do update set message_count = message_count + 1, last_message_at = excluded.last_message_at`,
  );
  return (batch: readonly PhoneMessage[]): void => {
    for (const message of batch) {
      const { changes } = insertMessage.run(
        message.accountId,
        message.id,
        message.number,
        message.sender,
        message.channel,
        JSON.stringify(message.content),
        message.messageId,
        message.receivedAt,
        message.reportsDueAt,
        message.carrier,
        message.test ? 1 : 0,
      );
      if (changes === 1) countOnPhone.run(message.accountId, message.number, message.receivedAt);
    }
  };
}

export function createMarkReported(db: DatabaseSync) {
  const mark = db.prepare("update phone_messages set reports_due_at = null where account_id = ? and id = ?");
  return (batch: readonly Pick<PhoneMessage, "accountId" | "id">[]): void => {
    for (const { accountId, id } of batch) mark.run(accountId, id);
  };
}
