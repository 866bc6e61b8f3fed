import type { PhoneMessage } from "../../model/phone.ts";
import type { PhoneStore } from "../../store/phones.ts";

const PAGE = 200;
/** Only the newest messages of a phone are searched. */
const LOOK_AT_MOST = 1000;

/** A phone, with a filter of its messages. */
export interface PhoneInView extends Pick<PhoneMessage, "accountId" | "number"> {
  /** Only messages sent with test keys. */
  testOnly: boolean;
}

/** Newest matching message on a phone; null if none. */
export async function findOnPhone(
  store: Pick<PhoneStore, "listPhoneMessages">,
  { accountId, number, testOnly }: PhoneInView,
  isWanted: (message: PhoneMessage) => boolean,
): Promise<PhoneMessage | null> {
  let after: string | null = null;
  for (let looked = 0; looked < LOOK_AT_MOST; looked += PAGE) {
    const { rows, next }: Awaited<ReturnType<PhoneStore["listPhoneMessages"]>> = await store.listPhoneMessages(
      accountId,
      number,
      after,
      PAGE,
      { testOnly },
    );
    const found = rows.find(isWanted);
    if (found || next === null) return found ?? null;
    after = next;
  }
  return null;
}
