import type { Draft, Kind } from "./kinds.ts";

interface Request {
  path: string;
  body: Record<string, unknown>;
}

/** The request that a draft stands for: what "Send" sends, and what the command says. */
export function requestOf(kind: Kind, draft: Draft): Request {
  const campaign = draft.campaignName === "" ? {} : { campaignName: draft.campaignName };
  if (kind.channel === "sms") return { path: "/v1/sms", body: { ...smsBody(kind, draft), ...campaign } };
  if (kind.channel === "rcs") return { path: "/v1/rcs", body: { ...rcsBody(kind, draft), ...campaign } };
  return { path: "/v1/chatapp", body: { ...chatBody(kind, draft), ...campaign } };
}

/** Numbers, however they are set apart. */
export const numbersIn = (written: string): string[] => written.split(/[\s,;]+/).filter((number) => number !== "");

function smsBody(kind: Kind, draft: Draft): Record<string, unknown> {
  const { sender, text, type, templateName, params, targetUrl, sendAt } = draft;
  const numbers = numbersIn(draft.to);
  return {
    sender,
    to: kind.many ? numbers : (numbers[0] ?? ""),
    ...(kind.writesText ? { text } : {}),
    type: kind.fixedType ?? type,
    ...kind.flags,
    ...(kind.takes ? { templateId: templateName } : {}),
    ...(kind.takes && !kind.writesText ? { custom: params } : {}),
    ...(kind.shortLink ? { shortenUrlData: { shortenUrl: true, targetUrl: [targetUrl] } } : {}),
    ...(sendAt === "" ? {} : { sendAt: new Date(sendAt).toISOString() }),
  };
}

/** RCS wants the plus that people leave out. */
const withPlus = (number: string): string => (number.startsWith("+") ? number : `+${number}`);

function rcsBody(kind: Kind, draft: Draft): Record<string, unknown> {
  const { botId, templateName, type, params, fileUrls, sender, fallbackText } = draft;
  const content = kind.ownImages
    ? fileUrls.map((fileUrl) => ({ fileUrl }))
    : kind.id === "rcs-variables"
      ? [{ params }]
      : null;
  return {
    number: withPlus(numbersIn(draft.to)[0] ?? ""),
    botId,
    templateName,
    type,
    ...(content ? { content } : {}),
    ...(fallbackText === "" ? {} : { fallback: { type: "sms", sender, text: fallbackText } }),
  };
}

function chatBody(kind: Kind, draft: Draft): Record<string, unknown> {
  const { from, templateName, params, headerText, link } = draft;
  const base = { from, to: numbersIn(draft.to)[0] ?? "", type: "template", templateName };
  if (kind.id === "chatapp-plain") return base;
  const header =
    kind.headerType === undefined
      ? {}
      : kind.headerType === "text"
        ? { header: { type: "text", text: headerText } }
        : { header: { type: kind.headerType, [kind.headerType]: { link } } };
  return { ...base, components: { ...header, body: { params } } };
}
