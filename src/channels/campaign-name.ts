import { isPlainText } from "../lib/text.ts";
import { Type } from "../lib/schema.ts";

const CAMPAIGN_MAX = 100;
const CAMPAIGN_RULE = `campaignName is a string of 1 to ${CAMPAIGN_MAX} characters, or is left out.`;

/** The `campaignName` of a request, on every channel. */
export const campaignName = Type.Optional(
  Type.String({
    minLength: 1,
    maxLength: CAMPAIGN_MAX,
    description: "Groups messages, to be counted, paused and cancelled.",
    error: CAMPAIGN_RULE,
    check: (value) => (value.length <= CAMPAIGN_MAX && isPlainText(value) ? null : CAMPAIGN_RULE),
  }),
);
