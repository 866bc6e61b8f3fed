import type { Message, RouteClass } from "../../model/message.ts";
import type { RcsCard, RcsContent, Suggestion } from "../../model/rcs.ts";
import type { RbmSettings } from "../../model/rbm-line.ts";
import { postbackOf } from "./postback.ts";

type Ref = Pick<Message, "requestId" | "n">;

/** What the platform takes for a message; its own spelling. */
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

/** Writes a message as the platform takes it; null where there is nothing in it that could be shown. */
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
 * How long the platform may try: as long as the line allows for the type, and never longer than the message is worth
 * delivering or than its sender wants to wait for it before the text goes.
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
  // One card is no carousel to the platform, whatever it was called.
  if (kind === "card" || cards.length === 1)
    return { richCard: { standaloneCard: { cardOrientation: "VERTICAL", cardContent: cardContent(first, ref) } } };
  const cardContents = cards.map((card) => cardContent(card, ref));
  return { richCard: { carouselCard: { cardWidth: "MEDIUM", cardContents } } };
}

/** What is empty is left out: the platform takes no empty words. */
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
