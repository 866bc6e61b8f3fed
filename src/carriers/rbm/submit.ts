import type { Message, RouteClass } from "../../model/message.ts";
import type { RcsCard, RcsContent, Suggestion } from "../../model/rcs.ts";
import type { RbmSettings } from "../../model/rbm-connection.ts";
import { postbackOf } from "./postback.ts";

type Ref = Pick<Message, "requestId" | "n">;

/** Request body in the platform's terms. */
export interface AgentMessage {
  contentMessage: object;
  messageTrafficType?: string;
  ttl: string;
}

const TRAFFIC_TYPES: Readonly<Record<RouteClass, string>> = {
  OTP: "AUTHENTICATION",
  TRANS: "TRANSACTION",
  PROMO: "PROMOTION",
};

/** A text without a template is an automatic reply, such as the confirmation of STOP. */
const trafficTypeOf = ({ routeClass }: Pick<Message, "routeClass">, { templateName }: RcsContent): string =>
  templateName === undefined && routeClass !== "OTP" ? "ACKNOWLEDGEMENT" : TRAFFIC_TYPES[routeClass];

/** Null if the content is empty. */
export function agentMessage(
  message: Message,
  content: RcsContent,
  { trafficTypes, ttlSeconds }: Pick<RbmSettings, "trafficTypes" | "ttlSeconds">,
  now: number,
  /** Names of uploaded files, by the place of their card; null or absent where the URL is sent. */
  files: readonly (string | null)[] = [],
): AgentMessage | null {
  const contentMessage = contentOf(content, message, files);
  return (
    contentMessage && {
      contentMessage,
      ...(trafficTypes ? { messageTrafficType: trafficTypeOf(message, content) } : {}),
      ttl: `${secondsToTry(message, content, ttlSeconds, now)}s`,
    }
  );
}

/**
 * Time to live: the connection's limit for the class, at most the message's validity, and at most the wait before its SMS
 * fallback.
 */
export function secondsToTry(
  { routeClass, expiresAt }: Pick<Message, "routeClass" | "expiresAt">,
  { fallback }: Pick<RcsContent, "fallback">,
  ttlSeconds: RbmSettings["ttlSeconds"],
  now: number,
): number {
  const validSeconds = Math.floor((expiresAt - now) / 1000);
  return Math.max(1, Math.min(ttlSeconds[routeClass], validSeconds, fallback?.afterSeconds ?? Infinity));
}

type Files = readonly (string | null)[];

function contentOf({ kind, text, suggestions, cards }: RcsContent, ref: Ref, files: Files): object | null {
  if (kind === "card" || kind === "carousel") return richCard(kind, cards, ref, files);
  return text === "" ? null : { text, ...suggestionsOf(suggestions, ref) };
}

function richCard(kind: "card" | "carousel", cards: readonly RcsCard[], ref: Ref, files: Files): object | null {
  const [first] = cards;
  if (!first) return null;
  // The platform refuses a carousel with one card.
  if (kind === "card" || cards.length === 1)
    return {
      richCard: { standaloneCard: { ...orientationOf(first), cardContent: cardContent(first, ref, files[0]) } },
    };
  const cardContents = cards.map((card, index) => cardContent(card, ref, files[index]));
  return { richCard: { carouselCard: { cardWidth: "MEDIUM", cardContents } } };
}

const orientationOf = ({ orientation = "vertical", imageSide }: RcsCard): object => ({
  cardOrientation: orientation.toUpperCase(),
  ...(imageSide && { thumbnailImageAlignment: imageSide.toUpperCase() }),
});

/** Empty fields are omitted, because the platform refuses them. */
const cardContent = (
  { title, description, suggestions, ...image }: RcsCard,
  ref: Ref,
  file: string | null | undefined,
): object => ({
  ...(title === "" ? {} : { title }),
  ...(description === "" ? {} : { description }),
  ...mediaOf(image, file ?? null),
  ...suggestionsOf(suggestions, ref),
});

type Image = Pick<RcsCard, "fileUrl" | "thumbnailUrl" | "height">;

function mediaOf({ fileUrl, thumbnailUrl, height: size = "medium" }: Image, fileName: string | null): object {
  if (fileUrl === null) return {};
  const height = size.toUpperCase();
  if (fileName !== null) return { media: { height, uploadedRbmFile: { fileName } } };
  const thumbnail = thumbnailUrl === undefined ? {} : { thumbnailUrl };
  return { media: { height, contentInfo: { fileUrl, ...thumbnail, forceRefresh: false } } };
}

const suggestionsOf = (suggestions: readonly Suggestion[], ref: Ref): object =>
  suggestions.length === 0 ? {} : { suggestions: suggestions.map((each) => suggestionOf(each, ref)) };

function suggestionOf(suggestion: Suggestion, ref: Ref): object {
  const common = { text: suggestion.text, postbackData: postbackOf(suggestion, ref) };
  return suggestion.type === "reply" ? { reply: common } : { action: { ...common, ...actionOf(suggestion) } };
}

function actionOf(suggestion: Exclude<Suggestion, { type: "reply" }>): object {
  if (suggestion.type === "url") {
    const { url, webview } = suggestion;
    const view = webview ? { application: "WEBVIEW", webviewViewMode: webview.toUpperCase() } : {};
    return { openUrlAction: { url, ...view } };
  }
  if (suggestion.type === "compose") {
    const { number: phoneNumber, message, recording } = suggestion;
    if (recording === undefined) return { composeAction: { composeTextMessage: { phoneNumber, text: message ?? "" } } };
    const type = `ACTION_TYPE_${recording.toUpperCase()}`;
    return { composeAction: { composeRecordingMessage: { phoneNumber, type } } };
  }
  if (suggestion.type === "dial") return { dialAction: { phoneNumber: suggestion.number } };
  if (suggestion.type === "shareLocation") return { shareLocationAction: {} };
  if (suggestion.type === "viewLocation") {
    if ("query" in suggestion) return { viewLocationAction: { query: suggestion.query } };
    const { latitude, longitude, label } = suggestion;
    return { viewLocationAction: { latLong: { latitude, longitude }, ...(label === "" ? {} : { label }) } };
  }
  const { title, description, startAt, endAt } = suggestion;
  const startTime = new Date(startAt).toISOString();
  const endTime = new Date(endAt).toISOString();
  const more = description === "" ? {} : { description };
  return { createCalendarEventAction: { startTime, endTime, title, ...more } };
}
