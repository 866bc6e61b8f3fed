import type { PhoneMessage } from "../../model/phone.ts";
import type { PhoneStore } from "../../store/phone-store.ts";

const PAGE = 200;
/** How many of a phone's messages are looked at, the newest ones: nobody scrolls further to answer. */
const LOOK_AT_MOST = 1000;

/** The newest message on a phone that is wanted; null when there is none. */
export async function findOnPhone(
  store: Pick<PhoneStore, "listPhoneMessages">,
  { accountId, number }: Pick<PhoneMessage, "accountId" | "number">,
  isWanted: (message: PhoneMessage) => boolean,
): Promise<PhoneMessage | null> {
  let after: string | null = null;
  for (let looked = 0; looked < LOOK_AT_MOST; looked += PAGE) {
    const { rows, next }: Awaited<ReturnType<PhoneStore["listPhoneMessages"]>> = await store.listPhoneMessages(
      accountId,
      number,
      after,
      PAGE,
    );
    const found = rows.find(isWanted);
    if (found || next === null) return found ?? null;
    after = next;
  }
  return null;
}
