import type { Credential } from "../../accounts/secret-index.ts";
import { timeOf } from "../../lib/ids.ts";
import { twilioAccountSid, type StoredCredential } from "../../model/credential.ts";
import type { InboundMessage } from "../../model/inbound.ts";
import type { Channel, State } from "../../model/message.ts";
import type { StoredMessage } from "../../store/store.ts";
import { writeAddress } from "./addresses.ts";
import { failureCodeOf } from "./errors.ts";
import { messageSidOf, sidOf } from "../../model/twilio-sid.ts";

export const API_VERSION = "2010-04-01";

/** Twilio's statuses. `unknown` means that no report came, so the last thing known is that a carrier took the message. */
const STATUSES: Readonly<Record<State, string>> = {
  accepted: "queued",
  scheduled: "scheduled",
  submitting: "sending",
  submitted: "sent",
  enroute: "sent",
  unknown: "sent",
  delivered: "delivered",
  read: "read",
  undelivered: "undelivered",
  expired: "undelivered",
  rejected: "failed",
  cancelled: "canceled",
};

/** The status of a state. A message that expired before a carrier took it has failed. */
export const statusOf = (state: State, wasSubmitted = true): string =>
  state === "expired" && !wasSubmitted ? "failed" : STATUSES[state];

const HAS_FAILED = new Set(["undelivered", "failed"]);

export const hasFailed = (status: string): boolean => HAS_FAILED.has(status);

export const accountSidOf = ({ key }: Pick<Credential<StoredCredential>, "key">): string =>
  twilioAccountSid(key.accountId, key.mode);

let dateSecond = Number.NaN;
let date = "";

/** A time as in the Date header of mail, as JSON. Most responses show the current second, so the last date is kept. */
function dateJson(ms: number | null): string {
  if (ms === null) return "null";
  const second = Math.floor(ms / 1000);
  if (second !== dateSecond) {
    dateSecond = second;
    date = JSON.stringify(new Date(second * 1000).toUTCString().replace("GMT", "+0000"));
  }
  return date;
}

interface Resource {
  accountSid: string;
  sid: string;
  channel: Channel;
  direction: "outbound-api" | "inbound";
  from: string;
  to: string;
  body: string;
  segments: number;
  status: string;
  createdAt: number;
  updatedAt: number;
  sentAt: number | null;
  failure: { code: string | null; description: string | null } | null;
  messagingServiceSid?: string | null;
}

/**
 * Twilio's Message resource as JSON. Prices are null: messages cost credits here. The text is concatenated because building and
 * stringifying an object takes almost twice as long.
 */
export function messageResource({ accountSid, sid, failure, ...message }: Resource): string {
  const uri = `/${API_VERSION}/Accounts/${accountSid}/Messages/${sid}`;
  return (
    `{"account_sid":"${accountSid}","api_version":"${API_VERSION}","body":${JSON.stringify(message.body)},` +
    `"date_created":${dateJson(message.createdAt)},"date_sent":${dateJson(message.sentAt)},` +
    `"date_updated":${dateJson(message.updatedAt)},"direction":"${message.direction}",` +
    `"error_code":${failure && failureCodeOf(failure.code)},` +
    `"error_message":${JSON.stringify(failure && (failure.description ?? failure.code))},` +
    `"from":${JSON.stringify(message.from)},` +
    `"messaging_service_sid":${JSON.stringify(message.messagingServiceSid ?? null)},` +
    `"num_media":"0","num_segments":"${message.segments}","price":null,"price_unit":null,"sid":"${sid}",` +
    `"status":"${message.status}","subresource_uris":{"media":"${uri}/Media.json"},` +
    `"to":${JSON.stringify(message.to)},"uri":"${uri}.json"}`
  );
}

/** A stored message as a resource. */
export function storedResource(accountSid: string, message: StoredMessage): string {
  const { channel, state, createdAt, submittedAt, doneAt } = message;
  const status = statusOf(state, submittedAt !== null);
  return messageResource({
    accountSid,
    sid: messageSidOf(message),
    channel,
    direction: "outbound-api",
    from: writeAddress(channel, message.sender),
    to: writeAddress(channel, message.recipient),
    body: message.content.text,
    segments: message.segments,
    status,
    createdAt,
    updatedAt: doneAt ?? submittedAt ?? createdAt,
    sentAt: submittedAt,
    failure: hasFailed(status) ? { code: message.errorCode, description: message.description } : null,
  });
}

export function inboundResource(accountSid: string, inbound: InboundMessage): string {
  const { id, channel, from, to, content, at } = inbound;
  return messageResource({
    accountSid,
    sid: sidOf("SM", id),
    channel,
    direction: "inbound",
    from: writeAddress(channel, from),
    to: writeAddress(channel, to),
    body: content.kind === "text" ? content.text : content.kind === "suggestion" ? content.plainText : "",
    segments: 1,
    status: "received",
    createdAt: Math.min(at, timeOf(id)),
    updatedAt: at,
    sentAt: at,
    failure: null,
  });
}
