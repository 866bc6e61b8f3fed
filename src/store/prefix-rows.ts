import type { PrefixLedger } from "../model/pumping.ts";
import type { PrefixRow } from "./tables.ts";

/** SQL for a prefix block after a code was used despite it: half of the remaining time. */
export const blockAfterUse = (until: string, at: string): string =>
  `case when ${until} > ${at} then ${at} + (${until} - ${at}) / 2 else ${until} end`;

export const ledgerOf = (row: Omit<PrefixRow, "account_id" | "prefix">): PrefixLedger => ({
  owed: row.owed,
  slot: row.slot,
  slotSends: row.slot_sends,
  beforeSends: row.before_sends,
  sends: row.sends,
  verified: row.verified,
  sentAt: row.sent_at,
  blockedAt: row.blocked_at,
  blockedUntil: row.blocked_until,
  strikes: row.strikes,
});

export const prefixRow = (accountId: number, prefix: string, ledger: PrefixLedger): PrefixRow => ({
  account_id: accountId,
  prefix,
  owed: ledger.owed,
  slot: ledger.slot,
  slot_sends: ledger.slotSends,
  before_sends: ledger.beforeSends,
  sends: ledger.sends,
  verified: ledger.verified,
  sent_at: ledger.sentAt,
  blocked_at: ledger.blockedAt,
  blocked_until: ledger.blockedUntil,
  strikes: ledger.strikes,
});
