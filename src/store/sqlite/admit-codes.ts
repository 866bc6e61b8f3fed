import type { DatabaseSync } from "node:sqlite";
import {
  ledgerAfterBlock,
  ledgerAfterSend,
  NEW_LEDGER,
  paysFor,
  prefixOf,
  type PrefixLedger,
} from "../../model/pumping.ts";
import { decideSend } from "../../model/send-limits.ts";
import { MOMENT_DIGITS, MOMENTS_KEPT, momentText } from "../../model/verification.ts";
import { bookOf, firstDueAt, owedUnder, takePlace } from "../verification-rows.ts";
import { ledgerOf, prefixRow } from "../prefix-rows.ts";
import type { PrefixRow } from "../tables.ts";
import type { Admission, NewVerification } from "../verifications.ts";
import { unpackCode, type PackedCode } from "./packing.ts";
import { TallyCache } from "./verify-tallies.ts";

/** The request that sends a code. */
interface Sent {
  accountId: number;
  requestId: string;
  number: string;
  createdAt: number;
  test: boolean;
}

type Known = [sends: string, latest: string, verifiedAt: number];

/** The send log of one number. Limits that bind use one log, and limits that are only noted use the other. */
function createLog(db: DatabaseSync, log: "sends" | "noted_sends") {
  const other = log === "sends" ? "noted_sends" : "sends";
  const find = db.prepare(
    `select ${log}, latest, verified_at from verify_numbers where account_id = ? and mode = ? and number = ?`,
  );
  find.setReturnArrays(true);
  return {
    find,
    insert: db.prepare(
      `insert into verify_numbers (${log}, latest, touched_at, account_id, mode, number, ${other}, failures)
       values (?, ?, ?, ?, ?, ?, '', '')`,
    ),
    update: db.prepare(
      `update verify_numbers set ${log} = substr(? || ${log}, 1, ${MOMENT_DIGITS * MOMENTS_KEPT}), latest = ?, touched_at = ?
       where account_id = ? and mode = ? and number = ?`,
    ),
  };
}

/** Stores codes, each replacing the previous one, unless limits refuse it. Runs inside the writer's transaction. */
export function createAdmit(db: DatabaseSync): {
  tallies: TallyCache;
  admit(sent: Sent, packed: PackedCode): Admission;
} {
  const tallies = new TallyCache(db);
  const logs = { bound: createLog(db, "sends"), noted: createLog(db, "noted_sends") };
  const findPrefix = db.prepare("select * from verify_prefixes where account_id = ? and prefix = ?");
  const putPrefix = db.prepare(
    `insert or replace into verify_prefixes (account_id, prefix, owed, slot, slot_sends, before_sends, sends, verified, sent_at,
       blocked_at, blocked_until, strikes) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
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

  const insertSource = db.prepare(
    "insert into verify_sources (account_id, verify_id, source, deliver_only, unreported) values (?, ?, ?, ?, ?)",
  );

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

  /** The decision of the limits on a code, and the debt of its prefix afterwards. */
  function decide(
    { accountId, number, createdAt: now }: Sent,
    verification: NewVerification,
    sends: string,
    addressSends: string | null,
    verifiedAt: number,
  ): Admission {
    const { caps, guard, bound, country } = verification;
    const owed = owedUnder(verification);
    const prefix = prefixOf(number);
    const ledger = owed ? prefixAt(accountId, prefix) : NEW_LEDGER;
    const counted = { accountId, book: bookOf(verification), country, at: now };
    const traffic = {
      sends,
      addressSends,
      verifiedAt,
      prefix: ledger,
      country: guard ? tallies.country(counted) : [],
      today: guard ? tallies.today(counted) : 0,
    };
    const { refusals, newBlock } = decideSend(traffic, caps, guard, now);
    if (bound && refusals.length > 0) {
      if (newBlock && owed) putLedger(accountId, prefix, ledgerAfterBlock(ledger, newBlock, owed));
      return { refused: refusals, noted: [], blocked: newBlock && { prefix, ...newBlock } };
    }
    if (owed) putLedger(accountId, prefix, ledgerAfterSend(ledger, owed, now));
    return { refused: [], noted: refusals, blocked: null };
  }

  function admit(sent: Sent, packed: PackedCode): Admission {
    const { accountId, requestId, number, createdAt, test } = sent;
    const verification = unpackCode(packed);
    const { mode, config, country, bound, fixed, next, followed, continues, address } = verification;
    const log = bound ? logs.bound : logs.noted;
    const known = log.find.get(accountId, mode, number) as unknown as Known | undefined;
    const [sends = "", latestBefore = "{}", verifiedAt = 0] = known ?? [];
    const knownAddress =
      address === null ? undefined : (log.find.get(accountId, mode, address) as unknown as Known | undefined);
    const addressSends = address === null ? null : (knownAddress?.[0] ?? "");
    const admission = decide(sent, verification, sends, addressSends, verifiedAt);
    if (admission.refused.length > 0) return admission;
    const { before, latest } = continues
      ? { before: null, latest: latestBefore }
      : takePlace(latestBefore, config, requestId);
    if (before !== null) supersede.run(createdAt, createdAt, createdAt, accountId, before);
    // There is only one writer, so a row that was missing a moment ago can be inserted without another check.
    (known ? log.update : log.insert).run(momentText(createdAt), latest, createdAt, accountId, mode, number);
    if (address !== null)
      (knownAddress ? log.update : log.insert).run(
        momentText(createdAt),
        knownAddress?.[1] ?? "{}",
        createdAt,
        accountId,
        mode,
        address,
      );
    const book = bookOf(verification);
    if (book !== "") tallies.add({ accountId, book, country, at: createdAt }, 1, 0);
    if (continues) return admission;
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
      test || fixed ? 1 : 0,
      createdAt,
      verification.expiresAt,
      firstDueAt(verification, createdAt),
      next?.plan ?? null,
      book,
      owed ? paysFor(owed) : 0,
      followed ? 1 : 0,
    );
    const { source } = verification;
    if (source)
      insertSource.run(accountId, requestId, source.name, source.deliverOnly ? 1 : 0, source.unreported ? 1 : 0);
    return admission;
  }

  return { tallies, admit };
}
