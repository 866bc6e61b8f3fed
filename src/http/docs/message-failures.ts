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
