import type { DatabaseSync, SQLInputValue } from "node:sqlite";
import { FREE, HELD } from "../charge.ts";
import { describeFailure } from "../../model/message.ts";
import { laneOf } from "../rows.ts";
import { NOBODY, type AcceptResult, type NewLinks } from "../store.ts";
import { createAdmit } from "./admit-codes.ts";
import type { Packed } from "./packing.ts";
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
    const [accountId, requestId, , , test, , , , , createdAt, , , , , metered, links, idempotency, numbers] = packed;
    const [, , , , , , , , , , , , , , , , , , , , , callbacks, code] = packed;
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
    if (metered && !holdCredits(packed)) {
      // What the code has already changed must be undone, and so it is said by an error.
      if (code) throw new Error(UNPAID_CODE);
      if (idempotency) removeIdempotency.run(accountId, idempotency.path, idempotency.key);
      return UNPAID;
    }
    // The recipients of a bulk mostly differ by their numbers alone, and are then one statement: two thirds of the work.
    if (numbers.length > 1 && areAlike(packed)) insertAlike.run(...sharedOf(packed, 0), JSON.stringify(numbers));
    else
      for (const [index, number] of numbers.entries()) insertMessage.run(...sharedOf(packed, index), index + 1, number);
    if (links) insertLinks(accountId, requestId, createdAt, links);
    for (const row of callbacks ?? [])
      putCallback({ ...row, state: "waiting", owner: NOBODY, attempts: 0, due_at: createdAt });
    return admission ? { kind: "stored", admission } : STORED;
  }

  /** Takes what a request costs from the balance, if there is enough of it. */
  function holdCredits(packed: Packed): boolean {
    const [accountId, requestId, , , , , , , , createdAt] = packed;
    const [, , , , , , , , , , , , , , , , , , credits, failures] = packed;
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

/** Whether the messages of a request differ by their numbers alone. */
function areAlike(packed: Packed): boolean {
  const [, , , , , , , , , , , , , , , , , , credits, failures, own] = packed;
  return failures === null && own === null && credits.every((each) => each === credits[0]);
}

/** A new message but for its place and number, in the order of the columns. */
function sharedOf(packed: Packed, index: number): SQLInputValue[] {
  const [accountId, requestId, channel, routeClass, test, sender, content, segments, campaignName] = packed;
  const [, , , , , , , , , createdAt, dueAt, expiresAt, owner, trail, metered] = packed;
  const [, , , , , , , , , , , , , , , , , , credits, failures, own, , , carrier] = packed;
  const failure = failures?.[index] ?? null;
  const [ownContent = null, ownSegments = null, ownDueAt = null, ownTrail = null] = own?.[index] ?? [];
  const due = ownDueAt ?? dueAt;
  const waits = due > createdAt;
  return [
    accountId,
    requestId,
    channel,
    laneOf(routeClass),
    test ? 1 : 0,
    sender,
    ownContent ?? content,
    ownSegments ?? segments,
    campaignName,
    failure ? "rejected" : waits ? "scheduled" : carrier === null ? "accepted" : "submitting",
    failure || waits ? NOBODY : owner,
    failure,
    describeFailure(failure),
    createdAt,
    due,
    expiresAt + due - dueAt,
    failure ? createdAt : null,
    credits[index] ?? 0,
    metered && !failure ? HELD : FREE,
    ownTrail === null ? trail : (trail ?? "") + ownTrail,
    failure || waits ? null : carrier,
    failure || waits || carrier === null ? 0 : 1,
  ];
}
