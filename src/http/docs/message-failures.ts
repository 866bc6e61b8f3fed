import { FAILURES, type State } from "../../model/message.ts";

export type FailureCode = keyof typeof FAILURES;

interface Advice {
  /** Where the message is left. */
  state: State;
  cause: string;
  fix: string;
}

/** What there is to say about the failure of one message beyond its sentence. */
export const ADVICE: Record<FailureCode, Advice> = {
  INVALID_RECIPIENT: {
    state: "rejected",
    cause:
      "The request had good numbers and this malformed one. It was accepted for the others, and this recipient has its record for completeness.",
    fix: "Write the number internationally, country code first, 7 to 15 digits, and send to it again.",
  },
  NO_ROUTE: {
    state: "rejected",
    cause: "No route of the account that is switched on takes this kind of message to this number from this sender.",
    fix: "Look at the routes at `/api/routes`: channel, types, prefixes and senders must all fit, and an empty list fits everything.",
  },
  RECIPIENT_OPTED_OUT: {
    state: "rejected",
    cause: "The message is a promotion, and the number is on the account's opt-out list.",
    fix: "Respect it. Whoever wants promotions again answers with a start word, or is taken off the list at `/api/optouts`.",
  },
  COUNTRY_NOT_ALLOWED: {
    state: "rejected",
    cause: "The request had several recipients, and this one's country is not among those the account may send to.",
    fix: "Add the country to `allowedCountries` with `PATCH /api/account`.",
  },
  MEDIA_TYPE_UNSUPPORTED: {
    state: "rejected",
    cause: "Only after the message was accepted did the server behind the link tell what kind of file it has.",
    fix: "Link to a file of the header's kind: jpg, jpeg or png; mp4 or 3gp; pdf, doc, docx, xls, xlsx, ppt, pptx or txt.",
  },
  MEDIA_TOO_LARGE: {
    state: "rejected",
    cause: "Only after the message was accepted did the server behind the link tell how large its file is.",
    fix: "Link to a smaller file: 5 MB for images, 16 MB for videos, 100 MB for documents.",
  },
  SESSION_CLOSED: {
    state: "rejected",
    cause:
      "A chat-app message of type `text` waited (its campaign was paused, or no carrier took it) until 24 hours had passed since the recipient's own last message.",
    fix: "Send an approved template instead, which may be sent at any time.",
  },
  SAME_TEXT_FLOOD: {
    state: "rejected",
    cause:
      "The same text went to the same number more often than the account's `sameText` allows: most often a loop in the caller.",
    fix: "Look for what sends again and again. If it is meant, raise `sameText` with `PATCH /api/account`, or set it to null.",
  },
  CANCELLED: {
    state: "cancelled",
    cause: "Somebody cancelled the message or its campaign before a carrier had it.",
    fix: "Nothing is wrong. Send it again if it was a mistake.",
  },
  EXPIRED_IN_QUEUE: {
    state: "expired",
    cause:
      "Messages wait while a carrier is slow or away, but not for ever: OTP 5 minutes, TRANS 10 hours, PROMO 4 hours, unless the operator changed it. This one's time was over before a carrier could be tried.",
    fix: "Send it again if it still matters. If it happens often, the traffic is more than the carrier takes, or the validity is set too short.",
  },
  SUBMIT_UNCONFIRMED: {
    state: "unknown",
    cause:
      "The message was handed over, the line broke before the carrier answered, and no delivery report came while the message was valid.",
    fix: "It may have arrived. Decide by its content whether to send it again. A report that comes late still changes the status.",
  },
};

export const failureCodes = (): FailureCode[] => Object.keys(FAILURES) as FailureCode[];
