import { FREE, HELD } from "../charge.ts";
import { callbackRow, OWN_COLUMNS } from "../callback-rows.ts";
import { describeFailure, FIRST_STATES } from "../../model/message.ts";
import { hasOwn, laneOf, recipientsOf } from "../rows.ts";
import { UNOWNED, type Acceptance, type NewRecipient } from "../store.ts";
import { countingRows } from "./campaign-counts.ts";
import { columns } from "./columns.ts";
import type { Query } from "./pool.ts";
import { codeParts, type CodeParts, type CodeRows } from "./put-codes.ts";

export const REQUESTS = columns({
  account_id: "integer",
  request_id: "uuid",
  channel: "text",
  lane: "integer",
  test: "integer",
  sender: "text",
  content: "text",
  segments: "integer",
  campaign_name: "text",
  owner: "integer",
  carrier: "text",
  created_at: "bigint",
  due_at: "bigint",
  expires_at: "bigint",
  trail: "text",
  metered: "integer",
  path: "text",
  key: "text",
  body_hash: "text",
  response: "text",
  callback: "text",
});

const RECIPIENTS = columns(
  { request: "integer", n: "integer", number: "text", credits: "integer", failure: "text", description: "text" },
  REQUESTS.next,
);

const OWN = columns(
  {
    own_request: "integer",
    own_n: "integer",
    own_content: "text",
    own_segments: "integer",
    own_due_at: "bigint",
    own_trail: "text",
  },
  RECIPIENTS.next,
);

const TARGETS = columns(
  { request: "integer", k: "integer", url: "text", expires_at: "bigint", recipients: "integer" },
  OWN.next,
);

const LINKS = columns({ request: "integer", n: "integer", k: "integer", code: "text" }, TARGETS.next);

const CALLBACKS = columns({ request: "integer", ...OWN_COLUMNS }, LINKS.next);

const RECIPIENT = `recipient as (select request, n, number, credits, failure, description from ${RECIPIENTS.rows})`;

/** Inserts the idempotency keys of these requests and returns the keys that were free. */
export const takingKeys = (requests: string): string => `
    insert into idempotency (account_id, path, key, body_hash, response, created_at)
    select account_id, path, key, body_hash, response, created_at from ${requests} where key is not null
    order by account_id, path, key
    on conflict (account_id, path, key) do nothing
    returning account_id, path, key`;

/** A request whose key another transaction is inserting waits here for its end; then the key is either free or taken. */
const WITH_KEYS = `
  with request as (select * from ${REQUESTS.rows}),
  taken as (${takingKeys("request")}),
  fresh as (
    select * from request where key is null or (account_id, path, key) in (select account_id, path, key from taken)
  ),
  ${RECIPIENT}`;

/** For requests without a key, and for requests whose keys an earlier statement has inserted. */
const WITHOUT_KEYS = `
  with fresh as (select * from ${REQUESTS.rows}),
  ${RECIPIENT}`;

const INTO_MESSAGES = `
    insert into messages (account_id, request_id, n, channel, lane, test, sender, recipient, content, segments, campaign_name,
      state, owner, error_code, description, created_at, due_at, expires_at, done_at, credits, charge, trail, carrier, attempts, callback)`;

/** The initial state of a message. */
const stateOf = (
  due: string,
): string => `case when failure is not null then '${FIRST_STATES.refused}' when ${due} > created_at then '${FIRST_STATES.later}'
        when carrier is not null then '${FIRST_STATES.direct}' else '${FIRST_STATES.queued}' end`;

/** The submit intent: the carrier of a message that is sent at once, and its attempt count. */
const intentOf = (due: string): string => `case when failure is null and ${due} <= created_at then carrier end,
      case when failure is null and ${due} <= created_at and carrier is not null then 1 else 0 end`;

/** For requests with identical messages and without charge, links or callbacks: nearly all requests, and half the work. */
const PLAIN = `
  stored as (${INTO_MESSAGES}
    select account_id, request_id, n, channel, lane, test, sender, number, content, segments, campaign_name,
      ${stateOf("due_at")},
      case when failure is null and due_at <= created_at then owner else ${UNOWNED} end,
      failure, description, created_at, due_at, expires_at,
      case when failure is null then null else created_at end, credits, ${FREE}, trail, ${intentOf("due_at")}, callback
    from fresh join recipient on request = fresh.place
    returning account_id, campaign_name, state
  )`;

/** An overdraft violates the check constraint on the balance and fails the whole statement, also with concurrent requests. */
const RICH = `
  own as (select * from ${OWN.rows}),
  item as (
    select fresh.*, n, number, recipient.credits, failure, description, own_content, own_segments, own_trail,
      coalesce(own_due_at, due_at) as due
    from fresh join recipient on request = fresh.place left join own on own_request = fresh.place and own_n = n
  ),
  stored as (${INTO_MESSAGES}
    select account_id, request_id, n, channel, lane, test, sender, number, coalesce(own_content, content),
      coalesce(own_segments, segments), campaign_name,
      ${stateOf("due")},
      case when failure is null and due <= created_at then owner else ${UNOWNED} end,
      failure, description, created_at, due, expires_at + due - due_at,
      case when failure is null then null else created_at end, credits,
      case when metered = 1 and failure is null then ${HELD} else ${FREE} end,
      case when own_trail is null then trail else coalesce(trail, '') || own_trail end, ${intentOf("due")}, callback
    from item
    returning account_id, campaign_name, state
  ),
  cost as (
    select place, account_id, request_id, created_at, sum(credits) as total from item
    where metered = 1 and failure is null group by place, account_id, request_id, created_at having sum(credits) > 0
  ),
  paid as (
    update balances set balance = balance - total, held = held + total
    from (select account_id, sum(total) as total from cost group by account_id) as bill
    where balances.account_id = bill.account_id
    returning 1
  ),
  noted as (
    insert into ledger (account_id, request_id, n, kind, amount, held, at)
    select account_id, request_id, 0, 'hold', -total, total, created_at from cost
  ),
  aimed as (
    insert into link_targets (account_id, request_id, k, url, created_at, expires_at, recipients)
    select account_id, request_id, k, url, created_at, target.expires_at, target.recipients
    from fresh join (select request, k, url, expires_at, recipients from ${TARGETS.rows}) as target on request = fresh.place
  ),
  linked as (
    insert into links (code, account_id, request_id, n, k)
    select code, account_id, request_id, n, k
    from fresh join (select request, n, k, code from ${LINKS.rows}) as link on request = fresh.place
  ),
  new_callbacks as (
    insert into callbacks (account_id, event_id, endpoint_id, kind, status, request_id, n, at, error_code, description, carrier,
      facts, state, owner, attempts, due_at)
    select account_id, event_id, endpoint_id, kind, status, request_id, callback.n, at, callback.error_code, callback.description,
      callback.carrier, facts, 'waiting', ${UNOWNED}, 0, created_at
    from fresh join (select * from ${CALLBACKS.rows}) as callback on request = fresh.place
  )`;

/** Variants of a statement that stores requests: without keys (all requests are stored), with keys, and with codes. */
const storing = (name: string, parts: string, codes: CodeParts) => ({
  ...storingKinds(name, parts, codes),
  ofCampaigns: storingKinds(`${name} campaigns`, `${parts}, ${countingRows("stored", 1)}`, codes),
  codeValues: codes.values,
});

const storingKinds = (name: string, parts: string, codes: CodeParts) => ({
  unkeyed: { name, text: `${WITHOUT_KEYS}, ${parts} select 1 where false` },
  keyed: { name: `${name} keyed`, text: `${WITH_KEYS}, ${parts} select place from fresh` },
  withCodes: { name: `${name} codes`, text: `${WITHOUT_KEYS}, ${parts}, ${codes.text} select place from fresh` },
});

const STORE_PLAIN = storing("accept", PLAIN, codeParts(RECIPIENTS.next, "stored"));
const STORE_RICH = storing("accept rich", RICH, codeParts(CALLBACKS.next, "paid"));

const isRich = ({ metered, links, recipients, callbacks = [] }: Acceptance): boolean =>
  metered || links !== null || callbacks.length > 0 || recipients.some(hasOwn);

/** Stores the new requests of a batch in one statement. Returns the 1-based places of the stored requests. */
export async function insertRequests(
  query: Query,
  batch: readonly Acceptance[],
  codes?: CodeRows,
): Promise<Set<number>> {
  const requests = batch.map(requestRow);
  const recipients = batch.flatMap((item, place) =>
    item.recipients.map(({ number, credits, failure }, index) => ({
      request: place + 1,
      n: index + 1,
      number,
      credits,
      failure,
      description: describeFailure(failure),
    })),
  );
  const rich = batch.some(isRich);
  const store = rich ? STORE_RICH : STORE_PLAIN;
  const kinds = batch.some(({ message }) => message.campaignName !== null) ? store.ofCampaigns : store;
  const isKeyed = batch.some(({ idempotency }) => idempotency);
  const { rows } = await query<{ place: number }>({
    ...(codes ? kinds.withCodes : isKeyed ? kinds.keyed : kinds.unkeyed),
    values: [
      ...REQUESTS.values(requests),
      ...RECIPIENTS.values(recipients),
      ...(rich ? richValues(batch) : []),
      ...(codes ? store.codeValues(codes) : []),
    ],
  });
  return new Set(isKeyed ? rows.map((row) => row.place) : batch.map((_, index) => index + 1));
}

export const requestRow = ({ message, owner, carrier, timeline: trail, metered, idempotency }: Acceptance) => ({
  account_id: message.accountId,
  request_id: message.requestId,
  channel: message.channel,
  lane: laneOf(message.routeClass),
  test: message.test ? 1 : 0,
  sender: message.sender,
  content: JSON.stringify(message.content),
  segments: message.segments,
  campaign_name: message.campaignName,
  owner,
  carrier,
  created_at: message.createdAt,
  due_at: message.dueAt,
  expires_at: message.expiresAt,
  trail,
  metered: metered ? 1 : 0,
  path: idempotency?.path,
  key: idempotency?.key,
  body_hash: idempotency?.bodyHash,
  response: idempotency?.response,
  callback: message.callback && JSON.stringify(message.callback),
});

function richValues(batch: readonly Acceptance[]): string[] {
  const own = batch.flatMap(({ recipients }, place) =>
    recipients.flatMap((recipient, index) => (hasOwn(recipient) ? [ownRow(recipient, place + 1, index + 1)] : [])),
  );
  const targets = batch.flatMap(({ links }, place) => {
    if (!links) return [];
    const recipients = recipientsOf(links);
    return links.targets.map((url, index) => ({
      request: place + 1,
      k: index + 1,
      url,
      expires_at: links.expiresAt,
      recipients: recipients[index],
    }));
  });
  const codes = batch.flatMap(({ links }, place) =>
    (links?.codes ?? []).map(({ code, n, k }) => ({ request: place + 1, n, k, code })),
  );
  const callbackRows = batch.flatMap(({ callbacks = [] }, place) =>
    callbacks.map((callback) => ({ ...callbackRow(callback), request: place + 1 })),
  );
  return [...OWN.values(own), ...TARGETS.values(targets), ...LINKS.values(codes), ...CALLBACKS.values(callbackRows)];
}

const ownRow = ({ content, segments, dueAt, timeline: trail }: NewRecipient, request: number, n: number) => ({
  own_request: request,
  own_n: n,
  own_content: content && JSON.stringify(content),
  own_segments: segments,
  own_due_at: dueAt,
  own_trail: trail,
});
