import type { Phone, PhoneMessage } from "../model/phone.ts";
import type { Page } from "./store.ts";

/** Limits the view to messages of test keys. */
export interface PhoneView {
  testOnly: boolean;
}

/** Messages on the simulated phones. */
export interface PhoneStore {
  receiveOnPhones(batch: readonly PhoneMessage[]): Promise<void>;
  /** The carrier has delivered all reports of these messages. */
  markReported(batch: readonly Pick<PhoneMessage, "accountId" | "id">[]): Promise<void>;
  /** Messages whose reports were due before `before`. */
  listUnreported(before: number, limit: number): Promise<PhoneMessage[]>;
  listPhones(accountId: number, after: string | null, limit: number): Promise<Page<Phone, string>>;
  /** Phones that test keys sent to, counting only test messages, and the sample phones. */
  listTestPhones(accountId: number, after: string | null, limit: number): Promise<Page<Phone, string>>;
  /** Newest first. */
  listPhoneMessages(
    accountId: number,
    number: string,
    after: string | null,
    limit: number,
    view?: PhoneView,
  ): Promise<Page<PhoneMessage, string>>;
  /** Messages to any phone, with ids from `fromId` on, oldest first. */
  phoneMessagesSince(accountId: number, fromId: string, limit: number, view?: PhoneView): Promise<PhoneMessage[]>;
}
