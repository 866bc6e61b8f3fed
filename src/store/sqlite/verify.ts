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
import type { Selectable } from "kysely";
import type { PrefixRow, Tables, VerificationRow } from "../tables.ts";
import {
  bookOf,
  failureCapsOf,
  firstDueAt,
  momentIn,
  owedUnder,
  refusedCheck,
  takePlace,
} from "../verification-rows.ts";
import { blockAfterUse, ledgerOf, prefixRow } from "../prefix-rows.ts";
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

type NumberRow = Pick<Selectable<Tables["verify_numbers"]>, "sends" | "noted_sends" | "latest" | "verified_at">;

/** Counts sends and verified ones where the rules look for them, inside the writer's transaction. */
function createTally(db: DatabaseSync): (sent: Counted, sends: number, verified: number) => void {
  const count = db.prepare(
    `insert into verify_tallies (account_id, kind, name, bucket, sends, verified) values (?, ?, ?, ?, ?, ?)
     on conflict (account_id, kind, name, bucket) do update set sends = sends + excluded.sends, verified = verified + excluded.verified`,
  );
  return ({ accountId, book, country, at }, sends, verified) => {
    count.run(accountId, `country ${book}`, country, bucketOf(at), sends, verified);
    count.run(accountId, `account ${book}`, "", dayOf(at), sends, verified);
  };
}

interface Counted {
  accountId: number;
  book: string;
  country: string;
  /** When it was sent. */
  at: number;
}

/** Stores a code, in the place of the one before it, unless limits refuse it. Inside the writer's transaction. */
export function createAdmit(db: DatabaseSync): (sent: Sent) => Admission {
  const tally = createTally(db);
  const findNumber = db.prepare(
    "select sends, noted_sends, latest, verified_at from verify_numbers where account_id = ? and mode = ? and number = ?",
  );
  const findBuckets = db.prepare(
    "select bucket, sends, verified from verify_tallies where account_id = ? and kind = ? and name = ? and bucket >= ?",
  );
  const findPrefix = db.prepare("select * from verify_prefixes where account_id = ? and prefix = ?");
  const putPrefix = db.prepare(
    `insert or replace into verify_prefixes (account_id, prefix, owed, slot, slot_sends, before_sends, sends, verified, sent_at,
       blocked_at, blocked_until, strikes) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const putNumber = db.prepare(
    `insert into verify_numbers (account_id, mode, number, sends, noted_sends, failures, latest, touched_at)
     values (?, ?, ?, ?, ?, '', ?, ?)
     on conflict (account_id, mode, number) do update set sends = excluded.sends, noted_sends = excluded.noted_sends,
       latest = excluded.latest, touched_at = excluded.touched_at`,
  );
  const supersede = db.prepare(
    `update verifications set state = case when expires_at <= ? then 'expired' else 'superseded' end, done_at = min(expires_at, ?),
       next_at = case when followed = 1 then ? end, plan = null
     where account_id = ? and id = ? and state = 'pending'`,
  );
  const insert = db.prepare(
    `insert into verifications (account_id, id, mode, config, number, country, state, digest, checks, checks_max, bound, failures_per_hour,
       failures_per_day, test, created_at, expires_at, next_at, plan, counted, pays, followed)
     values (?, ?, ?, ?, ?, ?, 'pending', ?, 0, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
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
  function judge(
    { accountId, number, createdAt: now, verification }: Sent,
    sends: string,
    verifiedAt: number,
  ): Admission {
    const { caps, guard, bound, country } = verification;
    const book = bookOf(verification);
    const owed = owedUnder(verification);
    const prefix = prefixOf(number);
    const ledger = owed ? prefixAt(accountId, prefix) : NEW_LEDGER;
    const traffic = {
      sends,
      verifiedAt,
      prefix: ledger,
      country: guard ? bucketsOf(accountId, `country ${book}`, country, oldestBucket(now)) : [],
      today: guard ? (bucketsOf(accountId, `account ${book}`, "", dayOf(now))[0]?.sends ?? 0) : 0,
    };
    const { refusals, newBlock } = judgeSend(traffic, caps, guard, now);
    if (bound && refusals.length > 0) {
      if (newBlock && owed) putLedger(accountId, prefix, ledgerAfterBlock(ledger, newBlock, owed));
      return { refused: refusals, noted: [], blocked: newBlock && { prefix, ...newBlock } };
    }
    if (owed) putLedger(accountId, prefix, ledgerAfterSend(ledger, owed, now));
    return { refused: [], noted: refusals, blocked: null };
  }

  return (sent) => {
    const { accountId, requestId, number, createdAt, test, verification } = sent;
    const { mode, config, country, bound, fixed, next, followed = false } = verification;
    const known = findNumber.get(accountId, mode, number) as unknown as NumberRow | undefined;
    const { sends = "", noted_sends: noted = "" } = known ?? {};
    const admission = judge(sent, bound ? sends : noted, known?.verified_at ?? 0);
    if (admission.refused.length > 0) return admission;
    const { before, latest } = verification.continues
      ? { before: null, latest: known?.latest ?? "{}" }
      : takePlace(known?.latest ?? "{}", config, requestId);
    if (before !== null) supersede.run(createdAt, createdAt, createdAt, accountId, before);
    const counted = bound ? [addMoment(sends, createdAt), noted] : [sends, addMoment(noted, createdAt)];
    putNumber.run(accountId, mode, number, ...counted, latest, createdAt);
    const book = bookOf(verification);
    if (book !== "") tally({ accountId, book, country, at: createdAt }, 1, 0);
    if (verification.continues) return admission;
    const owed = owedUnder(verification);
    insert.run(
      accountId,
      requestId,
      mode,
      config,
      number,
      country,
      verification.digest,
      verification.checksMax,
      bound || fixed ? 1 : 0,
      verification.failuresPerHour,
      verification.failuresPerDay,
      test ? 1 : 0,
      createdAt,
      verification.expiresAt,
      firstDueAt(verification),
      next?.plan ?? null,
      book,
      owed ? paysFor(owed) : 0,
      followed ? 1 : 0,
    );
    return admission;
  };
}

type Checked = Pick<
  VerificationRow,
  "state" | "number" | "country" | "checks" | "checks_max" | "bound" | "created_at" | "counted" | "pays"
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
     where account_id = ? and id = ? and mode = ? and state = 'pending' and expires_at > ? and exists (
       select 1 from verify_numbers as numbers
       where numbers.account_id = verifications.account_id and numbers.mode = verifications.mode
         and numbers.number = verifications.number and ${IS_WITHIN})
     returning state, number, country, checks, checks_max, bound, created_at, counted, pays`,
  );
  const pay = db.prepare(
    `update verify_prefixes set owed = owed - ?, verified = verified + 1, blocked_until = ${blockAfterUse("blocked_until", "?")}
     where account_id = ? and prefix = ?`,
  );
  const know = db.prepare("update verify_numbers set verified_at = ? where account_id = ? and mode = ? and number = ?");
  const find = db.prepare("select * from verifications where account_id = ? and id = ? and mode = ?");
  const findFailures = db.prepare(
    "select failures from verify_numbers where account_id = ? and mode = ? and number = ?",
  );
  const putFailures = db.prepare(
    `insert into verify_numbers (account_id, mode, number, sends, noted_sends, failures, latest, touched_at)
     values (?, ?, ?, '', '', ?, '{}', ?)
     on conflict (account_id, mode, number) do update set failures = excluded.failures, touched_at = excluded.touched_at`,
  );
  const noteStray = db.prepare(
    `insert into verify_strays (account_id, checks, last_at) values (?, 1, ?)
     on conflict (account_id) do update set checks = checks + 1, last_at = excluded.last_at`,
  );
  const failuresOf = ({ accountId, mode }: CodeCheck, number: string): string =>
    (findFailures.get(accountId, mode, number)?.["failures"] as string | undefined) ?? "";

  /** Where it does not count all is done as where it does, because it has to take as long. */
  const noteFailure = (check: CodeCheck, number: string, counts: boolean): void => {
    const before = failuresOf(check, number);
    const after = addMoment(before, check.at);
    putFailures.run(check.accountId, check.mode, number, counts ? after : before, check.at);
  };

  return (check) => {
    const { accountId, mode, id, digest, at } = check;
    const ago = [momentText(at - HOUR_MS), momentText(at - DAY_MS)];
    const values = [digest, digest, at, digest, at, digest, accountId, id, mode, at, ...ago];
    const decided = decide.get(...values) as unknown as Checked | undefined;
    if (decided) {
      const { state, number, country, checks, checks_max: max, created_at: sentAt } = decided;
      if (state === "verified") {
        const { counted: book } = decided;
        if (book !== "") tally({ accountId, book, country, at: sentAt }, 0, 1);
        if (decided.pays > 0) {
          pay.run(decided.pays, at, at, at, accountId, prefixOf(number));
          know.run(at, accountId, mode, number);
        }
        return { kind: "verified" };
      }
      noteFailure(check, number, decided.bound === 1);
      return { kind: "incorrect", remaining: max - checks };
    }
    // Whatever is refused is written down as well: an answer that came sooner would tell what it was about.
    noteStray.run(accountId, at);
    noteFailure(check, NO_NUMBER, true);
    const row = find.get(accountId, id, mode) as unknown as VerificationRow | undefined;
    if (!row) return { kind: "unknown" };
    const rates = failureRates(failureCapsOf(row));
    const until = row.bound === 1 ? allowedAgainAt(failuresOf(check, row.number), rates, at) : null;
    return refusedCheck(row, until, at);
  };
}
