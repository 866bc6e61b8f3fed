import type { DatabaseSync, SQLInputValue } from "node:sqlite";
import { FREE, HELD } from "../charge.ts";
import { describeFailure } from "../../model/message.ts";
import { laneOf } from "../rows.ts";
import { NOBODY, type AcceptResult, type NewLinks } from "../store.ts";
import { acceptResultOf } from "../verification-rows.ts";
import { createAdmit } from "./admit-codes.ts";
import { unpack, type Packed, type Unpacked } from "./packing.ts";
import { createPutCallback } from "./put-callback.ts";

const STORED: AcceptResult = { kind: "stored" };
const UNPAID: AcceptResult = { kind: "unpaid" };

/** Said by an error, because whatever of the request is written already must be undone. */
export const CODE_TAKEN = "code taken";

/** Said by an error for the same reason. */
export const UNPAID_CODE = "unpaid";

/** Those of a new message, its own place and number last. */
const COLUMNS = [
  "account_id", "request_id", "channel", "lane", "test", "sender", "content", "segments", "campaign_name", "state", "owner",
  "error_code", "description", "created_at", "due_at", "expires_at", "done_at", "credits", "charge", "trail", "carrier",
  "attempts", "n", "recipient",
]; // prettier-ignore

/** Stores requests, inside the writer's transaction. */
export function createAccept(db: DatabaseSync): (batch: readonly Packed[]) => AcceptResult[] {
  const shared = COLUMNS.slice(2).map(() => "?");
  const insertInto = `insert into messages (${COLUMNS.join(", ")})`;
  const insertMessage = db.prepare(`${insertInto} values (${shared.join(", ")}, ?, ?)`);
  /** Most requests are one message that goes at once, and of these a third of a row's columns are the same. */
  const insertSetOut = db.prepare(
    `insert into messages (account_id, request_id, channel, lane, test, sender, content, segments, owner, created_at, due_at,
       expires_at, credits, trail, carrier, recipient, state, charge, attempts, n)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'submitting', ${FREE}, 1, 1)`,
  );
  const insertAlike = db.prepare(`${insertInto} select ${shared.join(", ")}, key + 1, value from json_each(?)`);
  const insertTarget = db.prepare(
    "insert into link_targets (account_id, request_id, k, url, created_at, expires_at) values (?, ?, ?, ?, ?, ?)",
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
      // What the code has already changed must be undone, and so it is said by an error.
      if (code) throw new Error(UNPAID_CODE);
      if (idempotency) removeIdempotency.run(accountId, idempotency.path, idempotency.key);
      return UNPAID;
    }
    if (numbers.length === 1 && setsOut(request)) insertSetOut.run(...setOutOf(request));
    // The recipients of a bulk mostly differ by their numbers alone, and are then one statement: two thirds of the work.
    else if (numbers.length > 1 && areAlike(request)) insertAlike.run(...sharedOf(request, 0), JSON.stringify(numbers));
    else
      for (const [index, number] of numbers.entries())
        insertMessage.run(...sharedOf(request, index), index + 1, number);
    if (links) insertLinks(accountId, requestId, createdAt, links);
    for (const row of callbacks ?? []) putCallback({ ...row, owner: NOBODY, due_at: createdAt });
    return admission ? acceptResultOf(admission) : STORED;
  }

  /** Takes what a request costs from the balance, if there is enough of it. */
  function holdCredits({ accountId, requestId, createdAt, credits, failures }: Unpacked): boolean {
    const total = credits.reduce((sum, each, index) => (failures?.[index] ? sum : sum + each), 0);
    if (total === 0) return true;
    if (hold.run(total, total, accountId, total).changes === 0) return false;
    insertLedger.run(accountId, requestId, 0, "hold", -total, total, createdAt);
    return true;
  }

  function insertLinks(accountId: number, requestId: string, createdAt: number, links: NewLinks): void {
    for (const [index, url] of links.targets.entries())
      insertTarget.run(accountId, requestId, index + 1, url, createdAt, links.expiresAt);
    for (const { code, n, k } of links.codes)
      if (insertLink.run(code, accountId, requestId, n, k).changes === 0) throw new Error(CODE_TAKEN);
  }

  return (batch) => tallies.during(() => batch.map(acceptOne));
}

/** What the first columns of every new message have. */
const beginningOf = ({ accountId, requestId, channel, routeClass, test, sender }: Unpacked): SQLInputValue[] => [
  accountId,
  requestId,
  channel,
  laneOf(routeClass),
  test ? 1 : 0,
  sender,
];

/** Whether nothing is said of the only message of a request but that it goes at once. */
const setsOut = ({ carrier, createdAt, dueAt, campaignName, metered, failures, own }: Unpacked): boolean =>
  carrier !== null && dueAt <= createdAt && campaignName === null && !metered && failures === null && own === null;

/** Such a message, in the order of the columns that are its own. */
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

/** Whether the messages of a request differ by their numbers alone. */
const areAlike = ({ credits, failures, own }: Unpacked): boolean =>
  failures === null && own === null && credits.every((each) => each === credits[0]);

/** A new message but for its place and number, in the order of the columns. */
function sharedOf(request: Unpacked, index: number): SQLInputValue[] {
  const { createdAt, dueAt, carrier } = request;
  const failure = request.failures?.[index] ?? null;
  const [ownContent = null, ownSegments = null, ownDueAt = null, ownTrail = null] = request.own?.[index] ?? [];
  const due = ownDueAt ?? dueAt;
  const waits = due > createdAt;
  const goesAtOnce = carrier !== null && !failure && !waits;
  return [
    ...beginningOf(request),
    ownContent ?? request.content,
    ownSegments ?? request.segments,
    request.campaignName,
    failure ? "rejected" : waits ? "scheduled" : goesAtOnce ? "submitting" : "accepted",
    failure || waits ? NOBODY : request.owner,
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
  ];
}
