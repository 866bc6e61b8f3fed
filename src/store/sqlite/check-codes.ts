import type { DatabaseSync } from "node:sqlite";
import { prefixOf } from "../../model/pumping.ts";
import {
  addMoment,
  allowedAgainAt,
  failureRates,
  MOMENT_DIGITS,
  MOMENTS_KEPT,
  momentText,
  type VerificationState,
} from "../../model/verification.ts";
import { blockAfterUse } from "../prefix-rows.ts";
import { refusedCheck } from "../verification-rows.ts";
import type { CheckResult, CodeCheck } from "../verifications.ts";
import { packResult, unpackCheck, type PackedCheck, type PackedResult } from "./pack-checks.ts";
import { TallyCache } from "./verify-tallies.ts";

/** A code, with the wrong attempts at its number; null where the number is no longer stored. */
type Found = readonly [
  number: string,
  country: string,
  state: VerificationState,
  digest: string,
  checks: number,
  checksMax: number,
  bound: number,
  failuresPerHour: number,
  failuresPerDay: number,
  sentAt: number,
  expiresAt: number,
  book: string,
  pays: number,
  followed: number,
  failures: string | null,
];

/** The row that counts attempts at unknown codes. */
const NO_NUMBER = "";

const ADD_FAILURE = `substr(? || failures, 1, ${MOMENT_DIGITS * MOMENTS_KEPT})`;

/** Checks codes, inside the writer's transaction. There is one writer, so the rows cannot change after they are read. */
export function createCheck(db: DatabaseSync): (batch: readonly PackedCheck[]) => PackedResult[] {
  const tallies = new TallyCache(db);
  const find = db.prepare(
    `select code.number, country, state, digest, checks, checks_max, bound, failures_per_hour, failures_per_day, created_at,
       expires_at, counted, pays, followed, failures
     from verifications as code left join verify_numbers as known
       on known.account_id = code.account_id and known.mode = code.mode and known.number = code.number
     where code.account_id = ? and code.id = ? and code.mode = ?`,
  );
  find.setReturnArrays(true);
  const count = db.prepare("update verifications set checks = ? where account_id = ? and id = ?");
  const end = db.prepare(
    "update verifications set checks = ?, state = ?, done_at = ?, next_at = ?, plan = null where account_id = ? and id = ?",
  );
  const pay = db.prepare(
    `update verify_prefixes set owed = owed - ?, verified = verified + 1, blocked_until = ${blockAfterUse("blocked_until", "?")}
     where account_id = ? and prefix = ?`,
  );
  const know = db.prepare("update verify_numbers set verified_at = ? where account_id = ? and mode = ? and number = ?");
  const noteFailure = db.prepare(
    `update verify_numbers set failures = ${ADD_FAILURE}, touched_at = ? where account_id = ? and mode = ? and number = ?`,
  );
  const noteUnknown = db.prepare(
    `insert into verify_numbers (account_id, mode, number, sends, noted_sends, failures, latest, touched_at)
     values (?, ?, '${NO_NUMBER}', '', '', ?, '{}', ?)
     on conflict (account_id, mode, number) do update set touched_at = excluded.touched_at,
       failures = ${ADD_FAILURE.replace("?", "excluded.failures")}`,
  );
  const findUnknown = db.prepare(
    `select failures from verify_numbers where account_id = ? and mode = ? and number = '${NO_NUMBER}'`,
  );
  const noteStray = db.prepare(
    `insert into verify_strays (account_id, checks, last_at) values (?, 1, ?)
     on conflict (account_id) do update set checks = checks + 1, last_at = excluded.last_at`,
  );

  /** Failures without a number go to one row per account, so each batch writes them once. */
  const unknownCodes = new Map<string, { accountId: number; mode: string; moments: string; at: number }>();

  function failUnknown({ accountId, mode, at }: CodeCheck): void {
    const key = `${accountId} ${mode}`;
    const noted = unknownCodes.get(key) ?? { accountId, mode, moments: "", at };
    noted.moments = addMoment(noted.moments, at);
    noted.at = at;
    unknownCodes.set(key, noted);
  }

  /** Timing attack: refused attempts are written too, because a faster response would reveal the reason. */
  function noteRefused(check: CodeCheck): void {
    noteStray.run(check.accountId, check.at);
    failUnknown(check);
  }

  function verify({ accountId, mode, id, at }: CodeCheck, code: Found): CheckResult {
    const [number, country, , , checks, , , , , sentAt, , book, pays, followed] = code;
    end.run(checks + 1, "verified", at, followed === 1 ? at : null, accountId, id);
    if (book !== "") tallies.add({ accountId, book, country, at: sentAt }, 0, 1);
    if (pays > 0) {
      pay.run(pays, at, at, at, accountId, prefixOf(number));
      know.run(at, accountId, mode, number);
    }
    return { kind: "verified" };
  }

  function fail(check: CodeCheck, code: Found): CheckResult {
    const { accountId, mode, id, at } = check;
    const [number, , , , before, checksMax, bound, , , , , , , followed] = code;
    const checks = before + 1;
    if (checks < checksMax) count.run(checks, accountId, id);
    else end.run(checks, "exhausted", at, followed === 1 ? at : null, accountId, id);
    // Timing attack: a failure that does not count against its number is written elsewhere, so that it takes as long.
    if (bound === 1) noteFailure.run(momentText(at), at, accountId, mode, number);
    else failUnknown(check);
    return { kind: "incorrect", remaining: checksMax - checks };
  }

  function checkOne(check: CodeCheck): CheckResult {
    const { accountId, mode, id, digest, at } = check;
    const code = find.get(accountId, id, mode) as unknown as Found | undefined;
    if (!code) {
      // Timing attack: other attempts read the failures of their number, so this one reads a row too.
      findUnknown.get(accountId, mode);
      noteRefused(check);
      return { kind: "unknown" };
    }
    const [, , state, expected, , , bound, failuresPerHour, failuresPerDay, , expiresAt, , , , failures] = code;
    const rates = failureRates({ failuresPerHour, failuresPerDay });
    const until = bound === 1 ? allowedAgainAt(failures ?? "", rates, at) : null;
    const isOpen = state === "pending" && expiresAt > at && failures !== null && until === null;
    if (!isOpen) {
      noteRefused(check);
      return refusedCheck({ state, expires_at: expiresAt }, until, at);
    }
    return expected === digest ? verify(check, code) : fail(check, code);
  }

  function checkAll(batch: readonly PackedCheck[]): PackedResult[] {
    unknownCodes.clear();
    const results = batch.map((check) => packResult(checkOne(unpackCheck(check))));
    for (const { accountId, mode, moments, at } of unknownCodes.values()) noteUnknown.run(accountId, mode, moments, at);
    return results;
  }

  return (batch) => tallies.during(() => checkAll(batch));
}
