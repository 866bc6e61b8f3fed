import type { ChatButton, Template } from "../../api-types.ts";
import type { Draft, Kind } from "./kinds.ts";

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

/** The RCS endpoint requires the plus, which users often leave out. */
const withPlus = (number: string): string => (/^\d/.test(number) ? `+${number}` : number);

function rcsBody(kind: Kind, draft: Draft): Record<string, unknown> {
  const { botId, templateName, type, params, fileUrls, sender, fallbackText } = draft;
  const content = kind.ownImages
    ? fileUrls.map((fileUrl) => ({ fileUrl }))
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
  const { from, templateName, params, headerText, link } = draft;
  const buttons = buttonValues(draft, template);
  const numbers = numbersIn(draft.to);
  const to = numbers.length > 1 ? { recipients: numbers.map((number) => ({ to: number })) } : { to: numbers[0] ?? "" };
  const base = { from, ...to, type: "template", templateName };
  const values = buttons.length > 0 && { buttons };
  if (kind.id === "chatapp-plain") return values ? { ...base, components: { body: { params: [] }, ...values } } : base;
  const header =
    kind.headerType === undefined
      ? {}
      : kind.headerType === "text"
        ? { header: { type: "text", text: headerText } }
        : { header: { type: kind.headerType, [kind.headerType]: { link } } };
  return { ...base, components: { ...header, body: { params }, ...values } };
}

/** The value that a template's button needs: the variable of its URL, or the code that it copies. */
export const neededValue = ({ type, url }: ChatButton): "text" | "code" | null =>
  type === "copyCode" ? "code" : type === "url" && url?.endsWith("{{1}}") ? "text" : null;

const buttonValues = ({ buttons }: Draft, template: Template | undefined): object[] =>
  template?.channel !== "chatapp"
    ? []
    : template.buttons.flatMap((button, index) => {
        const field = neededValue(button);
        return field === null ? [] : [{ index, [field]: buttons[index] ?? "" }];
      });
