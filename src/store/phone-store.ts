import type { Phone, PhoneMessage } from "../model/phone.ts";
import type { Page } from "./store.ts";

/** The simulated phones. */
export interface PhoneStore {
  receiveOnPhones(batch: readonly PhoneMessage[]): Promise<void>;
  /** The carrier has handed over all reports of these. */
  markReported(batch: readonly Pick<PhoneMessage, "accountId" | "id">[]): Promise<void>;
  /** Messages whose reports should have been handed over before `before`. */
  listUnreported(before: number, limit: number): Promise<PhoneMessage[]>;
  listPhones(accountId: number, after: string | null, limit: number): Promise<Page<Phone, string>>;
  /** Newest first. */
  listPhoneMessages(
    accountId: number,
    number: string,
    after: string | null,
    limit: number,
  ): Promise<Page<PhoneMessage, string>>;
  /** Messages to any phone with ids from `fromId` on, oldest first. */
  phoneMessagesSince(accountId: number, fromId: string, limit: number): Promise<PhoneMessage[]>;
}
