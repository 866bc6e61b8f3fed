import { idOf, newId } from "../lib/ids.ts";
import type { Callback, StatusHappening } from "../model/callback.ts";
import { describeFailure, messageIdOf } from "../model/message.ts";
import type { Acceptance, NewRecipient } from "../store/store.ts";
import type { Herald } from "../work/group-commit.ts";
import { announcementOf, callbacksFor, isAskedFor, type AnnounceNeeds } from "./announce.ts";
import type { Teller } from "./teller.ts";

/** Knows who is to be told of what is being written; whoever tells them takes over once it is on disk. Next: src/webhooks/teller.ts */
export function createHerald(needs: AnnounceNeeds, teller: Pick<Teller, "take" | "claimSoon"> | null): Herald {
  return {
    announce: (move) => announcementOf(needs, move),
    failuresOf: (request) => failuresOf(needs, request),
    followsVerifications: (accountId) => isAskedFor(needs.catalog, accountId, "verify", "verification"),
    verificationOf: (accountId, verification, at) => {
      const happening = { kind: "verification", at, verification } as const;
      // Whoever takes it up again after a crash tells the same event.
      const eventId = idOf(at, `${verification.id} ${verification.state}`);
      return callbacksFor(needs, accountId, eventId, "verify", happening);
    },
    answersOf: (inbound) => {
      const { accountId, id, channel, at } = inbound;
      return callbacksFor(needs, accountId, id, channel, { kind: "inbound", at, inbound });
    },
    onTold: (callbacks) => teller?.take(callbacks),
    onStored: () => teller?.claimSoon(),
  };
}

/** Recipients that fail at the door have their record, and whoever wants reports has one of each of them too. */
function failuresOf(needs: AnnounceNeeds, { message, recipients }: Acceptance): Callback[] {
  if (needs.catalog.of(message.accountId).endpoints.length === 0) return [];
  return recipients.flatMap((recipient, index) => {
    if (recipient.failure === null) return [];
    const happening = failureOf(message, recipient, index + 1);
    return callbacksFor(needs, message.accountId, newId(needs.clock.now()), message.channel, happening);
  });
}

function failureOf(message: Acceptance["message"], { number, failure }: NewRecipient, n: number): StatusHappening {
  const { requestId, channel, sender, createdAt } = message;
  return {
    kind: "status",
    status: "failed",
    at: createdAt,
    message: {
      messageId: messageIdOf({ requestId, n }),
      channel,
      recipient: number,
      sender,
      credits: 0,
      createdAt,
      session: false,
    },
    gateway: "",
    errorCode: failure,
    description: describeFailure(failure),
  };
}
