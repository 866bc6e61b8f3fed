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

/** The row of the e-mail address that a code goes to, which is limited like a number; null on other channels. */
export const addressKey = ({ message, verification: { mode, address = null } }: WithCode): string | null =>
  address === null ? null : rowKey(message.accountId, mode, address);

/** The numbers of a batch as rows without sends, which is true for most of them. */
export function newNumbers(batch: readonly WithCode[]): Numbers {
  const rows: Numbers = new Map();
  const add = ({ message, verification }: WithCode, key: string, number: string): void =>
    void rows.set(key, {
      account_id: message.accountId,
      mode: verification.mode,
      number,
      sends: "",
      noted_sends: "",
      latest: "{}",
      touched_at: message.createdAt,
      verified_at: 0,
    });
  for (const item of batch) {
    const { address = null } = item.verification;
    const byAddress = addressKey(item);
    add(item, numberKey(item), numberOf(item));
    if (address !== null && byAddress !== null) add(item, byAddress, address);
  }
  return rows;
}
