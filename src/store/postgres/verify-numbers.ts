import type { Acceptance } from "../store.ts";
import type { NewVerification } from "../verifications.ts";
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

/** Number rows by `numberKey`. */
export type Numbers = Map<string, NumberRow>;

/** The phone number that a code is sent to. */
export const numberOf = ({ recipients }: Acceptance): string => recipients[0]?.number ?? "";

export const numberKey = (item: WithCode): string =>
  rowKey(item.message.accountId, item.verification.mode, numberOf(item));

/** The numbers of a batch as rows without sends, which is true for most of them. */
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
