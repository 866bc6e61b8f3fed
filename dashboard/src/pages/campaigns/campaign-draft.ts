import type { Recipient } from "../audiences/audience.ts";
import { fieldTime } from "../../parts/record/moment-input.tsx";
import { filledIn } from "../compose/preview.ts";
import type { AudienceCampaign } from "./audience-campaign.ts";
import { bodyOfWay, draftOfWay, emptyWay, type WayDraft } from "./way-draft.ts";

/** The form of a campaign. */
export interface CampaignDraft {
  name: string;
  audienceId: string;
  type: "TRANS" | "PROMO";
  sender: string;
  by: "text" | "template" | "ways";
  text: string;
  /** Addresses of the short links in the text, one per token. */
  targets: readonly string[];
  templateId: string;
  /** Values of the template's variables. */
  custom: readonly string[];
  ways: readonly WayDraft[];
  moveOnAfterSeconds: number | "";
  throttle: number | "";
  hasWindow: boolean;
  from: string;
  to: string;
  zone: string;
  isLater: boolean;
  /** In the format of `datetime-local`. */
  scheduledAt: string;
}

const MOVE_ON_SECONDS = 60;

export const emptyDraft = (audienceId: string): CampaignDraft => ({
  name: "",
  audienceId,
  type: "PROMO",
  sender: "",
  by: "text",
  text: "",
  targets: [],
  templateId: "",
  custom: [],
  ways: [emptyWay("rcs"), emptyWay("sms")],
  moveOnAfterSeconds: MOVE_ON_SECONDS,
  throttle: "",
  hasWindow: false,
  from: "10:00",
  to: "20:00",
  zone: Intl.DateTimeFormat().resolvedOptions().timeZone,
  isLater: false,
  scheduledAt: "",
});

export function draftOf(campaign: AudienceCampaign): CampaignDraft {
  const { name, audienceId, type, sender, text, templateId, custom, throttle, window, scheduledAt } = campaign;
  const { ways, moveOnAfterSeconds, shortenUrlData } = campaign;
  const empty = emptyDraft(audienceId);
  return {
    ...empty,
    name,
    type,
    sender: ways === null ? sender : "",
    by: ways === null ? (templateId === null ? "text" : "template") : "ways",
    ways: ways?.map(draftOfWay) ?? empty.ways,
    moveOnAfterSeconds: moveOnAfterSeconds ?? MOVE_ON_SECONDS,
    text: text ?? "",
    targets: shortenUrlData?.targetUrl ?? [],
    templateId: templateId ?? "",
    custom: custom ?? [],
    throttle: throttle ?? "",
    hasWindow: window !== null,
    ...window,
    isLater: scheduledAt !== null,
    scheduledAt: scheduledAt === null ? "" : fieldTime(scheduledAt),
  };
}

/** The body of the request that saves a draft. */
export function bodyOf(draft: CampaignDraft): Record<string, unknown> {
  const { name, audienceId, type, sender, by, throttle, from, to, zone } = draft;
  return {
    name,
    audienceId,
    type,
    ...(by !== "ways" && { sender }),
    text: by === "text" ? draft.text : null,
    shortenUrlData: linksOf(draft),
    templateId: by === "template" ? draft.templateId : null,
    custom: by === "template" ? draft.custom : null,
    ways: by === "ways" ? draft.ways.map(bodyOfWay) : null,
    ...(by === "ways" && { moveOnAfterSeconds: draft.moveOnAfterSeconds || null }),
    throttle: throttle === "" ? null : throttle,
    window: draft.hasWindow ? { from, to, zone } : null,
    scheduledAt: draft.isLater ? new Date(draft.scheduledAt).toISOString() : null,
  };
}

/** The number of short links in a text. */
export const linksIn = (text: string): number => text.split("{SORT}").length - 1;

export function linksOf({ by, text, targets }: CampaignDraft): { shortenUrl: true; targetUrl: string[] } | null {
  const count = by === "text" ? linksIn(text) : 0;
  if (count === 0) return null;
  return { shortenUrl: true, targetUrl: Array.from({ length: count }, (_, index) => targets[index] ?? "") };
}

/** A column of the audience in a text: `{{first name}}`. */
const COLUMN = /\{\{([^{}]+)\}\}/g;

export const placeholderOf = (column: string): string => `{{${column}}}`;

const columnsIn = (text: string): string[] => [
  ...new Set([...text.matchAll(COLUMN)].map(([, name = ""]) => name.trim())),
];

function valueOf({ variables }: Pick<Recipient, "variables">, column: string): string {
  const found = Object.entries(variables).find(([name]) => name.trim() === column);
  return found?.[1] ?? "";
}

/** A text with the values of a recipient. */
export const textFor = (text: string, recipient: Pick<Recipient, "variables">): string =>
  text.replaceAll(COLUMN, (_, name: string) => valueOf(recipient, name.trim()));

type Content = Pick<AudienceCampaign, "type" | "sender" | "text" | "templateId" | "custom" | "shortenUrlData">;

/** The text on the phone of a recipient; without a recipient, columns stay placeholders. */
export function shownText({ text, custom }: Content, pattern: string | null, recipient: Recipient | undefined): string {
  const fill = (written: string): string => (recipient ? textFor(written, recipient) : written);
  if (text !== null) return fill(text).replaceAll("{SORT}", `${location.host}/s/aB3dE5f`);
  return filledIn(pattern ?? "", (custom ?? []).map(fill));
}

/** The body of `POST /v1/sms/preview` for recipients of the audience, each with its own values. */
export function previewBody(
  { type, sender, ...content }: Content,
  recipients: readonly Recipient[],
): Record<string, unknown> {
  const { text, templateId, custom, shortenUrlData } = content;
  const sending = { type, sender, ...(shortenUrlData && { shortenUrlData }) };
  if (text !== null) {
    const columns = columnsIn(text);
    if (columns.length === 0) return { ...sending, text, to: recipients.map(({ number }) => number) };
    const pattern = text.replaceAll(COLUMN, (_, name: string) => `{{${columns.indexOf(name.trim()) + 1}}}`);
    const values = (each: Recipient): string[] => columns.map((column) => valueOf(each, column));
    return {
      ...sending,
      text: pattern,
      recipients: recipients.map((each) => ({ to: each.number, custom: values(each) })),
    };
  }
  const values = (each: Recipient): string[] => (custom ?? []).map((value) => textFor(value, each));
  return { ...sending, templateId, recipients: recipients.map((each) => ({ to: each.number, custom: values(each) })) };
}
