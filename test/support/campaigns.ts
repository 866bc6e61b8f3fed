import { eventually } from "./eventually.ts";
import type { Answer, ErrorBody } from "./test-server.ts";

export interface CampaignBody {
  id: string;
  name: string;
  test: boolean;
  state: string;
  text: string | null;
  templateId: string | null;
  custom: string[] | null;
  shortenUrlData: { shortenUrl: boolean; targetUrl: string[] } | null;
  ways: { channel: string }[] | null;
  audienceId: string;
  throttle: number | null;
  window: { from: string; to: string; zone: string } | null;
  scheduledAt: number | null;
  accepted: number;
  skipped: number;
  failure: { code: string; message: string } | null;
  startedAt: number | null;
  endedAt: number | null;
  error?: ErrorBody;
}

export interface ReportBody {
  state: string;
  recipients: number | null;
  accepted: number;
  skipped: number;
  counts: Record<string, number>;
  states: Record<string, number>;
  step: string;
  series: { at: number; accepted: number; sent: number; delivered: number; failed: number; read: number }[];
  carriers: { name: string | null; sent: number; delivered: number; failed: number; deliveryRate: number | null }[];
  failures: { code: string | null; description: string | null; carrierCode: boolean; count: number }[];
  clicks: { recipients: number; recipientsClicked: number; person: number; preview: number; bot: number } | null;
  optedOut: number;
  skips: Record<string, number>;
  skippedRows: { row: number; code: string }[];
}

export type Request = <T>(method: string, path: string, body?: unknown) => Promise<Pick<Answer<T>, "status" | "body">>;

/** The campaign once it is in a state. */
export const inState = async (request: Request, id: string, ...states: string[]): Promise<CampaignBody> =>
  (
    await eventually(
      () => request<CampaignBody>("GET", `/v1/campaigns/${id}`),
      ({ body }) => states.includes(body.state),
    )
  ).body;
