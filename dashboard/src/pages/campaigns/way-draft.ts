import type { PhoneMessage, Template } from "../../api-types.ts";
import type { SendChannel } from "../../parts/channel.tsx";
import { ORIGINS } from "../../parts/origins.ts";
import { neededValue } from "../compose/body.ts";
import { EMPTY } from "../compose/kinds.ts";
import { previewOf } from "../compose/preview.ts";
import type { CampaignWay } from "./audience-campaign.ts";

/** The form of one channel of a campaign. */
export interface WayDraft {
  channel: SendChannel;
  sender: string;
  /** An SMS has a text or a template, the others have a template. */
  by: "text" | "template";
  text: string;
  templateName: string;
  params: readonly string[];
  header: { type: string; value: string } | null;
  /** Buttons that need a value. */
  buttons: readonly ButtonDraft[];
  /** Images of cards; empty for those of the template. */
  fileUrls: readonly string[];
  /** A way with content that only the API can change, as it is stored. */
  stored: CampaignWay | null;
}

interface ButtonDraft {
  index: number;
  field: "text" | "code";
  value: string;
}

export const emptyWay = (channel: SendChannel): WayDraft => ({
  channel,
  sender: "",
  by: channel === "sms" ? "text" : "template",
  text: "",
  templateName: "",
  params: [],
  header: null,
  buttons: [],
  fileUrls: [],
  stored: null,
});

const placesOf = (values: readonly string[], count: number): string[] =>
  Array.from({ length: count }, (_, index) => values[index] ?? "");

/** The inputs that a template needs; what was written stays where it fits. */
export function withTemplate(way: WayDraft, template: Template): WayDraft {
  const named = { ...way, templateName: template.name, params: placesOf(way.params, template.variables) };
  if (template.channel === "sms") return named;
  if (template.channel === "rcs") return { ...named, fileUrls: template.cards.map(() => "") };
  const buttons = template.buttons.flatMap((button, index) => {
    const field = neededValue(button);
    return field === null ? [] : [{ index, field, value: "" }];
  });
  return { ...named, buttons, header: template.header && { type: template.header.type, value: "" } };
}

/** The way as the API takes it. */
export function bodyOfWay(way: WayDraft): CampaignWay {
  const { channel, sender, by, text, templateName, params, fileUrls } = way;
  if (way.stored) return way.stored;
  const origin = { channel, [ORIGINS[channel].field]: sender };
  if (channel === "sms")
    return by === "text" ? { ...origin, text } : { ...origin, templateId: templateName, custom: params };
  const named = { ...origin, templateName };
  if (channel === "rcs") {
    if (params.length > 0) return { ...named, content: [{ params }] };
    return fileUrls.some((url) => url !== "") ? { ...named, content: fileUrls.map((fileUrl) => ({ fileUrl })) } : named;
  }
  const components = componentsOf(way);
  return components ? { ...named, components } : named;
}

function componentsOf({ params, header, buttons }: WayDraft): object | null {
  if (params.length === 0 && header === null && buttons.length === 0) return null;
  const { type, value } = header ?? { type: "", value: "" };
  const values = buttons.map((button) => ({ index: button.index, [button.field]: button.value }));
  return {
    body: { params },
    ...(header && { header: type === "text" ? { type, text: value } : { type, [type]: { link: value } } }),
    ...(values.length > 0 && { buttons: values }),
  };
}

interface Content {
  text?: string;
  templateId?: string;
  templateName?: string;
  custom?: readonly (string | number)[];
  content?: readonly { params?: readonly string[]; fileUrl?: string }[];
  components?: {
    body?: { params?: readonly string[] };
    header?: { type: string; text?: string } & Record<string, unknown>;
    buttons?: readonly { index: number; text?: string; code?: string }[];
  };
}

/** The form of a stored way. */
export function draftOfWay(stored: CampaignWay): WayDraft {
  const { text, templateId, templateName, custom, content, components } = stored as Content;
  const { channel } = stored;
  const sender = stored[ORIGINS[channel].field];
  const header = components?.header;
  const media = header?.[header.type] as { link?: string } | undefined;
  const draft: WayDraft = {
    ...emptyWay(channel),
    sender: typeof sender === "string" ? sender : "",
    by: channel === "sms" && templateId === undefined ? "text" : "template",
    text: text ?? "",
    templateName: templateId ?? templateName ?? "",
    params: (custom ?? content?.[0]?.params ?? components?.body?.params ?? []).map(String),
    header: header ? { type: header.type, value: header.text ?? media?.link ?? "" } : null,
    buttons: (components?.buttons ?? []).map((button) => ({
      index: button.index,
      field: button.code === undefined ? "text" : "code",
      value: button.code ?? button.text ?? "",
    })),
    fileUrls: content?.some(({ fileUrl }) => fileUrl !== undefined) ? content.map(({ fileUrl = "" }) => fileUrl) : [],
  };
  return sortedJson(bodyOfWay(draft)) === sortedJson(stored) ? draft : { ...draft, stored };
}

const sortedJson = (value: unknown): string =>
  JSON.stringify(value, (_, each: unknown) =>
    typeof each === "object" && each !== null && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).toSorted(([one], [other]) => (one < other ? -1 : 1)))
      : each,
  );

/** The message of a way on a phone. `fill` puts the values of a recipient into its texts. */
export function messageOfWay(
  way: WayDraft,
  template: Template | undefined,
  fill: (text: string) => string,
  at: number,
): PhoneMessage {
  const { channel, sender, by, text, templateName, params, header, fileUrls, buttons } = way;
  const kind = {
    id: channel,
    channel,
    label: "",
    about: "",
    example: {},
    ...(by === "text" && { writesText: true as const }),
    ...(fileUrls.some((url) => url !== "") && { ownImages: true as const }),
    ...(header && { headerType: header.type as "text" }),
  };
  const value = fill(header?.value ?? "");
  const filled = {
    ...EMPTY,
    [ORIGINS[channel].field]: sender,
    text: fill(text) || "…",
    templateName,
    params: params.map(fill),
    fileUrls: fileUrls.map(fill),
    headerText: value,
    link: value,
    buttons:
      template?.channel === "chatapp"
        ? template.buttons.map((_, index) => fill(buttons.find((button) => button.index === index)?.value ?? ""))
        : [],
  };
  return { ...previewOf(kind, filled, template, at), id: channel, messageId: channel };
}
