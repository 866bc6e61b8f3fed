import { ledgerAfterBlock, ledgerAfterSend, prefixOf } from "../../model/pumping.ts";
import { decideSend } from "../../model/send-limits.ts";
import { addMoment } from "../../model/verification.ts";
import { bookOf, owedUnder } from "../verification-rows.ts";
import type { Admission } from "../verifications.ts";
import { lockTraffic, type LockedTraffic } from "./lock-traffic.ts";
import type { Query } from "./pool.ts";
import { codeRows, type CodeRows } from "./put-codes.ts";
import { addressKey, numberKey, numberOf, type WithCode } from "./verify-numbers.ts";

interface Admitted {
  admissions: readonly Admission[];
  /** Rows to write with the messages of the admitted codes. */
  codes: CodeRows;
}

/**
 * Decides about codes inside the transaction that stores the admitted ones. Pessimistic locking: number and prefix rows are
 * locked before the decision, so two nodes cannot both use a number's last allowed send.
 */
export async function admitCodes(query: Query, batch: readonly WithCode[]): Promise<Admitted> {
  const traffic = await lockTraffic(query, batch);
  const admissions = batch.map((item) => decide(item, traffic));
  const admitted = batch.filter((_, place) => admissions[place]?.refused.length === 0);
  return { admissions, codes: codeRows(admitted, traffic) };
}

const OPEN: Admission = { refused: [], noted: [], blocked: null };

/** Applies the send limits to one code. Earlier codes of the same batch count as sent. */
function decide(item: WithCode, { numbers, prefixes, tallies }: LockedTraffic): Admission {
  const { message, verification } = item;
  const { accountId, createdAt: now } = message;
  const { caps, guard, country, bound } = verification;
  const row = numbers.get(numberKey(item));
  if (!row) return OPEN;
  const addressRow = numbers.get(addressKey(item) ?? "");
  const log = bound ? "sends" : "noted_sends";
  const book = bookOf(verification);
  const owed = owedUnder(verification);
  const prefix = prefixOf(numberOf(item));
  const ledger = prefixes.ledgerOf(accountId, prefix);
  const traffic = {
    sends: row[log],
    addressSends: addressRow?.[log] ?? null,
    verifiedAt: row.verified_at,
    prefix: ledger,
    country: tallies.at(accountId, `country ${book}`, country),
    today: tallies.at(accountId, `account ${book}`, "")[0]?.sends ?? 0,
  };
  const { refusals, newBlock } = decideSend(traffic, caps, guard, now);
  if (bound && refusals.length > 0) {
    if (newBlock && owed) prefixes.set(accountId, prefix, ledgerAfterBlock(ledger, newBlock, owed));
    return { refused: refusals, noted: [], blocked: newBlock && { prefix, ...newBlock } };
  }
  row[log] = addMoment(row[log], now);
  if (addressRow) addressRow[log] = addMoment(addressRow[log], now);
  if (guard) tallies.remember(item);
  if (owed) prefixes.set(accountId, prefix, ledgerAfterSend(ledger, owed, now));
  return { refused: [], noted: refusals, blocked: null };
}
