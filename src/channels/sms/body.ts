import { isPlainText, isShowable } from "../../lib/text.ts";
import { Type, type Infer } from "../../lib/schema.ts";
import { ROUTE_CLASSES, type SmsLimits } from "../../model/message.ts";
import { campaignName } from "../campaign-name.ts";
import { sendAt } from "../send-at.ts";

// Strings are limited in UTF-16 units, which only a `check` can count: `maxLength` of JSON Schema counts code points.
const SENDER_MAX = 20;
const TEMPLATE_ID_MAX = 100;
const VALUES_MAX = 50;
const VALUE_MAX = 1600;
const TARGETS_MAX = 10;
const TARGET_MAX = 2000;

const SENDER_REQUIRED = "Give the sender as a string: an alphanumeric sender id or a number.";
const SENDER_TOO_LONG = `A sender has at most ${SENDER_MAX} characters.`;

export const sender = Type.String({
  minLength: 1,
  maxLength: SENDER_MAX,
  description: "Originator or alphanumeric sender id.",
  error: { required: SENDER_REQUIRED, type: SENDER_REQUIRED, minLength: SENDER_REQUIRED, maxLength: SENDER_TOO_LONG },
  check: (value) => {
    if (value.trim() === "") return SENDER_REQUIRED;
    if (value.length > SENDER_MAX) return SENDER_TOO_LONG;
    return isPlainText(value) ? null : "A sender has no control characters.";
  },
});

const ROUTE_CLASS_TEXT = (_: string, value: unknown): string => {
  const near = typeof value === "string" && ROUTE_CLASSES.find((each) => each === value.trim().toUpperCase());
  return `type is one of TRANS, PROMO or OTP${near ? `; write it as ${near}` : ""}.`;
};

const flag = (description: string) =>
  Type.Union([Type.Literal(0), Type.Literal(1)], {
    description,
    error: (parameter) => `${parameter} is the integer 1 or 0, or is left out.`,
  });

export const templateId = (description: string) => {
  const error = `templateId is a string of 1 to ${TEMPLATE_ID_MAX} characters, or is left out.`;
  const isId = (value: string): boolean => value.trim() !== "" && value.length <= TEMPLATE_ID_MAX && isPlainText(value);
  return Type.String({
    minLength: 1,
    maxLength: TEMPLATE_ID_MAX,
    description,
    error,
    check: (value) => (isId(value) ? null : error),
  });
};

const VALUE_RULE = `A value is a string of at most ${VALUE_MAX} characters, never null.`;

const value = Type.Union(
  [
    Type.String({
      maxLength: VALUE_MAX,
      error: VALUE_RULE,
      check: (text) => (text.length <= VALUE_MAX && isShowable(text) ? null : VALUE_RULE),
    }),
    Type.Number(),
  ],
  { description: "A value, never null.", error: VALUE_RULE },
);

/** Values of a template's variables. Numbers are values too, such as an order number. */
export const values = (description: string) =>
  Type.Array(value, {
    maxItems: VALUES_MAX,
    description,
    error: (parameter) =>
      `${parameter} is an array with one value per variable, at most ${VALUES_MAX}; it is empty when the template has none.`,
  });

export const text = (description: string) =>
  Type.String({
    description,
    error: "Give the message text as a non-empty string; leave it out where templateId and custom make the text.",
  });

const TARGET_RULE = `A target is an address that starts with http:// or https://, at most ${TARGET_MAX} characters.`;

/** Refuses addresses with user information: links such as `https://bank.example@evil.example` are phishing. */
function isTarget(written: string): boolean {
  if (written.length > TARGET_MAX || !URL.canParse(written)) return false;
  const { protocol, username, password } = new URL(written);
  return (protocol === "http:" || protocol === "https:") && username === "" && password === "";
}

const SHORTEN_RULE =
  "shortenUrlData is an object with shortenUrl (true or false) and targetUrl (an array of addresses).";
export const TARGETS_RULE = `targetUrl is an array of at most ${TARGETS_MAX} addresses, one per {SORT} in the text.`;

const shortenUrlData = Type.Object(
  {
    shortenUrl: Type.Boolean({ description: "True shortens the links.", error: SHORTEN_RULE }),
    targetUrl: Type.Optional(
      Type.Array(
        Type.String({
          pattern: "^[Hh][Tt][Tt][Pp][Ss]?://",
          maxLength: TARGET_MAX,
          error: TARGET_RULE,
          check: (written) => (isTarget(written) ? null : TARGET_RULE),
        }),
        {
          maxItems: TARGETS_MAX,
          description: "URLs (http or https). The k-th `{SORT}` in the text becomes the code of the k-th URL.",
          error: TARGETS_RULE,
        },
      ),
    ),
  },
  {
    description: "Short links, one code per recipient. The text carries `{SORT}` inside each link.",
    error: SHORTEN_RULE,
  },
);

const RECIPIENT = "Phone number: country code first, 7 to 15 digits, plus optional.";
export const TO_RULE = "Give the recipient as a string, several with commas between them or as an array of strings.";
const recipient = Type.String({ format: "phone", description: RECIPIENT, error: "A recipient is a string." });

const counted = (limit: number): string => limit.toLocaleString("en-US");

/**
 * The body of `POST /v1/sms` and of its preview. Faults are reported in the order of the fields. `maxItems` is published
 * and refused by `readSms` as TOO_MANY_RECIPIENTS; the length of the text is checked once the text is composed.
 */
export const smsBody = ({ recipientsMax, textMax, segmentsMax }: SmsLimits) =>
  Type.Object(
    {
      sender,
      type: Type.Union([Type.Literal("TRANS"), Type.Literal("PROMO"), Type.Literal("OTP")], {
        description: "Route type. OTP goes before TRANS, TRANS before PROMO.",
        error: ROUTE_CLASS_TEXT,
      }),
      unicode: Type.Optional(
        flag("1 always sends the text as Unicode; 0 refuses a text that needs Unicode. Echoed in the response."),
      ),
      flash: Type.Optional(flag("1 shows the message directly on the screen (flash SMS). Echoed in the response.")),
      campaignName,
      templateId: Type.Optional(
        templateId("The template to fill in with `custom`, or that the finished `text` must match."),
      ),
      custom: Type.Optional(
        values("One value per variable of the template, in order; empty if it has none. `text` is then not used."),
      ),
      shortenUrlData: Type.Optional(shortenUrlData),
      sendAt,
      to: Type.Optional(
        Type.Union(
          [
            Type.String({ format: "phone-list", description: RECIPIENT }),
            Type.Array(recipient, { minItems: 1, maxItems: recipientsMax, error: { minItems: TO_RULE } }),
          ],
          {
            description: `One recipient, several with commas between them, or an array. At most ${counted(recipientsMax)} in one request. Required unless \`recipients\` is given.`,
            error: TO_RULE,
          },
        ),
      ),
      recipients: Type.Optional(
        Type.Array(
          Type.Object(
            { to: recipient, custom: Type.Optional(values("This recipient's own values.")) },
            { error: "A recipient is an object with to and custom." },
          ),
          {
            minItems: 1,
            maxItems: recipientsMax,
            description:
              "Replaces `to`: recipients with values of their own, for the template or for placeholders such as `{{1}}` in `text`.",
            error: "recipients is an array of objects with to and custom.",
          },
        ),
      ),
      text: Type.Optional(
        text(
          `The message. At most ${counted(textMax)} characters and ${segmentsMax} segments. Required unless a template is filled in by \`templateId\` and \`custom\`.`,
        ),
      ),
    },
    { title: "SmsRequest" },
  );

export type SmsBody = Infer<ReturnType<typeof smsBody>>;
