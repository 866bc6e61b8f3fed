import {
  eventOf,
  follows,
  type AlertEvent,
  type CustomerEvent,
  type WebhookRequest,
  type VerificationEvent,
  type EventChannel,
  type WebhookContent,
} from "../../model/callback.ts";
import { describeAlert } from "../../model/alert.ts";
import type { InboundContent, InboundMessage, UserFile } from "../../model/inbound.ts";
import { messageIdOf } from "../../model/message.ts";
import { postJson } from "../post-json.ts";
import { isReported, placeholderValues, type ReportFacts } from "./placeholders.ts";

/** The request for a webhook; null if it does not subscribe to the event, or the event has no payload. */
export function eventRequest(
  webhook: WebhookContent,
  happening: CustomerEvent,
  eventId: string,
  facts: ReportFacts,
): WebhookRequest | null {
  const channel = channelOf(happening);
  const event = eventOf(happening.kind, channel);
  if (!follows(webhook, event, channel)) return null;
  const body =
    event === "delivery_report" ? reportBody(happening, channel, facts) : eventBody(happening, channel, eventId);
  return body && postJson(webhook.url, body);
}

/** A delivery report as an event: what all events of messages have, and every field of a report. */
export function reportBody(happening: CustomerEvent, channel: EventChannel, facts: ReportFacts): object | null {
  if (happening.kind !== "status" || !isReported(happening.status)) return null;
  const { at, message } = happening;
  return {
    ...ourSide(channel, message.sender),
    channel,
    event: "delivery_report",
    ...placeholderValues(happening, facts),
    ...(message.via === undefined ? {} : { deliveryChannel: message.via }),
    timestamp: at,
    userPhoneNumber: `+${message.recipient}`,
  };
}

/** The channel whose webhooks receive an event. */
export function channelOf(happening: CustomerEvent): EventChannel {
  if (happening.kind === "inbound") return happening.inbound.channel;
  if (happening.kind === "verification") return "verify";
  if (happening.kind === "alert") return "system";
  // Only text messages have short links.
  return happening.kind === "click" ? "sms" : happening.message.channel;
}

/** The body for a webhook of a channel, regardless of its subscriptions; null if there is no payload. */
export function eventBody(happening: CustomerEvent, channel: EventChannel, eventId: string): object | null {
  if (happening.kind === "inbound") return userMessage(happening.inbound);
  if (happening.kind === "verification") return verificationStatus(happening);
  if (happening.kind === "alert") return alertStatus(happening);
  const { at, message } = happening;
  const { messageId, recipient, sender } = message;
  const about = { ...ourSide(channel, sender), channel, event: eventOf(happening.kind, channel) };
  const then = { timestamp: at, userPhoneNumber: `+${recipient}` };
  if (happening.kind === "click") {
    const { url, code, agent } = happening;
    return { ...about, link: { code, url }, agent, messageId, ...then };
  }
  if (happening.kind === "sent")
    return { ...about, messageId, messageType: happening.message.session ? "session" : "template", ...then };
  // Facades render state events themselves.
  if (happening.kind === "state" || happening.status === "unknown") return null;
  const { status } = happening;
  const { via } = happening.message;
  return {
    ...about,
    messageId,
    statuses: { eventId, status, timestamp: Math.floor(at / 1000) },
    ...(via === undefined ? {} : { deliveryChannel: via }),
  };
}

/**
 * The account's side (sender, bot, number), named as in requests of the channel. Chat-app events also have `botId`, so that one
 * receiver can read RCS and chat-app events.
 */
function ourSide(channel: EventChannel, name: string): object {
  if (channel === "rcs") return { botId: name };
  return channel === "chatapp" ? { botId: name, from: name } : { sender: name };
}

/** Same fields as `GET /v1/verify/{verifyId}`. */
function verificationStatus({ at, verification }: VerificationEvent): object {
  const { id, config, number, state, checks, test } = verification;
  return {
    channel: "verify",
    event: "verification_status",
    verifyId: id,
    configId: config,
    status: state,
    attempts: checks,
    test,
    timestamp: at,
    userPhoneNumber: `+${number}`,
  };
}

/** Same names as `GET /api/alerts`. */
function alertStatus({ at, alert: facts }: AlertEvent): object {
  const { id, ruleName, alert, subject, subjectName, state, value, threshold } = facts;
  return {
    channel: "system",
    event: "alert_status",
    alertId: id,
    status: state,
    alert,
    rule: ruleName,
    subject,
    subjectName,
    value,
    threshold,
    description: describeAlert(facts),
    timestamp: at,
  };
}

function userMessage({ id, channel, from, to, content, answers, at, details }: InboundMessage): object {
  return {
    ...ourSide(channel, to),
    channel,
    event: "user_message",
    message: {
      text: content.kind === "text" ? content.text : "",
      suggestionResponse: content.kind === "suggestion" ? suggestionResponse(content) : null,
      userFile: content.kind === "file" ? userFile(content.file) : null,
      // Present only where there is a copy, which is fetched after this event.
      ...(content.kind === "file" && content.file.mediaId !== undefined && { media: { id: content.file.mediaId } }),
      ...(content.kind === "location" && {
        location: { latitude: content.latitude, longitude: content.longitude },
      }),
      ...(details && { details }),
    },
    // A message that answers none of ours still gets an id of the same format.
    messageId: messageIdOf(answers ?? { requestId: id, n: 1 }),
    timestamp: at,
    userPhoneNumber: `+${from}`,
  };
}

const suggestionResponse = ({ plainText, data, type }: Extract<InboundContent, { kind: "suggestion" }>): object => ({
  plainText,
  postBack: { data },
  type,
});

const userFile = ({ category, payload, thumbnail }: UserFile): object => ({
  category,
  payload: filePart(payload),
  thumbnail: thumbnail && filePart(thumbnail),
});

const filePart = ({ mimeType, fileSizeBytes, fileName, fileUri }: UserFile["payload"]): object => ({
  mimeType,
  fileSizeBytes,
  fileName,
  fileUri,
});
