import { newId } from "../../src/lib/ids.ts";
import type { Acceptance, NewRecipient } from "../../src/store/store.ts";

/** Any moment will do for a store, as long as it is the same in every run. */
export const NOON = Date.UTC(2026, 0, 15, 12);

type Changes = Partial<Acceptance["message"]> &
  Partial<Omit<Acceptance, "message" | "recipients">> & {
    to?: readonly string[];
    /** What every recipient has of its own. */
    each?: Partial<NewRecipient>;
  };

/** A send request as it reaches the store: to one number, at noon, unless told otherwise. */
export function acceptance(changes: Changes = {}): Acceptance {
  const {
    owner = 1,
    idempotency = null,
    metered = false,
    links = null,
    trail = null,
    carrier,
    to = ["33612345678"],
    each = {},
    ...message
  } = changes;
  const createdAt = message.createdAt ?? NOON;
  return {
    message: {
      accountId: 1,
      requestId: newId(createdAt),
      channel: "sms",
      routeClass: "TRANS",
      test: false,
      sender: "HELIO",
      content: { text: 'Your parcel is "here" \\ {now}, été 🎉', encoding: "ucs2", flash: false },
      segments: 1,
      campaignName: null,
      createdAt,
      dueAt: createdAt,
      expiresAt: createdAt + 3_600_000,
      ...message,
    },
    recipients: to.map((number) => ({ number, failure: null, credits: 1, ...each })),
    trail,
    owner,
    ...(carrier === undefined ? {} : { carrier }),
    metered,
    links,
    idempotency,
  };
}
