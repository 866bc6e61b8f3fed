import type { DatabaseSync } from "node:sqlite";
import {
  addMoment,
  allowedAgainAt,
  bucketOf,
  DAY_MS,
  dayOf,
  failureRates,
  HOUR_MS,
  judgeSend,
  momentText,
  oldestBucket,
  prefixOf,
  type Bucket,
  type Traffic,
} from "../../model/verification.ts";
import type { VerificationRow } from "../tables.ts";
import { blockOf, failureCapsOf, momentIn, refusedCheck, takePlace } from "../verifications.ts";
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
  return ({ accountId, number, country, at }, sends, verified) => {
    count.run(accountId, "prefix", prefixOf(number), bucketOf(at), sends, verified);
    count.run(accountId, "country", country, bucketOf(at), sends, verified);
    count.run(accountId, "account", "", dayOf(at), sends, verified);
  };
}

interface Counted {
  accountId: number;
  number: string;
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
  const findBlock = db.prepare("select * from verify_blocks where account_id = ? and prefix = ?");
  const putBlock = db.prepare(
    `insert into verify_blocks (account_id, prefix, blocked_at, blocked_until, strikes, sends, verified) values (?, ?, ?, ?, ?, ?, ?)
     on conflict (account_id, prefix) do update set blocked_at = excluded.blocked_at, blocked_until = excluded.blocked_until,
       strikes = excluded.strikes, sends = excluded.sends, verified = excluded.verified`,
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
       failures_per_day, test, created_at, expires_at, next_at, plan, counted, last_request_id,
       followed)
     values (?, ?, ?, ?, ?, 'pending', ?, 0, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );

  function trafficOf({ accountId, number, createdAt, verification: { country } }: Sent, sends: string): Traffic {
    const buckets = (kind: string, name: string, from: number): Bucket[] =>
      findBuckets.all(accountId, kind, name, from) as unknown as Bucket[];
    const block = findBlock.get(accountId, prefixOf(number));
    return {
      sends,
      prefix: buckets("prefix", prefixOf(number), oldestBucket(createdAt)),
      country: buckets("country", country, oldestBucket(createdAt)),
      today: buckets("account", "", dayOf(createdAt))[0]?.sends ?? 0,
      block: block ? blockOf(block as never) : null,
    };
  }

  function judge(sent: Sent, sends: string): Admission {
    const { accountId, number, createdAt, verification } = sent;
    const { caps, guard, bound } = verification;
    if (!caps) return NOTHING;
    const { refusals, newBlock } = judgeSend(trafficOf(sent, sends), caps, guard, createdAt);
    if (!bound || refusals.length === 0) return { refused: [], noted: refusals, blocked: null };
    const blocked = newBlock && { prefix: prefixOf(number), ...newBlock };
    if (blocked)
      putBlock.run(
        accountId,
        blocked.prefix,
        blocked.blockedAt,
        blocked.until,
        blocked.strikes,
        blocked.sends,
        blocked.verified,
      );
    return { refused: refusals, noted: [], blocked };
  }

  return (sent) => {
    const { accountId, requestId, number, createdAt, test, verification } = sent;
    const { config, country, caps, next, followed = false } = verification;
    const known = findNumber.get(accountId, number) as { sends: string; latest: string } | undefined;
    const sends = known?.sends ?? "";
    const admission = judge(sent, sends);
    if (admission.refused.length > 0) return admission;
    const { before, latest } = takePlace(known?.latest ?? "{}", config, requestId);
    if (before !== null) supersede.run(createdAt, createdAt, createdAt, accountId, before);
    const counted = caps ? addMoment(sends, createdAt) : sends;
    putNumber.run(accountId, number, counted, latest, createdAt);
    if (caps) tally({ accountId, number, country, at: createdAt }, 1, 0);
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
      requestId,
      followed ? 1 : 0,
    );
    return admission;
  };
}

type Checked = Pick<
  VerificationRow,
  "state" | "number" | "country" | "checks" | "checks_max" | "created_at" | "counted"
>;

const IS_WITHIN = `(bound = 0 or (${momentIn("numbers.failures", "failures_per_hour")} <= ? and ${momentIn("numbers.failures", "failures_per_day")} <= ?))`;

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
     returning state, number, country, checks, checks_max, created_at, counted`,
  );
  const find = db.prepare("select * from verifications where account_id = ? and id = ?");
  const findFailures = db.prepare("select failures from verify_numbers where account_id = ? and number = ?");
  const putFailures = db.prepare(
    "update verify_numbers set failures = ?, touched_at = ? where account_id = ? and number = ?",
  );
  const noteStray = db.prepare(
    `insert into verify_strays (account_id, checks, last_at) values (?, 1, ?)
     on conflict (account_id) do update set checks = checks + 1, last_at = excluded.last_at`,
  );
  const failuresOf = (accountId: number, number: string): string =>
    (findFailures.get(accountId, number)?.["failures"] as string | undefined) ?? "";

  return ({ accountId, id, digest, at }) => {
    const ago = [momentText(at - HOUR_MS), momentText(at - DAY_MS)];
    const values = [digest, digest, at, digest, at, digest, accountId, id, at, ...ago];
    const decided = decide.get(...values) as unknown as Checked | undefined;
    if (decided) {
      const { state, number, country, checks, checks_max: max, created_at: sentAt } = decided;
      if (state === "verified") {
        if (decided.counted === 1) tally({ accountId, number, country, at: sentAt }, 0, 1);
        return { kind: "verified" };
      }
      putFailures.run(addMoment(failuresOf(accountId, number), at), at, accountId, number);
      return { kind: "incorrect", remaining: max - checks };
    }
    // Whatever is refused is written down as well: an answer that came sooner would tell what it was about.
    noteStray.run(accountId, at);
    const row = find.get(accountId, id) as unknown as VerificationRow | undefined;
    if (!row) return { kind: "unknown" };
    const rates = failureRates(failureCapsOf(row));
    const until = row.bound === 1 ? allowedAgainAt(failuresOf(accountId, row.number), rates, at) : null;
    return refusedCheck(row, until, at);
  };
}
