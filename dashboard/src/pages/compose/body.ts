import type { ChatButton, ChatCard, Template } from "../../api-types.ts";
import type { CardDraft, Draft, Kind } from "./kinds.ts";

interface Request {
  path: string;
  body: Record<string, unknown>;
}

/** The request of a draft: its path and body, both for "Send" and for the curl command. */
export function requestOf(kind: Kind, draft: Draft, template: Template | undefined): Request {
  const { campaignName, sendAt } = draft;
  const common = {
    ...(campaignName === "" ? {} : { campaignName }),
    ...(sendAt === "" ? {} : { sendAt: new Date(sendAt).toISOString() }),
  };
  if (kind.channel === "sms") return { path: "/v1/sms", body: { ...smsBody(kind, draft), ...common } };
  if (kind.channel === "rcs") return { path: "/v1/rcs", body: { ...rcsBody(kind, draft), ...common } };
  return { path: "/v1/chatapp", body: { ...chatBody(kind, draft, template), ...common } };
}

/** The numbers of an input, separated by spaces, commas or semicolons. */
export const numbersIn = (written: string): string[] => written.split(/[\s,;]+/).filter((number) => number !== "");

/** Entries without the form of a number, such as the names of a pasted table. */
export const othersIn = (written: string): string[] =>
  numbersIn(written).filter((entry) => !/^\+?[\d().\-/]+$/.test(entry));

function smsBody(kind: Kind, draft: Draft): Record<string, unknown> {
  const { sender, text, type, templateName, params, targetUrl } = draft;
  const numbers = numbersIn(draft.to);
  return {
    sender,
    to: kind.many || numbers.length > 1 ? numbers : (numbers[0] ?? ""),
    ...(kind.writesText ? { text } : {}),
    type: kind.fixedType ?? type,
    ...kind.flags,
    ...(kind.takes ? { templateId: templateName } : {}),
    ...(kind.takes && !kind.writesText ? { custom: params } : {}),
    ...(kind.shortLink ? { shortenUrlData: { shortenUrl: true, targetUrl: [targetUrl] } } : {}),
  };
}

/** A URL, or the id of an upload. */
const fileOf = (field: "link" | "fileUrl", written: string): Record<string, string> =>
  written.startsWith("media:") ? { mediaId: written.slice("media:".length) } : { [field]: written };

/** The RCS endpoint requires the plus, which users often leave out. */
const withPlus = (number: string): string => (/^\d/.test(number) ? `+${number}` : number);

function rcsBody(kind: Kind, draft: Draft): Record<string, unknown> {
  const { botId, templateName, type, params, fileUrls, sender, fallbackText } = draft;
  const content = kind.ownImages
    ? fileUrls.map((fileUrl) => fileOf("fileUrl", fileUrl))
    : kind.id === "rcs-variables"
      ? [{ params }]
      : null;
  const numbers = numbersIn(draft.to).map(withPlus);
  return {
    ...(numbers.length > 1 ? { recipients: numbers.map((number) => ({ number })) } : { number: numbers[0] ?? "" }),
    botId,
    templateName,
    type,
    ...(content ? { content } : {}),
    ...(fallbackText === "" ? {} : { fallback: { type: "sms", sender, text: fallbackText } }),
  };
}

function chatBody(kind: Kind, draft: Draft, template: Template | undefined): Record<string, unknown> {
  const { from, templateName, language, params } = draft;
  const chat = template?.channel === "chatapp" ? template : undefined;
  const buttons = buttonValues(draft.buttons, chat?.buttons ?? []);
  const numbers = numbersIn(draft.to);
  const to = numbers.length > 1 ? { recipients: numbers.map((number) => ({ to: number })) } : { to: numbers[0] ?? "" };
  const base = { from, ...to, type: "template", templateName, ...(language === "" ? {} : { language }) };
  const values = buttons.length > 0 && { buttons };
  if (kind.id === "chatapp-plain") return values ? { ...base, components: { body: { params: [] }, ...values } } : base;
  const header = headerBody(kind.ownHeader ? chat?.header?.type : kind.headerType, draft);
  const rich = {
    ...(chat?.offer && chat.offer.expires !== false && { offer: { expiresAt: offerEnd(draft.offerEnds) } }),
    ...(kind.id === "chatapp-carousel" && {
      cards: draft.cards.map((card, index) => cardBody(card, chat?.cards?.[index])),
    }),
  };
  return { ...base, components: { ...(header && { header }), body: { params }, ...values, ...rich } };
}

function headerBody(type: string | undefined, draft: Draft): object | null {
  const { headerText, link, latitude, longitude, placeName: name, address } = draft;
  if (type === undefined) return null;
  if (type === "text") return { type, text: headerText };
  if (type === "location")
    return { type, location: { latitude: Number(latitude), longitude: Number(longitude), name, address } };
  return { type, [type]: fileOf("link", link) };
}

const DAY_MS = 86_400_000;

/** An offer without a chosen end lasts for a day. */
const offerEnd = (written: string): string =>
  new Date(written === "" ? Math.ceil(Date.now() / DAY_MS + 1) * DAY_MS : written).toISOString();

function cardBody({ link, params, buttons: given }: CardDraft, card: ChatCard | undefined): object {
  const type = card?.header.type ?? "image";
  const buttons = buttonValues(given, card?.buttons ?? []);
  return {
    header: { type, [type]: { link } },
    ...(params.length > 0 && { body: { params } }),
    ...(buttons.length > 0 && { buttons }),
  };
}

/** The value that a template's button needs: the variable of its URL, or the code that it copies. */
export const neededValue = ({ type, url }: ChatButton): "text" | "code" | null =>
  type === "copyCode" ? "code" : type === "url" && url?.endsWith("{{1}}") ? "text" : null;

const buttonValues = (values: readonly string[], buttons: readonly ChatButton[]): object[] =>
  buttons.flatMap((button, index) => {
    const field = neededValue(button);
    return field === null ? [] : [{ index, [field]: values[index] ?? "" }];
  });
