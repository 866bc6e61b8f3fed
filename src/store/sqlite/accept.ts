import type { DatabaseSync, SQLInputValue } from "node:sqlite";
import { FREE, HELD } from "../charge.ts";
import { describeFailure, FIRST_STATES, type State } from "../../model/message.ts";
import { laneOf, recipientsOf } from "../rows.ts";
import { UNOWNED, type AcceptResult, type NewLinks } from "../store.ts";
import { acceptResultOf } from "../verification-rows.ts";
import { createAdmit } from "./admit-codes.ts";
import type { CampaignCounts } from "./campaign-counts.ts";
import { unpack, type Packed, type Unpacked } from "./packing.ts";
import { createPutCallback } from "./put-callback.ts";

const STORED: AcceptResult = { kind: "stored" };
const UNPAID: AcceptResult = { kind: "unpaid" };

/** Thrown as an error, so that the rows that the request has already written are rolled back. */
export const CODE_TAKEN = "code taken";

/** Thrown as an error for the same reason. */
export const UNPAID_CODE = "unpaid";

/** The columns of a new message; its place and recipient come last. */
const COLUMNS = [
  "account_id", "request_id", "channel", "lane", "test", "sender", "content", "segments", "campaign_name", "state", "owner",
  "error_code", "description", "created_at", "due_at", "expires_at", "done_at", "credits", "charge", "trail", "carrier",
  "attempts", "callback", "n", "recipient",
]; // prettier-ignore

/** Stores requests, inside the writer's transaction. */
export function createAccept(db: DatabaseSync, counts: CampaignCounts): (batch: readonly Packed[]) => AcceptResult[] {
  const shared = COLUMNS.slice(2).map(() => "?");
  const insertInto = `insert into messages (${COLUMNS.join(", ")})`;
  const insertMessage = db.prepare(`${insertInto} values (${shared.join(", ")}, ?, ?)`);
  /** Most requests are one message that goes out at once. For these, a third of the columns are constants. */
  const insertSetOut = db.prepare(
    `insert into messages (account_id, request_id, channel, lane, test, sender, content, segments, owner, created_at, due_at,
       expires_at, credits, trail, carrier, recipient, state, charge, attempts, n)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, '${FIRST_STATES.direct}', ${FREE}, 1, 1)`,
  );
  const insertAlike = db.prepare(`${insertInto} select ${shared.join(", ")}, key + 1, value from json_each(?)`);
  const insertTarget = db.prepare(
    "insert into link_targets (account_id, request_id, k, url, created_at, expires_at, recipients) values (?, ?, ?, ?, ?, ?, ?)",
  );
  const insertLink = db.prepare(
    "insert into links (code, account_id, request_id, n, k) values (?, ?, ?, ?, ?) on conflict (code) do nothing",
  );
  const hold = db.prepare(
    "update balances set balance = balance - ?, held = held + ? where account_id = ? and balance >= ?",
  );
  const insertIdempotency = db.prepare(
    `insert into idempotency (account_id, path, key, body_hash, response, created_at) values (?, ?, ?, ?, ?, ?)
     on conflict (account_id, path, key) do nothing`,
  );
  const removeIdempotency = db.prepare("delete from idempotency where account_id = ? and path = ? and key = ?");
  const findIdempotency = db.prepare(
    "select body_hash, response from idempotency where account_id = ? and path = ? and key = ?",
  );
  const insertLedger = db.prepare(
    "insert into ledger (account_id, request_id, n, kind, amount, held, note, at) values (?, ?, ?, ?, ?, ?, null, ?)",
  );

  const putCallback = createPutCallback(db);
  const { admit, tallies } = createAdmit(db);

  function acceptOne(packed: Packed): AcceptResult {
    const request = unpack(packed);
    const { accountId, requestId, test, createdAt, metered, links, idempotency, numbers, callbacks, code } = request;
    if (idempotency) {
      const { path, key, bodyHash, response } = idempotency;
      const { changes } = insertIdempotency.run(accountId, path, key, bodyHash, response, createdAt);
      if (changes === 0) {
        const earlier = findIdempotency.get(accountId, path, key) as { body_hash: string; response: string };
        return { kind: "replayed", bodyHash: earlier.body_hash, response: earlier.response };
      }
    }
    const [first = ""] = numbers;
    const sent = { accountId, requestId, number: first, createdAt, test };
    const admission = code ? admit(sent, code) : undefined;
    if (admission && admission.refused.length > 0) {
      if (idempotency) removeIdempotency.run(accountId, idempotency.path, idempotency.key);
      return { kind: "held back", admission };
    }
    if (metered && !holdCredits(request)) {
      // Thrown as an error, so that the rows that the code has changed are rolled back.
      if (code) throw new Error(UNPAID_CODE);
      if (idempotency) removeIdempotency.run(accountId, idempotency.path, idempotency.key);
      return UNPAID;
    }
    if (numbers.length === 1 && setsOut(request)) insertSetOut.run(...setOutOf(request));
    // Recipients of a bulk request mostly differ only by number. One statement then saves a third of the work.
    else if (numbers.length > 1 && areAlike(request)) {
      insertAlike.run(...sharedOf(request, 0), JSON.stringify(numbers));
      counts.note(accountId, request.campaignName, null, initialState(request, 0), numbers.length);
    } else
      for (const [index, number] of numbers.entries()) {
        insertMessage.run(...sharedOf(request, index), index + 1, number);
        counts.note(accountId, request.campaignName, null, initialState(request, index));
      }
    if (links) insertLinks(accountId, requestId, createdAt, links);
    for (const row of callbacks ?? []) putCallback({ ...row, owner: UNOWNED, due_at: createdAt, seq: 0 });
    return admission ? acceptResultOf(admission) : STORED;
  }

  /** Holds the cost of a request on the balance; false when the balance is too low. */
  function holdCredits({ accountId, requestId, createdAt, credits, failures }: Unpacked): boolean {
    const total = credits.reduce((sum, each, index) => (failures?.[index] ? sum : sum + each), 0);
    if (total === 0) return true;
    if (hold.run(total, total, accountId, total).changes === 0) return false;
    insertLedger.run(accountId, requestId, 0, "hold", -total, total, createdAt);
    return true;
  }

  function insertLinks(accountId: number, requestId: string, createdAt: number, links: NewLinks): void {
    const recipients = recipientsOf(links);
    for (const [index, url] of links.targets.entries())
      insertTarget.run(accountId, requestId, index + 1, url, createdAt, links.expiresAt, recipients[index] ?? 0);
    for (const { code, n, k } of links.codes)
      if (insertLink.run(code, accountId, requestId, n, k).changes === 0) throw new Error(CODE_TAKEN);
  }

  return (batch) => tallies.during(() => batch.map(acceptOne));
}

/** The first columns of every new message. */
const beginningOf = ({ accountId, requestId, channel, routeClass, test, sender }: Unpacked): SQLInputValue[] => [
  accountId,
  requestId,
  channel,
  laneOf(routeClass),
  test ? 1 : 0,
  sender,
];

/** True for a single message that goes out at once, without campaign, metering or failures. */
const setsOut = ({ carrier, createdAt, dueAt, campaignName, metered, failures, own, callback }: Unpacked): boolean =>
  carrier !== null &&
  dueAt <= createdAt &&
  campaignName === null &&
  !metered &&
  failures === null &&
  own === null &&
  callback === null;

/** The values of a message that goes out at once, in column order. */
const setOutOf = (request: Unpacked): SQLInputValue[] => [
  ...beginningOf(request),
  request.content,
  request.segments,
  request.owner,
  request.createdAt,
  request.dueAt,
  request.expiresAt,
  request.credits[0] ?? 0,
  request.trail,
  request.carrier,
  request.numbers[0] ?? "",
];

/** True if the messages of a request differ only by number. */
const areAlike = ({ credits, failures, own }: Unpacked): boolean =>
  failures === null && own === null && credits.every((each) => each === credits[0]);

const dueAtOf = ({ dueAt, own }: Unpacked, index: number): number => own?.[index]?.[2] ?? dueAt;

function initialState(request: Unpacked, index: number): State {
  if (request.failures?.[index]) return FIRST_STATES.refused;
  if (dueAtOf(request, index) > request.createdAt) return FIRST_STATES.later;
  return request.carrier === null ? FIRST_STATES.queued : FIRST_STATES.direct;
}

/** A new message without its place and number, in column order. */
function sharedOf(request: Unpacked, index: number): SQLInputValue[] {
  const { createdAt, dueAt, carrier } = request;
  const failure = request.failures?.[index] ?? null;
  const [ownContent = null, ownSegments = null, , ownTrail = null] = request.own?.[index] ?? [];
  const due = dueAtOf(request, index);
  const state = initialState(request, index);
  const goesAtOnce = state === FIRST_STATES.direct;
  return [
    ...beginningOf(request),
    ownContent ?? request.content,
    ownSegments ?? request.segments,
    request.campaignName,
    state,
    state === FIRST_STATES.refused || state === FIRST_STATES.later ? UNOWNED : request.owner,
    failure,
    describeFailure(failure),
    createdAt,
    due,
    request.expiresAt + due - dueAt,
    failure ? createdAt : null,
    request.credits[index] ?? 0,
    request.metered && !failure ? HELD : FREE,
    ownTrail === null ? request.trail : (request.trail ?? "") + ownTrail,
    goesAtOnce ? carrier : null,
    goesAtOnce ? 1 : 0,
    request.callback,
  ];
}
