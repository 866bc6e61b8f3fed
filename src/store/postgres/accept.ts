import { FREE, HELD } from "../charge.ts";
import { callbackRow } from "../callback-rows.ts";
import { describeFailure } from "../../model/message.ts";
import { hasOwn, laneOf } from "../rows.ts";
import { NOBODY, type Acceptance, type AcceptResult, type NewRecipient } from "../store.ts";
import { columns } from "./columns.ts";
import { isRowFault } from "./faults.ts";
import type { ConnectionPool, Query } from "./pool.ts";
import { rounds } from "../rounds.ts";
import { admitCodes } from "./admit-codes.ts";
import { codeParts, type CodeParts, type CodeRows } from "./put-codes.ts";
import type { Admission } from "../verify-store.ts";
import type { WithCode } from "./verify-numbers.ts";

const REQUESTS = columns({
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

const TARGETS = columns({ request: "integer", k: "integer", url: "text", expires_at: "bigint" }, OWN.next);

const LINKS = columns({ request: "integer", n: "integer", k: "integer", code: "text" }, TARGETS.next);

const CALLBACKS = columns(
  {
    request: "integer",
    event_id: "uuid",
    endpoint_id: "uuid",
    kind: "text",
    status: "text",
    n: "integer",
    at: "bigint",
    error_code: "text",
    description: "text",
    carrier: "text",
    facts: "text",
  },
  LINKS.next,
);

const RECIPIENT = `recipient as (select request, n, number, credits, failure, description from ${RECIPIENTS.rows})`;

/** A request whose key another transaction is just using waits here for its end, and then either has the key or not. */
const WITH_KEYS = `
  with request as (select * from ${REQUESTS.rows}),
  taken as (
    insert into idempotency (account_id, path, key, body_hash, response, created_at)
    select account_id, path, key, body_hash, response, created_at from request where key is not null
    order by account_id, path, key
    on conflict (account_id, path, key) do nothing
    returning account_id, path, key
  ),
  fresh as (
    select * from request where key is null or (account_id, path, key) in (select account_id, path, key from taken)
  ),
  ${RECIPIENT}`;

/** For requests that have none, or whose keys were taken before. */
const WITHOUT_KEYS = `
  with fresh as (select * from ${REQUESTS.rows}),
  ${RECIPIENT}`;

const INTO_MESSAGES = `
    insert into messages (account_id, request_id, n, channel, lane, test, sender, recipient, content, segments, campaign_name,
      state, owner, error_code, description, created_at, due_at, expires_at, done_at, credits, charge, trail, carrier, attempts)`;

/** The state that a message is born in. */
const stateOf = (
  due: string,
): string => `case when failure is not null then 'rejected' when ${due} > created_at then 'scheduled'
        when carrier is not null then 'submitting' else 'accepted' end`;

/** The carrier that has it at once, and that this is a try. */
const intentOf = (due: string): string => `case when failure is null and ${due} <= created_at then carrier end,
      case when failure is null and ${due} <= created_at and carrier is not null then 1 else 0 end`;

/** Requests whose messages are all alike, free and without links: nearly all of them, and half the work. */
const PLAIN = `
  stored as (${INTO_MESSAGES}
    select account_id, request_id, n, channel, lane, test, sender, number, content, segments, campaign_name,
      ${stateOf("due_at")},
      case when failure is null and due_at <= created_at then owner else ${NOBODY} end,
      failure, description, created_at, due_at, expires_at,
      case when failure is null then null else created_at end, credits, ${FREE}, trail, ${intentOf("due_at")}
    from fresh join recipient on request = fresh.place
    returning 1
  )`;

/** The balance of an account that cannot pay fails the whole statement: its check is what no concurrent request gets around. */
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
      case when failure is null and due <= created_at then owner else ${NOBODY} end,
      failure, description, created_at, due, expires_at + due - due_at,
      case when failure is null then null else created_at end, credits,
      case when metered = 1 and failure is null then ${HELD} else ${FREE} end,
      case when own_trail is null then trail else coalesce(trail, '') || own_trail end, ${intentOf("due")}
    from item
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
    insert into link_targets (account_id, request_id, k, url, created_at, expires_at)
    select account_id, request_id, k, url, created_at, target.expires_at
    from fresh join (select request, k, url, expires_at from ${TARGETS.rows}) as target on request = fresh.place
  ),
  linked as (
    insert into links (code, account_id, request_id, n, k)
    select code, account_id, request_id, n, k
    from fresh join (select request, n, k, code from ${LINKS.rows}) as link on request = fresh.place
  ),
  told as (
    insert into callbacks (account_id, event_id, endpoint_id, kind, status, request_id, n, at, error_code, description, carrier,
      facts, state, owner, attempts, due_at)
    select account_id, event_id, endpoint_id, kind, status, request_id, callback.n, at, callback.error_code, callback.description,
      callback.carrier, facts, 'waiting', ${NOBODY}, 0, created_at
    from fresh join (select * from ${CALLBACKS.rows}) as callback on request = fresh.place
  )`;

/** A statement that stores requests: without keys, of which it stores all, with them, and with the codes that they send. */
const storing = (name: string, parts: string, codes: CodeParts) => ({
  unkeyed: { name, text: `${WITHOUT_KEYS}, ${parts} select 1 where false` },
  keyed: { name: `${name} keyed`, text: `${WITH_KEYS}, ${parts} select place from fresh` },
  withCodes: { name: `${name} codes`, text: `${WITHOUT_KEYS}, ${parts}, ${codes.text} select place from fresh` },
  codeValues: codes.values,
});

const STORE_PLAIN = storing("accept", PLAIN, codeParts(RECIPIENTS.next, "stored"));
const STORE_RICH = storing("accept rich", RICH, codeParts(CALLBACKS.next, "paid"));

const TAKE_KEYS = `
  insert into idempotency (account_id, path, key, body_hash, response, created_at)
  select account_id, path, key, body_hash, response, created_at from ${REQUESTS.rows} where key is not null
  order by account_id, path, key
  on conflict (account_id, path, key) do nothing
  returning account_id, path, key`;

const KEYS = columns({ account_id: "integer", path: "text", key: "text" });

const GIVE_KEYS_BACK = `
  delete from idempotency using ${KEYS.rows}
  where idempotency.account_id = batch.account_id and idempotency.path = batch.path and idempotency.key = batch.key`;

const FIND_KEYS = `
  select place, body_hash, response from ${KEYS.rows} join idempotency using (account_id, path, key)`;

type Result = AcceptResult | Error;

/** Stores a batch. What sends a one-time password has a way of its own, because limits have a word on it. */
export async function accept(pool: ConnectionPool, batch: readonly Acceptance[]): Promise<Result[]> {
  if (!batch.some(hasCode)) return acceptPlain(pool.query, batch);
  const codes = batch.filter(hasCode);
  const rest = batch.filter((item) => !hasCode(item));
  const told = await inRounds(codes, (items) => acceptCodes(pool, items));
  const others = rest.length === 0 ? [] : await orEachFails(rest, acceptPlain(pool.query, rest));
  return batch.map((item) => (hasCode(item) ? told.shift() : others.shift()) as Result);
}

const hasCode = (item: Acceptance): item is WithCode => item.verification !== undefined;

/** Codes and their messages in one transaction; what is wrong with one undoes it, so the batch is halved until that one stands alone. */
async function acceptCodes(pool: ConnectionPool, batch: readonly WithCode[]): Promise<Result[]> {
  try {
    return await pool.transaction((query) => acceptCodesTogether(query, batch));
  } catch (error) {
    if (!isRowFault(error)) throw error;
    if (batch.length === 1) return [refusalOf(error)];
    const half = batch.length >> 1;
    const later = (part: readonly WithCode[]): Promise<Result[]> => orEachFails(part, acceptCodes(pool, part));
    return [...(await later(batch.slice(0, half))), ...(await later(batch.slice(half)))];
  }
}

async function acceptCodesTogether(query: Query, batch: readonly WithCode[]): Promise<Result[]> {
  const keyed = batch.filter(({ idempotency }) => idempotency);
  const taken = keyed.length === 0 ? new Set<string>() : await takeKeys(query, keyed);
  const isFresh = (item: Acceptance): boolean => {
    const key = keyOf(item);
    return key === null || taken.has(key);
  };
  const fresh = batch.filter(isFresh);
  const admissions = fresh.length === 0 ? [] : await storeAdmitted(query, fresh);
  const refused = fresh.filter((item, place) => item.idempotency && (admissions[place]?.refused.length ?? 0) > 0);
  if (refused.length > 0) await query({ text: GIVE_KEYS_BACK, values: KEYS.values(refused.map(keyRow)) });
  const replays = batch.filter((item) => !isFresh(item));
  const replayed = replays.length === 0 ? [] : await findReplays(query, replays);
  const told = [...admissions];
  return batch.map((item): Result => {
    if (!isFresh(item))
      return replayed.shift() ?? new Error("the key of a request was forgotten while it was asked for");
    const admission = told.shift() as NonNullable<(typeof told)[number]>;
    return { kind: admission.refused.length > 0 ? "held back" : "stored", admission };
  });
}

/** Decides about codes, and stores those that limits let through with their messages. */
async function storeAdmitted(query: Query, batch: readonly WithCode[]): Promise<readonly Admission[]> {
  const { admissions, codes } = await admitCodes(query, batch);
  const admitted = batch.filter((_, place) => admissions[place]?.refused.length === 0);
  if (admitted.length === 0 && codes.prefixes.length === 0) return admissions;
  await insert(query, admitted, codes);
  return admissions;
}

async function takeKeys(query: Query, batch: readonly Acceptance[]): Promise<Set<string>> {
  const { rows } = await query<{ account_id: number; path: string; key: string }>({
    text: TAKE_KEYS,
    values: REQUESTS.values(batch.map(requestRow)),
  });
  return new Set(rows.map(({ account_id, path, key }) => JSON.stringify([account_id, path, key])));
}

/** Stores a batch in one statement. */
const acceptPlain = (query: Query, batch: readonly Acceptance[]): Promise<Result[]> =>
  inRounds(batch, (items) => acceptTogether(query, items));

/** A key that stands twice in a batch is taken by the first and replayed to the second. */
async function inRounds<T extends Acceptance>(
  batch: readonly T[],
  store: (items: readonly T[]) => Promise<Result[]>,
): Promise<Result[]> {
  const results: Result[] = [];
  for (const [index, round] of rounds(batch, keyOf).entries()) {
    const items = round.map(({ item }) => item);
    const told = await (index === 0 ? store(items) : orEachFails(items, store(items)));
    round.forEach(({ place }, at) => (results[place] = told[at] as Result));
  }
  return results;
}

/** Where others of the batch may be stored by now, a failure is told to these callers and not thrown at all. */
const orEachFails = (batch: readonly Acceptance[], told: Promise<Result[]>): Promise<Result[]> =>
  told.catch((error: Error) => batch.map(() => error));

const keyOf = ({ message, idempotency }: Acceptance): string | null =>
  idempotency && JSON.stringify([message.accountId, idempotency.path, idempotency.key]);

/** What is wrong with one request fails the statement, so the batch is halved until that request stands alone. */
async function acceptTogether(query: Query, batch: readonly Acceptance[]): Promise<Result[]> {
  let stored: Set<number>;
  try {
    stored = await insert(query, batch);
  } catch (error) {
    if (!isRowFault(error)) throw error;
    if (batch.length === 1) return [refusalOf(error)];
    const half = batch.length >> 1;
    return [...(await acceptLater(query, batch.slice(0, half))), ...(await acceptLater(query, batch.slice(half)))];
  }
  const results = batch.map((_, place): Result | null => (stored.has(place + 1) ? { kind: "stored" } : null));
  const rest = batch.filter((_, place) => results[place] === null);
  if (rest.length === 0) return results as Result[];
  const replayed = await replay(query, rest).catch((error: Error) => rest.map(() => error));
  return results.map((result) => result ?? (replayed.shift() as Result));
}

/** Two kinds of fault are answers: a balance that would be overdrawn, and a code that another link has. */
function refusalOf(error: Error): Result {
  const { constraint } = error as { constraint?: string };
  if (constraint === "balances_not_overdrawn") return { kind: "unpaid" };
  return constraint === "links_pkey" ? { kind: "code taken" } : error;
}

const isRich = ({ metered, links, recipients, callbacks = [] }: Acceptance): boolean =>
  metered || links !== null || callbacks.length > 0 || recipients.some(hasOwn);

const acceptLater = (query: Query, batch: readonly Acceptance[]): Promise<Result[]> =>
  orEachFails(batch, acceptTogether(query, batch));

async function insert(query: Query, batch: readonly Acceptance[], codes?: CodeRows): Promise<Set<number>> {
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
  const isKeyed = batch.some(({ idempotency }) => idempotency);
  const { rows } = await query<{ place: number }>({
    ...(codes ? store.withCodes : isKeyed ? store.keyed : store.unkeyed),
    values: [
      ...REQUESTS.values(requests),
      ...RECIPIENTS.values(recipients),
      ...(rich ? richValues(batch) : []),
      ...(codes ? store.codeValues(codes) : []),
    ],
  });
  return new Set(isKeyed ? rows.map((row) => row.place) : batch.map((_, index) => index + 1));
}

const requestRow = ({ message, owner, carrier, trail, metered, idempotency }: Acceptance) => ({
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
});

function richValues(batch: readonly Acceptance[]): string[] {
  const own = batch.flatMap(({ recipients }, place) =>
    recipients.flatMap((recipient, index) => (hasOwn(recipient) ? [ownRow(recipient, place + 1, index + 1)] : [])),
  );
  const targets = batch.flatMap(({ links }, place) =>
    (links?.targets ?? []).map((url, index) => ({
      request: place + 1,
      k: index + 1,
      url,
      expires_at: links?.expiresAt,
    })),
  );
  const codes = batch.flatMap(({ links }, place) =>
    (links?.codes ?? []).map(({ code, n, k }) => ({ request: place + 1, n, k, code })),
  );
  const told = batch.flatMap(({ callbacks = [] }, place) =>
    callbacks.map((callback) => ({ ...callbackRow(callback), request: place + 1 })),
  );
  return [...OWN.values(own), ...TARGETS.values(targets), ...LINKS.values(codes), ...CALLBACKS.values(told)];
}

const ownRow = ({ content, segments, dueAt, trail }: NewRecipient, request: number, n: number) => ({
  own_request: request,
  own_n: n,
  own_content: content && JSON.stringify(content),
  own_segments: segments,
  own_due_at: dueAt,
  own_trail: trail,
});

const keyRow = ({ message, idempotency }: Acceptance) => ({
  account_id: message.accountId,
  path: idempotency?.path,
  key: idempotency?.key,
});

async function replay(query: Query, batch: readonly Acceptance[]): Promise<Result[]> {
  const results = await findReplays(query, batch);
  // A key that was there a moment ago and is not any more has just been forgotten: it is free.
  return Promise.all(
    batch.map(async (item, place) => results[place] ?? ((await acceptTogether(query, [item]))[0] as Result)),
  );
}

/** What was answered under the keys of these; nothing where a key has just been forgotten. */
async function findReplays(query: Query, batch: readonly Acceptance[]): Promise<(Result | undefined)[]> {
  const { rows } = await query<{ place: number; body_hash: string; response: string }>({
    text: FIND_KEYS,
    values: KEYS.values(batch.map(keyRow)),
  });
  const results: (Result | undefined)[] = batch.map(() => undefined);
  for (const row of rows)
    results[row.place - 1] = { kind: "replayed", bodyHash: row.body_hash, response: row.response };
  return results;
}
