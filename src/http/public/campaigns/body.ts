import { sender, smsBody, templateId, values } from "../../../channels/sms/body.ts";
import { moveOnAfterSeconds } from "../../../channels/ways/body.ts";
import { ISO_TIME } from "../../../lib/iso-time.ts";
import { nullable, Type, withoutDefault, type Typed } from "../../../lib/schema.ts";
import { isPlainText, isShowable } from "../../../lib/text.ts";
import { findTimeZone } from "../../../lib/time-zone.ts";
import { CAMPAIGN_TYPES, RECIPIENT_ZONE, type SendWindow } from "../../../model/campaign.ts";
import { DEFAULT_SMS_LIMITS } from "../../../model/message.ts";
import { waysField } from "./ways-field.ts";

/** The bodies of requests that create, change and schedule campaigns. */

export const NAME_MAX = 100;
const THROTTLE_MAX = 10_000_000;

const NAME_RULE = `name is plain text of 1 to ${NAME_MAX} characters.`;
const nameField = Type.String({
  minLength: 1,
  maxLength: NAME_MAX,
  description: "Name of the campaign, unique in the account. It is the `campaignName` of its messages.",
  error: NAME_RULE,
  check: (name) => (name.trim() !== "" && name.length <= NAME_MAX && isPlainText(name) ? null : NAME_RULE),
});

const typeField = Type.Union([Type.Literal("TRANS"), Type.Literal("PROMO")], {
  description: "Route type. PROMO respects opt-outs and quiet hours.",
  error: `type is one of ${CAMPAIGN_TYPES.join(", ")}.`,
});

const TEXT_RULE = "The text is a non-empty string without half a character (a lone surrogate) or a NUL.";
const textField = Type.String({
  maxLength: 10_000,
  error: TEXT_RULE,
  check: (written) => (written.trim() !== "" && isShowable(written) ? null : TEXT_RULE),
});
const audienceField = Type.String({ description: "Id of the audience that gets it." });
const throttleField = Type.Integer({
  minimum: 1,
  maximum: THROTTLE_MAX,
  description: "Most messages in an hour, spread evenly.",
});

const TIME_OF_DAY = "A time of day is written as 09:00, from 00:00 to 23:59.";
const timeOfDay = (description: string) =>
  Type.String({
    description,
    error: TIME_OF_DAY,
    check: (time) => (/^([01]\d|2[0-3]):[0-5]\d$/.test(time) ? null : TIME_OF_DAY),
  });
const windowField = Type.Object(
  {
    from: timeOfDay("Begin, `HH:MM`."),
    to: timeOfDay("End, `HH:MM`. Before `from`, it is on the next day."),
    zone: Type.String({
      description: "Time zone, such as `Asia/Kolkata`, or `recipient` for each recipient's own time, by the number.",
      check: (zone) =>
        zone === RECIPIENT_ZONE || findTimeZone(zone)
          ? null
          : "zone is a time zone such as Asia/Kolkata or UTC, or recipient for each recipient's own time.",
    }),
  },
  {
    description:
      "Hours in which recipients are accepted. At its end, at most 2,000 accepted messages wait for their carrier. With the zone `recipient`, all are accepted, and messages wait until the window opens where their recipient is.",
    check: ({ from, to }: SendWindow) => (from === to ? "from and to of a window differ." : null),
  },
);

export const TIME_RULE =
  "scheduledAt is a time within the next 30 days: epoch milliseconds, or like 2026-01-31T18:00:00Z with its zone.";
const timeField = Type.Union([Type.Integer(), Type.String({ examples: ["2026-01-31T18:00:00Z"] })], {
  description: "Start, within the next 30 days: epoch milliseconds, or ISO 8601 with its zone.",
  error: TIME_RULE,
  check: (time) => (typeof time === "number" || ISO_TIME.test(time) ? null : TIME_RULE),
});

const customField = values(
  "One value per variable of the template, in order, each with variables of the audience as placeholders.",
);
const templateField = templateId("Template to fill in with `custom`.");
const channelField = Type.Literal("sms", {
  description: "Channel of the text or template; left out with ways.",
  error: "channel is sms: for another channel, give ways.",
});
const { shortenUrlData } = smsBody(DEFAULT_SMS_LIMITS).properties;

const optionalFields = {
  text: Type.Optional(
    nullable(
      textField,
      "Text with variables of the audience as placeholders, such as `{{first name}}`; null with a template.",
    ),
  ),
  templateId: Type.Optional(nullable(templateField, "Template to fill in with `custom`, instead of `text`.")),
  custom: Type.Optional(
    nullable(
      customField,
      "One value per variable of the template, in order, each with variables of the audience as placeholders.",
    ),
  ),
  shortenUrlData: Type.Optional(
    nullable(
      shortenUrlData,
      "Short links in `text`, one code per recipient, so that the report counts clicks. The text carries `{SORT}` inside each link.",
    ),
  ),
  ways: Type.Optional(
    nullable(waysField, "Channels in order with their content, instead of sender and text; null for SMS."),
  ),
  moveOnAfterSeconds: Type.Optional(
    nullable(
      withoutDefault(moveOnAfterSeconds) as Typed<number>,
      "Seconds to wait for a delivery on one channel before the next one, 60 by default.",
    ),
  ),
  throttle: Type.Optional(nullable(throttleField, "Most messages in an hour, spread evenly; null for no limit.")),
  window: Type.Optional(nullable(windowField, "Hours in which recipients are accepted; null for all.")),
  scheduledAt: Type.Optional(
    nullable(timeField, "Start, within the next 30 days: epoch milliseconds, or ISO 8601 with its zone."),
  ),
};

export const NewCampaign = Type.Object({
  name: nameField,
  channel: Type.Optional(channelField),
  type: typeField,
  sender: Type.Optional(sender),
  audienceId: audienceField,
  ...optionalFields,
});

export const CampaignChange = Type.Object({
  name: Type.Optional(nameField),
  type: Type.Optional(typeField),
  sender: Type.Optional(sender),
  audienceId: Type.Optional(audienceField),
  ...optionalFields,
});

export const ScheduleBody = Type.Object({ scheduledAt: Type.Optional(timeField) });
