import type { Acceptance } from "../store.ts";
import type { NewVerification } from "../verify-store.ts";
import { rowKey } from "./row-key.ts";

/** A request with the code that it sends. */
export type WithCode = Acceptance & { verification: NewVerification };

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

/** Numbers by what tells their rows from all others. */
export type Numbers = Map<string, NumberRow>;

/** Whom a code is sent to. */
export const numberOf = ({ recipients }: Acceptance): string => recipients[0]?.number ?? "";

/** What tells its row from all others. */
export const numberKey = (item: WithCode): string =>
  rowKey(item.message.accountId, item.verification.mode, numberOf(item));

/** The numbers of a batch as rows to which nothing was ever sent, which is what most of them are. */
export function newNumbers(batch: readonly WithCode[]): Numbers {
  const rows: Numbers = new Map();
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
  return rows;
}
