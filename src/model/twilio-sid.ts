import { messageIdOf, parseMessageId, type MessageRef } from "./message.ts";

/**
 * Twilio's ids: two letters and 32 hexadecimal digits, which are those of our UUID. A message that is not the first of its
 * request, as only `/v1` sends them, has its place behind a dash.
 */
const SID = /^([A-Z]{2})([0-9a-f]{8})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{4})([0-9a-f]{12})(?:-([1-9][0-9]{0,5}))?$/;

/** Message, verification, verification service, content template. */
type Prefix = "SM" | "VE" | "VA" | "HX";

export const sidOf = (prefix: Prefix, id: string): string => prefix + id.replaceAll("-", "");

/** The UUID in a SID; null if it is none with this prefix. */
export function idInSid(prefix: Prefix, sid: string): string | null {
  const [, found, a, b, c, d, e, place] = SID.exec(sid) ?? [];
  return found === prefix && place === undefined ? `${a}-${b}-${c}-${d}-${e}` : null;
}

type MessageId = Pick<MessageRef, "requestId" | "n">;

export const messageSidOf = ({ requestId, n }: MessageId): string => sidOf("SM", requestId) + (n === 1 ? "" : `-${n}`);

/** The message of a SID; null if it is none. Messages with media begin with MM at Twilio. */
export function messageInSid(sid: string): MessageId | null {
  const [, prefix, a, b, c, d, e, n = 1] = SID.exec(sid) ?? [];
  if (prefix !== "SM" && prefix !== "MM") return null;
  return parseMessageId(messageIdOf({ requestId: `${a}-${b}-${c}-${d}-${e}`, n: Number(n) }));
}
