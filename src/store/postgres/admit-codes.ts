import { ledgerAfterBlock, ledgerAfterSend, NEW_LEDGER, prefixOf } from "../../model/pumping.ts";
import { judgeSend } from "../../model/send-limits.ts";
import { addMoment } from "../../model/verification.ts";
import type { Admission } from "../verify-store.ts";
import type { Query } from "./pool.ts";
import { putCodes } from "./put-codes.ts";
import { rowKey } from "./row-key.ts";
import { isOwed, lockNumbers, numberOf, putSends, type NumberRow, type WithCode } from "./verify-numbers.ts";
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
  const prefixes = await LockedPrefixes.lock(query, batch.filter(isOwed));
  const tallies = await readTallies(
    query,
    batch.filter(({ verification: { caps, guard } }) => caps !== null && guard !== null),
  );
  const decided = batch.map((item) => decide(item, { numbers, prefixes, tallies }));
  await prefixes.put(query);
  const admitted = batch.filter((_, place) => decided[place]?.refused.length === 0);
  if (admitted.length === 0) return decided;
  await putCodes(query, admitted, numbers);
  await putSends(query, numbers.values());
  await countSends(
    query,
    admitted.filter(({ verification }) => verification.caps !== null),
  );
  return decided;
}

const OPEN: Admission = { refused: [], noted: [], blocked: null };

/** What limits say of one code, with those before it in the batch counted already. */
function decide(item: WithCode, { numbers, prefixes, tallies }: Locked): Admission {
  const { message, verification } = item;
  const { accountId, createdAt: now } = message;
  const { caps, guard, country, bound } = verification;
  const row = numbers.get(rowKey(accountId, numberOf(item)));
  if (!caps || !row) return OPEN;
  const prefix = prefixOf(numberOf(item));
  const ledger = prefixes.ledgerOf(accountId, prefix) ?? NEW_LEDGER;
  const today = talliesAt(tallies, accountId, "account", "")[0]?.sends ?? 0;
  const traffic = {
    sends: row.sends,
    prefix: ledger,
    country: talliesAt(tallies, accountId, "country", country),
    today,
  };
  const { refusals, newBlock } = judgeSend(traffic, caps, guard, now);
  if (bound && refusals.length > 0) {
    if (newBlock && guard) prefixes.set(accountId, prefix, ledgerAfterBlock(ledger, newBlock, guard));
    return { refused: refusals, noted: [], blocked: newBlock && { prefix, ...newBlock } };
  }
  row.sends = addMoment(row.sends, now);
  if (guard) rememberSend(tallies, item);
  if (isOwed(item)) prefixes.set(accountId, prefix, ledgerAfterSend(ledger, item.verification.guard, now));
  return { refused: [], noted: refusals, blocked: null };
}
