import { describeFailure, laneOf } from "../rows.ts";
import { NOBODY, type Acceptance, type AcceptResult } from "../store.ts";
import { columns } from "./columns.ts";
import { isRowFault } from "./faults.ts";
import type { Query } from "./pool.ts";
import { rounds } from "./rounds.ts";

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
  created_at: "bigint",
  due_at: "bigint",
  expires_at: "bigint",
  path: "text",
  key: "text",
  body_hash: "text",
  response: "text",
});

const RECIPIENTS = columns(
  { request: "integer", n: "integer", number: "text", failure: "text", description: "text" },
  REQUESTS.next,
);

/** A request whose key another transaction is just using waits here for its end, and then either has the key or not. */
const ACCEPT = `
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
  stored as (
    insert into messages (account_id, request_id, n, channel, lane, test, sender, recipient, content, segments, campaign_name,
      state, owner, error_code, description, created_at, due_at, expires_at, done_at)
    select account_id, request_id, n, channel, lane, test, sender, number, content, segments, campaign_name,
      case when failure is null then 'accepted' else 'rejected' end,
      case when failure is null then owner else ${NOBODY} end,
      failure, description, created_at, due_at, expires_at,
      case when failure is null then null else created_at end
    from fresh join (select request, n, number, failure, description from ${RECIPIENTS.rows}) as recipient on request = fresh.place
  )
  select place from fresh`;

const KEYS = columns({ account_id: "integer", path: "text", key: "text" });

const FIND_KEYS = `
  select place, body_hash, response from ${KEYS.rows} join idempotency using (account_id, path, key)`;

type Result = AcceptResult | Error;

/** Stores a batch in one statement. A key that stands twice in it is taken by the first and replayed to the second. */
export async function accept(query: Query, batch: readonly Acceptance[]): Promise<Result[]> {
  const results: Result[] = [];
  for (const [index, round] of rounds(batch, keyOf).entries()) {
    const items = round.map(({ item }) => item);
    const told = await (index === 0 ? acceptTogether(query, items) : acceptLater(query, items));
    round.forEach(({ place }, at) => (results[place] = told[at] as Result));
  }
  return results;
}

const keyOf = ({ message, idempotency }: Acceptance): string | null =>
  idempotency && JSON.stringify([message.accountId, idempotency.path, idempotency.key]);

/** What is wrong with one request fails the statement, so the batch is halved until that request stands alone. */
async function acceptTogether(query: Query, batch: readonly Acceptance[]): Promise<Result[]> {
  let stored: Set<number>;
  try {
    stored = await insert(query, batch);
  } catch (error) {
    if (!isRowFault(error)) throw error;
    if (batch.length === 1) return [error];
    const half = batch.length >> 1;
    return [...(await acceptLater(query, batch.slice(0, half))), ...(await acceptLater(query, batch.slice(half)))];
  }
  const results = batch.map((_, place): Result | null => (stored.has(place + 1) ? { kind: "stored" } : null));
  const rest = batch.filter((_, place) => results[place] === null);
  if (rest.length === 0) return results as Result[];
  const replayed = await replay(query, rest).catch((error: Error) => rest.map(() => error));
  return results.map((result) => result ?? (replayed.shift() as Result));
}

/** Others of the batch may be stored by now, so a failure is told to these callers and not thrown at all. */
const acceptLater = (query: Query, batch: readonly Acceptance[]): Promise<Result[]> =>
  acceptTogether(query, batch).catch((error: Error) => batch.map(() => error));

async function insert(query: Query, batch: readonly Acceptance[]): Promise<Set<number>> {
  const requests = batch.map(({ message, owner, idempotency }) => ({
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
    created_at: message.createdAt,
    due_at: message.dueAt,
    expires_at: message.expiresAt,
    path: idempotency?.path,
    key: idempotency?.key,
    body_hash: idempotency?.bodyHash,
    response: idempotency?.response,
  }));
  const recipients = batch.flatMap((item, place) =>
    item.recipients.map(({ number, failure }, index) => ({
      request: place + 1,
      n: index + 1,
      number,
      failure,
      description: describeFailure(failure),
    })),
  );
  const values = [...REQUESTS.values(requests), ...RECIPIENTS.values(recipients)];
  const { rows } = await query<{ place: number }>({ name: "accept", text: ACCEPT, values });
  return new Set(rows.map((row) => row.place));
}

async function replay(query: Query, batch: readonly Acceptance[]): Promise<Result[]> {
  const keys = batch.map(({ message, idempotency }) => ({
    account_id: message.accountId,
    path: idempotency?.path,
    key: idempotency?.key,
  }));
  const { rows } = await query<{ place: number; body_hash: string; response: string }>({
    text: FIND_KEYS,
    values: KEYS.values(keys),
  });
  const results: (Result | undefined)[] = [];
  for (const row of rows)
    results[row.place - 1] = { kind: "replayed", bodyHash: row.body_hash, response: row.response };
  // A key that was there a moment ago and is not any more has just been forgotten: it is free.
  return Promise.all(
    batch.map(async (item, place) => results[place] ?? ((await acceptTogether(query, [item]))[0] as Result)),
  );
}
