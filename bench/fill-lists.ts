import { idOf, type BareStore } from "./bare-store.ts";

/** Row counts of the lists beside the messages, for a store with a given number of messages. */
const sizesFor = (messages: number) => ({
  optOuts: Math.min(200_000, Math.ceil(messages / 5)),
  verifications: Math.ceil(messages / 20),
  inbound: Math.ceil(messages / 50),
  audit: Math.min(200_000, Math.ceil(messages / 50)),
  ledger: Math.ceil(messages / 20),
  phoneMessages: Math.ceil(messages / 20),
  prefixes: Math.ceil(messages / 50),
  unmatched: Math.min(10_000, Math.ceil(messages / 100)),
});

const SPAN_MS = 90 * 86_400_000;

/** Fills the other lists of the first account over 90 days: the dashboard shows each of them on a page. */
export async function fillLists(store: BareStore, messages: number, progress: (line: string) => void): Promise<void> {
  const sizes = sizesFor(messages);
  const firstAt = Date.now() - SPAN_MS;
  /** Rows in the order of their time; `at` is their time. */
  const rows = (count: number): string => {
    const numbers = store.numbers(0, count);
    return `(select i, ${firstAt} + i * ${Math.max(1, Math.floor(SPAN_MS / count))} as at from ${numbers}) as places`;
  };
  const id = idOf(store, "at", "i");
  const phone = "'1557' || (1000000 + i * 7919 % 900000)";

  progress(`${sizes.optOuts} opt-outs`);
  await store.run(`insert into optouts (account_id, number, source, note, created_at)
    select 1, '1558' || (1000000 + i), 'keyword', null, at from ${rows(sizes.optOuts)}`);

  progress(`${sizes.verifications} verifications`);
  await store.run(`insert into verifications (account_id, id, mode, config, number, country, state, digest, checks, checks_max,
      bound, failures_per_hour, failures_per_day, test, created_at, expires_at, done_at, next_at, plan, counted, pays, followed)
    select 1, ${id}, 'live', 'login', ${phone}, 'US', case when i % 10 = 0 then 'expired' when i % 997 = 0 then 'exhausted' else 'verified' end,
      'none', 1, 5, 1, 5, 10, 0, at, at + 600000, at + 20000, null, null, '', 0, 0 from ${rows(sizes.verifications)}`);

  progress(`${sizes.prefixes} prefixes of numbers`);
  await store.run(`insert into verify_prefixes (account_id, prefix, sends, verified, sent_at, blocked_at, blocked_until)
    select 1, '1557' || (1000 + i), 4, 4, ${Date.now()}, case when i % 1000 = 0 then at else 0 end,
      case when i % 1000 = 0 then ${Date.now() + 86_400_000} else 0 end from ${rows(sizes.prefixes)}`);

  progress(`${sizes.inbound} inbound messages`);
  await store.run(`insert into inbound (account_id, id, channel, number, sender, content, request_id, n, received_at, event_id, test)
    select 1, ${id}, 'sms', ${phone}, 'HELIOG', '{"kind":"text","text":"Thank you, that is fine."}', null, null, at, null, 0
    from ${rows(sizes.inbound)}`);

  progress("conversations");
  await store.run(`insert into conversations (account_id, id, test, channel, number, sender, state, unread, is_unread, last_at, assigned_to)
    select 1, ${id}, 0, 'sms', ${phone}, 'HELIOG', case when i % 3 = 0 then 'closed' else 'open' end,
      case when i % 10 = 0 then 2 else 0 end, case when i % 10 = 0 then 1 else 0 end, at, null from ${rows(sizes.inbound)}`);

  progress(`${sizes.optOuts} contacts`);
  await store.run(`insert into contacts (account_id, test, number, name, attributes, tags, consents, granted, created_at, updated_at, revision)
    select 1, 0, '1558' || (1000000 + i), 'Person ' || i, '{"city":"Pune"}', case when i % 100 = 0 then '["vip"]' else '[]' end,
      '[]', case when i % 10 = 0 then '["sms:PROMO"]' else '[]' end, at, at, 1 from ${rows(sizes.optOuts)}`);

  progress(`${sizes.audit} audit entries`);
  await store.run(`insert into audit (account_id, id, actor_kind, actor_id, actor_name, action, kind, record_id, record_name, fields, address)
    select 1, ${id}, 'user', null, 'person' || (i % 50) || '@example.com', 'PATCH /api/templates/:id', 'templates', null,
      'order_shipped', '["text"]', '192.0.2.7' from ${rows(sizes.audit)}`);

  progress(`${sizes.ledger} ledger entries`);
  await store.run(`insert into ledger (account_id, request_id, n, kind, amount, held, note, at)
    select 1, ${id}, 0, 'hold', 0, 1, null, at from ${rows(sizes.ledger)}`);

  progress(`${sizes.phoneMessages} messages on simulated phones`);
  const phones = Math.max(10, Math.ceil(sizes.phoneMessages / 10));
  await store.run(`insert into phone_messages (account_id, id, number, sender, channel, content, message_id, received_at, reports_due_at, carrier, test)
    select 1, ${id}, '1559' || (1000000 + i % ${phones}), 'HELIOG', 'sms', '{"text":"Your code is on its way.","encoding":"gsm7","flash":false}',
      'none:1', at, null, 'simulator', 0 from ${rows(sizes.phoneMessages)}`);
  await store.run(`insert into phones (account_id, number, name, message_count, last_message_at)
    select 1, '1559' || (1000000 + i), null, 10, at from ${rows(phones)}`);

  progress(`${sizes.unmatched} unmatched receipts`);
  const receivedAt = `${Date.now() - 86_400_000} + i`;
  await store.run(`insert into parked_receipts (carrier, carrier_message_id, channel, state, error_code, description, at, parked_at, account_id, other_ids, recipient)
    select '1/bench', 'unmatched-' || i, 'sms', 'delivered', null, null, ${receivedAt}, ${receivedAt}, 1, null, '' from ${rows(sizes.unmatched)}`);
}
