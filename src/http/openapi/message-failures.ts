import { FAILURES, type State } from "../../model/message.ts";

export type FailureCode = keyof typeof FAILURES;

interface Advice {
  /** Final state of the message. */
  state: State;
  cause: string;
  fix: string;
}

/** State, cause and fix of each message failure code. */
export const ADVICE: Record<FailureCode, Advice> = {
  INVALID_RECIPIENT: {
    state: "rejected",
    cause: "The request contained valid numbers and this malformed one. It was accepted for the others.",
    fix: "Write the number internationally, country code first, 7 to 15 digits, and send again.",
  },
  NO_ROUTE: {
    state: "rejected",
    cause: "No enabled route of the account matches the channel, type, number and sender of this message.",
    fix: "Check the routes at `/api/routes`: channel, types, prefixes and senders must all match, and an empty list matches everything.",
  },
  RECIPIENT_OPTED_OUT: {
    state: "rejected",
    cause: "The message is of type PROMO, and the number is on the account's opt-out list.",
    fix: "Respect the opt-out. It ends when the recipient replies with a start word, or when the number is deleted from `/api/optouts`.",
  },
  COUNTRY_NOT_ALLOWED: {
    state: "rejected",
    cause: "The request had several recipients, and the country of this one is not in the account's allowed countries.",
    fix: "Add the country to `allowedCountries` with `PATCH /api/account`.",
  },
  MEDIA_TYPE_UNSUPPORTED: {
    state: "rejected",
    cause: "The server of the link revealed the type of the file only after the message was accepted.",
    fix: "Link to a file that fits the header: jpg, jpeg or png; mp4 or 3gp; pdf, doc, docx, xls, xlsx, ppt, pptx or txt.",
  },
  MEDIA_TOO_LARGE: {
    state: "rejected",
    cause: "The server of the link revealed the size of the file only after the message was accepted.",
    fix: "Link to a smaller file: 5 MB for images, 16 MB for videos, 100 MB for documents.",
  },
  SESSION_CLOSED: {
    state: "rejected",
    cause:
      "A chat-app message of type `text` waited (its campaign was paused, or no carrier took it) until 24 hours had passed since the recipient's own last message.",
    fix: "Send an approved template instead. Templates can be sent at any time.",
  },
  SAME_TEXT_FLOOD: {
    state: "rejected",
    cause:
      "The same text was sent to the same number more often than the account's `sameText` allows, usually because of a loop in the client.",
    fix: "Find the client that repeats the request. If it is intended, raise `sameText` with `PATCH /api/account`, or set it to null.",
  },
  CANCELLED: {
    state: "cancelled",
    cause: "The message or its campaign was cancelled before a carrier had it.",
    fix: "No action needed. Send it again if the cancellation was a mistake.",
  },
  REVOKED: {
    state: "expired",
    cause:
      "The message was cancelled while its carrier had it, and the carrier accepted to call it back (RCS for Business).",
    fix: "No action needed. If the phone had it already, a late delivery receipt changes the status to Delivered.",
  },
  EXPIRED_IN_QUEUE: {
    state: "expired",
    cause:
      "Messages wait while a carrier is slow or down, for a limited time: OTP 5 minutes, TRANS 10 hours, PROMO 4 hours, unless the operator changed it. The time of this one passed before it could be submitted.",
    fix: "Send it again if it still matters. If this happens often, traffic exceeds the carrier's rate, or the validity is too short.",
  },
  NOT_REPORTED: {
    state: "unknown",
    cause:
      "The carrier accepted the message. No receipt arrived within the message's validity and `HELIOGRAPH_RECEIPT_GRACE_SECONDS`, or no receipt was requested.",
    fix: "The message may have been delivered. Ask the carrier, with the carrier's id from the message's page. A late receipt still updates the status.",
  },
  DROPPED_AFTER_RESTORE: {
    state: "expired",
    cause:
      "The operator restored a backup in which this message waited or was being submitted, and chose to drop such messages. The server may have sent it after the backup was written. A message that was being submitted ends as `unknown`.",
    fix: "Decide by its content whether to send it again: the recipient may have it. A late receipt that names the message still updates the status.",
  },
  SUBMIT_UNCONFIRMED: {
    state: "unknown",
    cause:
      "The message was submitted, the connection broke before the carrier's response, and no receipt arrived within the message's validity.",
    fix: "The message may have been delivered. Decide by its content whether to send it again. A late receipt still updates the status.",
  },
};

export const failureCodes = (): FailureCode[] => Object.keys(FAILURES) as FailureCode[];
