import type { Acceptance } from "../store.ts";
import type { NewVerification } from "../verify-store.ts";
import { columns } from "./columns.ts";
import type { Query } from "./pool.ts";
import { rowKey } from "./row-key.ts";

/** A request with the code that it sends. */
export type WithCode = Acceptance & { verification: NewVerification };

const NUMBERS = columns({
  account_id: "integer",
  mode: "text",
  number: "text",
  sends: "text",
  noted_sends: "text",
  latest: "text",
  touched_at: "bigint",
});

/** The rows of the numbers are there from now on and ours until the commit: whoever else sends to them waits. */
const LOCK_NUMBERS = `
  insert into verify_numbers (account_id, mode, number, sends, noted_sends, failures, latest, touched_at)
  select account_id, mode, number, '', '', '', '{}', touched_at from ${NUMBERS.rows} order by account_id, mode, number
  on conflict (account_id, mode, number) do update set touched_at = excluded.touched_at
  returning account_id, mode, number, sends, noted_sends, latest, verified_at`;

const PUT_SENDS = `
  update verify_numbers set sends = batch.sends, noted_sends = batch.noted_sends, latest = batch.latest
  from ${NUMBERS.rows}
  where verify_numbers.account_id = batch.account_id and verify_numbers.mode = batch.mode
    and verify_numbers.number = batch.number`;

export interface NumberRow {
  account_id: number;
  mode: string;
  number: string;
  sends: string;
  noted_sends: string;
  latest: string;
  touched_at: number;
  verified_at: number;
}

/** Whom a code is sent to. */
export const numberOf = ({ recipients }: Acceptance): string => recipients[0]?.number ?? "";

/** What tells its row from all others. */
export const numberKey = (item: WithCode): string =>
  rowKey(item.message.accountId, item.verification.mode, numberOf(item));

const byNumber = (a: NumberRow, b: NumberRow): number =>
  a.account_id - b.account_id || byText(a.mode, b.mode) || byText(a.number, b.number);

const byText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** Locks the numbers of a batch, in order, and gives them as they are. */
export async function lockNumbers(query: Query, batch: readonly WithCode[]): Promise<Map<string, NumberRow>> {
  const rows = new Map<string, NumberRow>();
  for (const item of batch) {
    const { accountId, createdAt } = item.message;
    rows.set(numberKey(item), {
      account_id: accountId,
      mode: item.verification.mode,
      number: numberOf(item),
      sends: "",
      noted_sends: "",
      latest: "{}",
      touched_at: createdAt,
      verified_at: 0,
    });
  }
  const { rows: known } = await query<Omit<NumberRow, "touched_at">>({
    name: "otp numbers",
    text: LOCK_NUMBERS,
    values: NUMBERS.values([...rows.values()]),
  });
  for (const { account_id, mode, number, ...found } of known) {
    const row = rows.get(rowKey(account_id, mode, number));
    if (row) Object.assign(row, found);
  }
  return rows;
}

/** Writes what was sent to numbers that are locked. */
export async function putSends(query: Query, numbers: Iterable<NumberRow>): Promise<void> {
  const rows = [...numbers].toSorted(byNumber);
  await query({ name: "otp sends", text: PUT_SENDS, values: NUMBERS.values(rows) });
}
