import { newId } from "../../src/lib/ids.ts";
import type { Acceptance, NewRecipient } from "../../src/store/store.ts";

/** A fixed time, so that every run is the same. */
export const NOON = Date.UTC(2026, 0, 15, 12);

type Changes = Partial<Acceptance["message"]> &
  Partial<Omit<Acceptance, "message" | "recipients">> & {
    to?: readonly string[];
    /** Fields of every recipient. */
    each?: Partial<NewRecipient>;
  };

/** A send request as the store receives it; default: one recipient, at noon. */
export function acceptance(changes: Changes = {}): Acceptance {
  const {
    owner = 1,
    idempotency = null,
    metered = false,
    links = null,
    timeline: trail = null,
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
    timeline: trail,
    owner,
    ...(carrier === undefined ? {} : { carrier }),
    metered,
    links,
    idempotency,
  };
}
