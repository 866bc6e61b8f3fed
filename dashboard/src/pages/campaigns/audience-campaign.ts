import { t } from "../../i18n/t.ts";

export const AUDIENCE_CAMPAIGNS = "/v1/campaigns";

interface SendWindow {
  from: string;
  to: string;
  zone: string;
}

/** A campaign to an audience, as the API returns it. */
export interface AudienceCampaign {
  id: string;
  name: string;
  test: boolean;
  state: "draft" | "scheduled" | "running" | "paused" | "finished" | "cancelled";
  type: "TRANS" | "PROMO";
  sender: string;
  text: string | null;
  templateId: string | null;
  custom: readonly string[] | null;
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

/** The counts of a campaign. */
export interface CampaignReport {
  /** Null once the audience is gone. */
  recipients: number | null;
  accepted: number;
  skipped: number;
  counts: Readonly<Record<string, number>>;
  states: Readonly<Record<string, number>>;
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
