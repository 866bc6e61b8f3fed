import { ledgerAfterBlock, ledgerAfterSend, NEW_LEDGER, prefixOf } from "../../model/pumping.ts";
import { judgeSend } from "../../model/send-limits.ts";
import { addMoment } from "../../model/verification.ts";
import { bookOf, owedUnder } from "../verification-rows.ts";
import type { Admission } from "../verify-store.ts";
import type { Query } from "./pool.ts";
import { putCodes } from "./put-codes.ts";
import { lockNumbers, numberKey, numberOf, putSends, type NumberRow, type WithCode } from "./verify-numbers.ts";
import { LockedPrefixes } from "./verify-prefixes.ts";
import { countSends, readTallies, rememberSend, talliesAt, type Tallies } from "./verify-tallies.ts";

interface Locked {
  numbers: Map<string, NumberRow>;
  prefixes: LockedPrefixes;
  tallies: Tallies;
}

/**
 * Decides about codes and stores those that limits let through, inside a transaction in which their messages are stored
 * next. Numbers and then prefixes are locked, in order, before anything is decided, so that two nodes cannot both take a
 * number's last place. Countries are not: they would be everybody's lock.
 */
export async function admitCodes(query: Query, batch: readonly WithCode[]): Promise<readonly Admission[]> {
  if (batch.length === 0) return [];
  const numbers = await lockNumbers(query, batch);
  const prefixes = await LockedPrefixes.lock(
    query,
    batch.filter(({ verification }) => owedUnder(verification) !== null),
  );
  const tallies = await readTallies(
    query,
    batch.filter(({ verification: { guard } }) => guard !== null),
  );
  const decided = batch.map((item) => decide(item, { numbers, prefixes, tallies }));
  await prefixes.put(query);
  const admitted = batch.filter((_, place) => decided[place]?.refused.length === 0);
  if (admitted.length === 0) return decided;
  await putCodes(
    query,
    admitted.filter(({ verification }) => !verification.continues),
    numbers,
  );
  await putSends(query, numbers.values());
  await countSends(
    query,
    admitted.filter(({ verification }) => bookOf(verification) !== ""),
  );
  return decided;
}

const OPEN: Admission = { refused: [], noted: [], blocked: null };

/** What limits say of one code, with those before it in the batch counted already. */
function decide(item: WithCode, { numbers, prefixes, tallies }: Locked): Admission {
  const { message, verification } = item;
  const { accountId, createdAt: now } = message;
  const { caps, guard, country, bound } = verification;
  const row = numbers.get(numberKey(item));
  if (!row) return OPEN;
  const log = bound ? "sends" : "noted_sends";
  const book = bookOf(verification);
  const owed = owedUnder(verification);
  const prefix = prefixOf(numberOf(item));
  const ledger = prefixes.ledgerOf(accountId, prefix) ?? NEW_LEDGER;
  const today = talliesAt(tallies, accountId, `account ${book}`, "")[0]?.sends ?? 0;
  const traffic = {
    sends: row[log],
    verifiedAt: row.verified_at,
    prefix: ledger,
    country: talliesAt(tallies, accountId, `country ${book}`, country),
    today,
  };
  const { refusals, newBlock } = judgeSend(traffic, caps, guard, now);
  if (bound && refusals.length > 0) {
    if (newBlock && owed) prefixes.set(accountId, prefix, ledgerAfterBlock(ledger, newBlock, owed));
    return { refused: refusals, noted: [], blocked: newBlock && { prefix, ...newBlock } };
  }
  row[log] = addMoment(row[log], now);
  if (guard) rememberSend(tallies, item);
  if (owed) prefixes.set(accountId, prefix, ledgerAfterSend(ledger, owed, now));
  return { refused: [], noted: refusals, blocked: null };
}
