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

/** Null if the content is empty. */
export function agentMessage(
  message: Message,
  content: RcsContent,
  { trafficTypes, ttlSeconds }: Pick<RbmSettings, "trafficTypes" | "ttlSeconds">,
  now: number,
): AgentMessage | null {
  const contentMessage = contentOf(content, message);
  return (
    contentMessage && {
      contentMessage,
      ...(trafficTypes ? { messageTrafficType: TRAFFIC_TYPES[message.routeClass] } : {}),
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

function contentOf({ kind, text, suggestions, cards }: RcsContent, ref: Ref): object | null {
  if (kind === "card" || kind === "carousel") return richCard(kind, cards, ref);
  return text === "" ? null : { text, ...suggestionsOf(suggestions, ref) };
}

function richCard(kind: "card" | "carousel", cards: readonly RcsCard[], ref: Ref): object | null {
  const [first] = cards;
  if (!first) return null;
  // The platform refuses a carousel with one card.
  if (kind === "card" || cards.length === 1)
    return { richCard: { standaloneCard: { cardOrientation: "VERTICAL", cardContent: cardContent(first, ref) } } };
  const cardContents = cards.map((card) => cardContent(card, ref));
  return { richCard: { carouselCard: { cardWidth: "MEDIUM", cardContents } } };
}

/** Empty fields are omitted, because the platform refuses them. */
const cardContent = ({ title, description, fileUrl, suggestions }: RcsCard, ref: Ref): object => ({
  ...(title === "" ? {} : { title }),
  ...(description === "" ? {} : { description }),
  ...(fileUrl === null ? {} : { media: { height: "MEDIUM", contentInfo: { fileUrl, forceRefresh: false } } }),
  ...suggestionsOf(suggestions, ref),
});

const suggestionsOf = (suggestions: readonly Suggestion[], ref: Ref): object =>
  suggestions.length === 0 ? {} : { suggestions: suggestions.map((each) => suggestionOf(each, ref)) };

function suggestionOf(suggestion: Suggestion, ref: Ref): object {
  const common = { text: suggestion.text, postbackData: postbackOf(suggestion, ref) };
  return suggestion.type === "reply" ? { reply: common } : { action: { ...common, ...actionOf(suggestion) } };
}

function actionOf(suggestion: Exclude<Suggestion, { type: "reply" }>): object {
  if (suggestion.type === "url") return { openUrlAction: { url: suggestion.url } };
  if (suggestion.type === "dial") return { dialAction: { phoneNumber: suggestion.number } };
  if (suggestion.type === "shareLocation") return { shareLocationAction: {} };
  if (suggestion.type === "viewLocation") {
    const { latitude, longitude, label } = suggestion;
    return { viewLocationAction: { latLong: { latitude, longitude }, ...(label === "" ? {} : { label }) } };
  }
  const { title, description, startAt, endAt } = suggestion;
  const startTime = new Date(startAt).toISOString();
  const endTime = new Date(endAt).toISOString();
  const more = description === "" ? {} : { description };
  return { createCalendarEventAction: { startTime, endTime, title, ...more } };
}
