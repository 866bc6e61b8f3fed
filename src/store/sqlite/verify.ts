import type { DatabaseSync } from "node:sqlite";
import {
  bucketOf,
  dayOf,
  ledgerAfterBlock,
  ledgerAfterSend,
  NEW_LEDGER,
  oldestBucket,
  paysFor,
  prefixOf,
  type Bucket,
  type PrefixLedger,
} from "../../model/pumping.ts";
import { judgeSend } from "../../model/send-limits.ts";
import { addMoment, allowedAgainAt, DAY_MS, failureRates, HOUR_MS, momentText } from "../../model/verification.ts";
import type { PrefixRow, VerificationRow } from "../tables.ts";
import { failureCapsOf, momentIn, refusedCheck, takePlace } from "../verifications.ts";
import { ledgerOf, prefixRow } from "../verify-guard.ts";
import type { Admission, CheckResult, CodeCheck, NewVerification } from "../verify-store.ts";

/** The code and the request that sends it. */
export interface Sent {
  accountId: number;
  requestId: string;
  number: string;
  createdAt: number;
  test: boolean;
  verification: NewVerification;
}

const NOTHING: Admission = { refused: [], noted: [], blocked: null };

/** Counts sends and verified ones where the rules look for them, inside the writer's transaction. */
function createTally(db: DatabaseSync): (sent: Counted, sends: number, verified: number) => void {
  const count = db.prepare(
    `insert into verify_tallies (account_id, kind, name, bucket, sends, verified) values (?, ?, ?, ?, ?, ?)
     on conflict (account_id, kind, name, bucket) do update set sends = sends + excluded.sends, verified = verified + excluded.verified`,
  );
  return ({ accountId, country, at }, sends, verified) => {
    count.run(accountId, "country", country, bucketOf(at), sends, verified);
    count.run(accountId, "account", "", dayOf(at), sends, verified);
  };
}

interface Counted {
  accountId: number;
  country: string;
  /** When it was sent. */
  at: number;
}

/** Stores a code, in the place of the one before it, unless limits refuse it. Inside the writer's transaction. */
export function createAdmit(db: DatabaseSync): (sent: Sent) => Admission {
  const tally = createTally(db);
  const findNumber = db.prepare("select sends, latest from verify_numbers where account_id = ? and number = ?");
  const findBuckets = db.prepare(
    "select bucket, sends, verified from verify_tallies where account_id = ? and kind = ? and name = ? and bucket >= ?",
  );
  const findPrefix = db.prepare("select * from verify_prefixes where account_id = ? and prefix = ?");
  const putPrefix = db.prepare(
    `insert or replace into verify_prefixes (account_id, prefix, owed, slot, slot_sends, before_sends, sends, verified, sent_at,
       blocked_at, blocked_until, strikes) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const putNumber = db.prepare(
    `insert into verify_numbers (account_id, number, sends, failures, latest, touched_at) values (?, ?, ?, '', ?, ?)
     on conflict (account_id, number) do update set sends = excluded.sends, latest = excluded.latest, touched_at = excluded.touched_at`,
  );
  const supersede = db.prepare(
    `update verifications set state = case when expires_at <= ? then 'expired' else 'superseded' end, done_at = ?,
       next_at = case when followed = 1 then ? end, plan = null
     where account_id = ? and id = ? and state = 'pending'`,
  );
  const insert = db.prepare(
    `insert into verifications (account_id, id, config, number, country, state, digest, checks, checks_max, bound, failures_per_hour,
       failures_per_day, test, created_at, expires_at, next_at, plan, counted, pays, last_request_id,
       followed)
     values (?, ?, ?, ?, ?, 'pending', ?, 0, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );

  const bucketsOf = (accountId: number, kind: string, name: string, from: number): Bucket[] =>
    findBuckets.all(accountId, kind, name, from) as unknown as Bucket[];

  function prefixAt(accountId: number, prefix: string): PrefixLedger {
    const row = findPrefix.get(accountId, prefix) as unknown as PrefixRow | undefined;
    return row ? ledgerOf(row) : NEW_LEDGER;
  }

  function putLedger(accountId: number, prefix: string, ledger: PrefixLedger): void {
    const row = prefixRow(accountId, prefix, ledger);
    putPrefix.run(
      row.account_id,
      row.prefix,
      row.owed,
      row.slot,
      row.slot_sends,
      row.before_sends,
      row.sends,
      row.verified,
      row.sent_at,
      row.blocked_at,
      row.blocked_until,
      row.strikes,
    );
  }

  /** What limits say of a code, and what its prefix owes after that. */
  function judge({ accountId, number, createdAt: now, verification }: Sent, sends: string): Admission {
    const { caps, guard, bound, country } = verification;
    if (!caps) return NOTHING;
    const prefix = prefixOf(number);
    // On the simulator there is nothing to earn, and nothing is owed.
    const ledger = guard && bound ? prefixAt(accountId, prefix) : NEW_LEDGER;
    const traffic = {
      sends,
      prefix: ledger,
      country: guard ? bucketsOf(accountId, "country", country, oldestBucket(now)) : [],
      today: guard ? (bucketsOf(accountId, "account", "", dayOf(now))[0]?.sends ?? 0) : 0,
    };
    const { refusals, newBlock } = judgeSend(traffic, caps, guard, now);
    if (bound && refusals.length > 0) {
      if (newBlock && guard) putLedger(accountId, prefix, ledgerAfterBlock(ledger, newBlock, guard));
      return { refused: refusals, noted: [], blocked: newBlock && { prefix, ...newBlock } };
    }
    if (guard && bound) putLedger(accountId, prefix, ledgerAfterSend(ledger, guard, now));
    return { refused: [], noted: refusals, blocked: null };
  }

  return (sent) => {
    const { accountId, requestId, number, createdAt, test, verification } = sent;
    const { config, country, caps, guard, next, followed = false } = verification;
    const known = findNumber.get(accountId, number) as { sends: string; latest: string } | undefined;
    const sends = known?.sends ?? "";
    const admission = judge(sent, sends);
    if (admission.refused.length > 0) return admission;
    const { before, latest } = takePlace(known?.latest ?? "{}", config, requestId);
    if (before !== null) supersede.run(createdAt, createdAt, createdAt, accountId, before);
    const counted = caps ? addMoment(sends, createdAt) : sends;
    putNumber.run(accountId, number, counted, latest, createdAt);
    if (caps) tally({ accountId, country, at: createdAt }, 1, 0);
    insert.run(
      accountId,
      requestId,
      config,
      number,
      country,
      verification.digest,
      verification.checksMax,
      verification.bound ? 1 : 0,
      verification.failuresPerHour,
      verification.failuresPerDay,
      test ? 1 : 0,
      createdAt,
      verification.expiresAt,
      next?.at ?? (followed ? verification.expiresAt : null),
      next?.plan ?? null,
      caps ? 1 : 0,
      caps && guard && verification.bound ? paysFor(guard) : 0,
      requestId,
      followed ? 1 : 0,
    );
    return admission;
  };
}

type Checked = Pick<
  VerificationRow,
  "state" | "number" | "country" | "checks" | "checks_max" | "created_at" | "counted" | "pays"
>;

const IS_WITHIN = `(bound = 0 or (${momentIn("numbers.failures", "failures_per_hour")} <= ? and ${momentIn("numbers.failures", "failures_per_day")} <= ?))`;

/** Whose failures tries at codes of nobody are. */
const NO_NUMBER = "";

/** Decides one try at a code, inside the writer's transaction. */
export function createCheck(db: DatabaseSync): (check: CodeCheck) => CheckResult {
  const tally = createTally(db);
  const decide = db.prepare(
    `update verifications set checks = checks + 1,
       state = case when digest = ? then 'verified' when checks + 1 >= checks_max then 'exhausted' else 'pending' end,
       done_at = case when digest = ? or checks + 1 >= checks_max then ? end,
       next_at = case when digest = ? or checks + 1 >= checks_max then case when followed = 1 then ? end else next_at end,
       plan = case when digest = ? or checks + 1 >= checks_max then null else plan end
     where account_id = ? and id = ? and state = 'pending' and expires_at > ? and exists (
       select 1 from verify_numbers as numbers
       where numbers.account_id = verifications.account_id and numbers.number = verifications.number and ${IS_WITHIN})
     returning state, number, country, checks, checks_max, created_at, counted, pays`,
  );
  const pay = db.prepare(
    "update verify_prefixes set owed = owed - ?, verified = verified + 1 where account_id = ? and prefix = ?",
  );
  const find = db.prepare("select * from verifications where account_id = ? and id = ?");
  const findFailures = db.prepare("select failures from verify_numbers where account_id = ? and number = ?");
  const putFailures = db.prepare(
    `insert into verify_numbers (account_id, number, sends, failures, latest, touched_at) values (?, ?, '', ?, '{}', ?)
     on conflict (account_id, number) do update set failures = excluded.failures, touched_at = excluded.touched_at`,
  );
  const noteStray = db.prepare(
    `insert into verify_strays (account_id, checks, last_at) values (?, 1, ?)
     on conflict (account_id) do update set checks = checks + 1, last_at = excluded.last_at`,
  );
  const failuresOf = (accountId: number, number: string): string =>
    (findFailures.get(accountId, number)?.["failures"] as string | undefined) ?? "";

  const noteFailure = (accountId: number, number: string, at: number): void => {
    putFailures.run(accountId, number, addMoment(failuresOf(accountId, number), at), at);
  };

  return ({ accountId, id, digest, at }) => {
    const ago = [momentText(at - HOUR_MS), momentText(at - DAY_MS)];
    const values = [digest, digest, at, digest, at, digest, accountId, id, at, ...ago];
    const decided = decide.get(...values) as unknown as Checked | undefined;
    if (decided) {
      const { state, number, country, checks, checks_max: max, created_at: sentAt } = decided;
      if (state === "verified") {
        if (decided.counted === 1) tally({ accountId, country, at: sentAt }, 0, 1);
        if (decided.pays > 0) pay.run(decided.pays, accountId, prefixOf(number));
        return { kind: "verified" };
      }
      noteFailure(accountId, number, at);
      return { kind: "incorrect", remaining: max - checks };
    }
    // Whatever is refused is written down as well: an answer that came sooner would tell what it was about.
    noteStray.run(accountId, at);
    noteFailure(accountId, NO_NUMBER, at);
    const row = find.get(accountId, id) as unknown as VerificationRow | undefined;
    if (!row) return { kind: "unknown" };
    const rates = failureRates(failureCapsOf(row));
    const until = row.bound === 1 ? allowedAgainAt(failuresOf(accountId, row.number), rates, at) : null;
    return refusedCheck(row, until, at);
  };
}
