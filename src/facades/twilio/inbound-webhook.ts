import { twilioAccountSid, type StoredCredential } from "../../model/credential.ts";
import type { InboundContent, InboundMessage } from "../../model/inbound.ts";
import { readAddress, writeAddress } from "./addresses.ts";
import { API_VERSION } from "./message-resource.ts";
import { settingsOf } from "./settings.ts";
import { messageSidOf, sidOf } from "../../model/twilio-sid.ts";

/** True if the credential has an address for inbound messages to this number. */
export function wantsInbound(credential: StoredCredential, { channel, to }: InboundMessage): boolean {
  const { inboundUrl, inboundNumbers } = settingsOf(credential);
  if (inboundUrl === null) return false;
  const reached = writeAddress(channel, to);
  return (
    inboundNumbers.length === 0 ||
    inboundNumbers.some((written) => {
      const asked = readAddress(written);
      return writeAddress(asked.channel, asked.name) === reached;
    })
  );
}

/** The fields of the webhook for an inbound message. */
export function inboundFields(
  { id, channel, from, to, content, answers }: InboundMessage,
  { accountId, mode }: Pick<StoredCredential, "accountId" | "mode">,
): Record<string, string> {
  const sid = sidOf("SM", id);
  return {
    AccountSid: twilioAccountSid(accountId, mode),
    ApiVersion: API_VERSION,
    From: writeAddress(channel, from),
    MessageSid: sid,
    NumMedia: content.kind === "file" ? "1" : "0",
    NumSegments: "1",
    SmsMessageSid: sid,
    SmsSid: sid,
    SmsStatus: "received",
    To: writeAddress(channel, to),
    ...(channel === "chatapp" && { WaId: from }),
    ...(answers && { OriginalRepliedMessageSid: messageSidOf(answers) }),
    ...contentFields(content),
  };
}

function contentFields(content: InboundContent): Record<string, string> {
  switch (content.kind) {
    case "text":
      return { Body: content.text };
    case "suggestion":
      return { Body: content.plainText, ButtonText: content.plainText, ButtonPayload: content.data };
    case "file":
      return { Body: "", MediaUrl0: content.file.payload.fileUri, MediaContentType0: content.file.payload.mimeType };
    case "location":
    default:
      return { Body: "", Latitude: String(content.latitude), Longitude: String(content.longitude) };
  }
}
