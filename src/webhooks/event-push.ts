import {
  CHANNEL_EVENTS,
  eventOf,
  type Happening,
  type Push,
  type VerificationHappening,
  type WebhookChannel,
  type WebhookContent,
} from "../model/callback.ts";
import type { InboundContent, InboundMessage, UserFile } from "../model/inbound.ts";
import { messageIdOf } from "../model/message.ts";
import { postJson } from "./post-json.ts";

/** What a webhook is told of a happening; null where it did not ask for such events, or there is nothing to tell. */
export function webhookPush(webhook: WebhookContent, happening: Happening, eventId: string): Push | null {
  const { channel } = webhook;
  const event = eventOf(happening);
  if (channelOf(happening) !== channel || !CHANNEL_EVENTS[channel].includes(event)) return null;
  if (!webhook.events.includes(event)) return null;
  const body = eventBody(happening, channel, eventId);
  return body && postJson(webhook.url, body);
}

/** The channel whose webhooks are told of a happening. */
export function channelOf(happening: Happening): WebhookChannel {
  if (happening.kind === "inbound") return happening.inbound.channel;
  if (happening.kind === "verification") return "verify";
  // Only text messages have short links.
  return happening.kind === "click" ? "sms" : happening.message.channel;
}

/** What a webhook of a channel is told of a happening, whichever events it asks for; null where there is nothing to tell. */
export function eventBody(happening: Happening, channel: WebhookChannel, eventId: string): object | null {
  if (happening.kind === "inbound") return userMessage(happening.inbound);
  if (happening.kind === "verification") return verificationStatus(happening);
  const { at, message } = happening;
  const { messageId, recipient, sender } = message;
  const about = { ...ourSide(channel, sender), channel, event: eventOf(happening) };
  const then = { timestamp: at, userPhoneNumber: `+${recipient}` };
  if (happening.kind === "click") {
    const { url, code, agent } = happening;
    return { ...about, link: { code, url }, agent, messageId, ...then };
  }
  if (happening.kind === "sent")
    return { ...about, messageId, messageType: happening.message.session ? "session" : "template", ...then };
  const { status } = happening;
  if (status === "unknown") return null;
  return { ...about, messageId, statuses: { eventId, status, timestamp: Math.floor(at / 1000) } };
}

/**
 * Who of the account it is about, by the name that requests of the channel have for it. The chat app has `botId` as well:
 * its events have the shapes of RCS, so that one receiver can read both.
 */
function ourSide(channel: WebhookChannel, name: string): object {
  if (channel === "rcs") return { botId: name };
  return channel === "chatapp" ? { botId: name, from: name } : { sender: name };
}

/** In the words of `GET /v1/verify/{verifyId}`. */
function verificationStatus({ at, verification }: VerificationHappening): object {
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

function userMessage({ id, channel, from, to, content, answers, at }: InboundMessage): object {
  return {
    ...ourSide(channel, to),
    channel,
    event: "user_message",
    message: {
      text: content.kind === "text" ? content.text : "",
      suggestionResponse: content.kind === "suggestion" ? suggestionResponse(content) : null,
      userFile: content.kind === "file" ? userFile(content.file) : null,
      ...(content.kind === "location" && {
        location: { latitude: content.latitude, longitude: content.longitude },
      }),
    },
    // What answers nothing of ours has an id of the same shape all the same.
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
