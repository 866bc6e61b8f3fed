import { twilioAccountSid } from "../../model/credential.ts";
import type { KeyMode } from "../../model/api-key.ts";
import type { StateEvent } from "../../model/callback.ts";
import { FAILURES, parseMessageId } from "../../model/message.ts";
import { writeAddress } from "./addresses.ts";
import { failureCodeOf } from "./errors.ts";
import { API_VERSION, hasFailed, statusOf } from "./message-resource.ts";
import { messageSidOf } from "../../model/twilio-sid.ts";

/** The fields of a status callback. */
export function statusFields(
  { state, message, errorCode, description, gateway }: StateEvent,
  { accountId, mode }: { accountId: number; mode: KeyMode },
): Record<string, string> {
  const { messageId, channel, recipient, sender } = message;
  const ref = parseMessageId(messageId);
  const sid = ref ? messageSidOf(ref) : "";
  // A carrier may have been chosen for a message that expired in the queue.
  const wasSubmitted = gateway !== "" && !Object.hasOwn(FAILURES, errorCode ?? "");
  const status = statusOf(state, wasSubmitted);
  return {
    AccountSid: twilioAccountSid(accountId, mode),
    ApiVersion: API_VERSION,
    From: writeAddress(channel, sender),
    MessageSid: sid,
    MessageStatus: status,
    SmsSid: sid,
    SmsStatus: status,
    To: writeAddress(channel, recipient),
    ...(hasFailed(status) && {
      ErrorCode: String(failureCodeOf(errorCode)),
      ErrorMessage: description ?? errorCode ?? "",
    }),
  };
}
