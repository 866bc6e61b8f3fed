import type { SendPreview } from "../../api-types.ts";
import { t } from "../../i18n/t.ts";
import type { Failure } from "../../parts/failure-reason.tsx";
import type { Measure, Stats } from "../overview/stats.ts";
import { channelName, type SendChannel } from "../../parts/channel.tsx";

export const AUDIENCE_CAMPAIGNS = "/v1/campaigns";

interface SendWindow {
  from: string;
  to: string;
  zone: string;
}

/** A channel of a campaign with its content, in the fields of a way of `POST /v1/messages`. */
export interface CampaignWay {
  channel: SendChannel;
  [field: string]: unknown;
}

/** A campaign to an audience, as the API returns it. */
export interface AudienceCampaign {
  id: string;
  name: string;
  test: boolean;
  channel: SendChannel;
  state: "draft" | "scheduled" | "running" | "paused" | "finished" | "cancelled";
  type: "TRANS" | "PROMO";
  sender: string;
  text: string | null;
  templateId: string | null;
  custom: readonly string[] | null;
  shortenUrlData: { shortenUrl: boolean; targetUrl: readonly string[] } | null;
  ways: readonly CampaignWay[] | null;
  moveOnAfterSeconds: number | null;
  audienceId: string;
  throttle: number | null;
  window: SendWindow | null;
  scheduledAt: number | null;
  accepted: number;
  skipped: number;
  failure: { code: string; message: string } | null;
  createdAt: number;
  startedAt: number | null;
  endedAt: number | null;
}

/** A recipient that got no message. */
export interface SkippedRow {
  row: number;
  code: string;
  message: string;
}

/** The messages that the first recipients would get. */
export interface CampaignPreview extends SendPreview {
  recipients: readonly (SendPreview["recipients"][number] & {
    row: number;
    ways: readonly {
      channel: string;
      sender: string;
      text: string;
      segments: number | null;
      routes: readonly { carrier: string }[];
    }[];
  })[];
  skipped: readonly SkippedRow[];
}

/** The counts of a campaign. */
export interface CampaignReport {
  /** Null once the audience is gone. */
  recipients: number | null;
  accepted: number;
  skipped: number;
  counts: Readonly<Record<string, number>>;
  states: Readonly<Record<string, number>>;
  step: Stats["step"];
  series: readonly ({ at: number } & Record<Measure, number>)[];
  carriers: readonly {
    name: string | null;
    sent: number;
    delivered: number;
    failed: number;
    read: number;
    deliveryRate: number | null;
  }[];
  failures: readonly Failure[];
  clicks: { recipients: number; recipientsClicked: number; person: number; preview: number; bot: number } | null;
  optedOut: number;
  skippedRows: readonly SkippedRow[];
}

export const NEW_CAMPAIGN = "/campaigns/new";

/** The page on which a draft is changed and reviewed. */
export const draftPath = (id: string): string => `/campaigns/to-audience/${id}/edit`;

/** The page of a campaign: its form as a draft, otherwise its progress. */
export const pathOf = ({ id, state }: AudienceCampaign): string =>
  state === "draft" ? draftPath(id) : `/campaigns/to-audience/${id}`;

/** The zone of a window that is open by each recipient's own time. */
export const RECIPIENT_ZONE = "recipient";

export const windowText = ({ from, to, zone }: SendWindow): string =>
  t("{from} to {to}, {zone}", { from, to, zone: zone === RECIPIENT_ZONE ? t("Recipient's own time") : zone });

/** The channels of a campaign in their order. */
export const channelsText = (ways: readonly CampaignWay[]): string =>
  ways.map(({ channel }) => channelName(channel)).join(" → ");
