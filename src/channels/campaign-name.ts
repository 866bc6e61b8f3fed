import { isPlainText } from "../lib/plain-text.ts";
import type { Fault } from "../model/problem.ts";

const CAMPAIGN_MAX = 100;

/** The `campaignName` of a request, on every channel; null when there is none. */
export function readCampaignName(value: unknown, faults: Fault[]): string | null {
  if (value === undefined) return null;
  if (typeof value === "string" && value !== "" && value.length <= CAMPAIGN_MAX && isPlainText(value)) return value;
  faults.push({
    parameter: "campaignName",
    message: `campaignName is a string of 1 to ${CAMPAIGN_MAX} characters, or is left out.`,
  });
  return null;
}
