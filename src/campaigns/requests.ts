import type { AudienceLayout, AudienceRecipient } from "../model/audience.ts";
import type { Campaign, SkippedRow } from "../model/campaign.ts";
import { Problem } from "../model/problem.ts";
import type { Prepared, PrepareDeps, Request } from "../pipeline/accept/prepare.ts";
import { TextRequests } from "./text-requests.ts";
import { WaysRequests } from "./ways-requests.ts";
import type { Draft } from "../channels/draft.ts";

export type Sending = Omit<Request<Draft>, "draft">;

/** Recipients whose values fit the message, and the rows of the others. */
export interface Selection {
  fit: readonly AudienceRecipient[];
  skipped: readonly SkippedRow[];
}

/** The send requests of a campaign for recipients of its audience. */
export interface CampaignRequests {
  /** True if a recipient's values change the message. */
  readonly isPersonal: boolean;
  /** True for a text of the message, such as a link, that no recipient's values change. */
  isShared(text: string): boolean;
  /** Leaves out the recipients for whom no request can be made. */
  select(recipients: readonly AudienceRecipient[]): Selection;
  /** Prepares one request to recipients that fit. */
  prepare(deps: PrepareDeps, sending: Sending, recipients: readonly AudienceRecipient[]): Promise<Prepared>;
}

export const requestsOf = (
  { smsRules, clock }: Pick<PrepareDeps, "smsRules" | "clock">,
  campaign: Campaign,
  layout: Pick<AudienceLayout, "variables">,
): CampaignRequests =>
  campaign.message.ways === null
    ? new TextRequests(campaign, layout, smsRules.textMax)
    : new WaysRequests(campaign, campaign.message.ways, layout, smsRules, clock.now());

/** The field of a text whose characters are checked once a stored template is filled in. */
const FILLED_TEXT = /^(?:ways\[\d+\]\.)?(?:text|unicode)$/;

/** The reason to skip a recipient whose values cause an error; null for an error of the message itself. */
export function skipCodeOf(error: unknown, { isPersonal }: CampaignRequests): SkippedRow["code"] | null {
  if (!isPersonal || !(error instanceof Problem)) return null;
  const { code, faults } = error;
  if (code === "MESSAGE_TOO_LONG") return "MESSAGE_TOO_LONG";
  if (code === "SHORT_LINK_MISMATCH") return "VALUE_REFUSED";
  const isOfText = faults.length > 0 && faults.every(({ parameter }) => FILLED_TEXT.test(parameter));
  return code === "INVALID_REQUEST" && isOfText ? "VALUE_REFUSED" : null;
}
