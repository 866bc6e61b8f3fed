import { sidOf } from "../../model/twilio-sid.ts";
import { nullable, Type, type Typed } from "../../lib/schema.ts";
import { readMailbox } from "../../email/address.ts";
import { isPlainText, isShowable } from "../../lib/text.ts";
import { CHANNELS } from "../../model/message.ts";
import { readNumber } from "../../model/number.ts";
import type { Fault } from "../../model/problem.ts";
import { MOMENTS_KEPT } from "../../model/verification.ts";
import { ALPHABETS, DEFAULT_VERIFY_CONFIG, type VerifyChannel } from "../../model/verify-config.ts";
import { defineRecord, NAME_MAX, plainName } from "../record-type.ts";
import { readBusinessNumber } from "./number.ts";
import { SENDER_MAX } from "./sender.ts";
import { countries, oneOf } from "./shared-fields.ts";

const TEXT_MAX = 1000;
const TEXTS_MAX = 50;
const SUBJECT_MAX = 200;
const LOCALE_TAG = /^[a-z]{2,8}(?:-[A-Za-z0-9]{1,8}){0,3}$/;
const CODE_MIN = 4;
const CODE_MAX = 10;
const APP_HASH = /^[A-Za-z0-9+/]{11}$/;
const DOMAIN = /^(?=.{1,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63}$/;
const FIXED_CODE = /^[0-9A-Z]{4,10}$/;
const DEFAULTS = DEFAULT_VERIFY_CONFIG;

/** The subject is a header of the e-mail: a line end would start another one. */
const SUBJECT_RULE = "A subject must be one line of plain text.";

function tagsFault(field: string, map: Readonly<Record<string, string>>): string | null {
  const tags = Object.keys(map);
  return tags.length <= TEXTS_MAX && tags.every((tag) => LOCALE_TAG.test(tag))
    ? null
    : `${field} has at most ${TEXTS_MAX} texts, each named by a language tag such as hi or pt-BR.`;
}

const upTo = (maximum: number, description: string): Typed<number> =>
  Type.Integer({ minimum: 1, maximum, description });

const channel = Type.Object({
  channel: oneOf(CHANNELS, "Delivery channel of the code."),
  from: Type.String({
    minLength: 1,
    maxLength: NAME_MAX,
    description: "Sender ID, bot, business number with plus, or e-mail address such as `Example <login@example.com>`.",
  }),
  template: Type.Default(
    nullable(
      Type.String({
        minLength: 1,
        maxLength: 512,
        check: (name) => (isPlainText(name) ? null : "template must be the name of a template."),
      }),
      "Template with variables for the code, or for the code and its validity in minutes. On SMS it defaults to null, which sends `text`. RCS and the chat app require one, e-mail has none.",
    ),
    null,
  ),
  waitSeconds: Type.Default(
    Type.Integer({
      minimum: 5,
      maximum: 600,
      description: "Seconds without delivery after which the next channel is tried. Defaults to 30.",
    }),
    30,
  ),
});

const testNumber = Type.Object({
  number: Type.String({
    description: "An international phone number.",
    check: (number) => (readNumber(number) === null ? "number must be an international phone number." : null),
  }),
  code: Type.String({
    description: "Fixed code: 4 to 10 digits or capital letters.",
    check: (code) => (FIXED_CODE.test(code) ? null : "code must be 4 to 10 digits or capital letters."),
  }),
});

export const verifyConfig = defineRecord({
  kind: "verifyConfig",
  name: plainName("`configId` of requests. The `id` works as well."),
  fields: {
    channels: Type.Default(
      Type.Array(channel, {
        minItems: 1,
        maxItems: 5,
        description: "Channels in the order they are tried. Defaults to SMS from HELIOG.",
      }),
      DEFAULTS.channels,
    ),
    text: Type.Default(
      Type.String({
        minLength: 1,
        maxLength: TEXT_MAX,
        description:
          "Text of an e-mail, and of an SMS without template. Must contain `{code}`; `{minutes}` is optional (`{minutes} minutes` becomes `1 minute` for one).",
        check: (text) =>
          isShowable(text) && text.includes("{code}")
            ? null
            : "text must contain {code} and no lone surrogate or NUL character.",
      }),
      DEFAULTS.text,
    ),
    texts: Type.Default(
      Type.Record(
        Type.String({
          minLength: 1,
          maxLength: TEXT_MAX,
          check: (text) =>
            isShowable(text) && text.includes("{code}")
              ? null
              : "Each of texts must contain {code} and no lone surrogate or NUL character.",
        }),
        {
          description:
            "The text in other languages, by language tag such as hi or pt-BR. A request with `locale` pt-BR gets that of pt-BR, otherwise of pt, otherwise `text`. At most 50.",
          check: (texts) => tagsFault("texts", texts),
        },
      ),
      {},
    ),
    subject: Type.Default(
      Type.String({
        minLength: 1,
        maxLength: SUBJECT_MAX,
        description: `Subject of an e-mail; \`{code}\` and \`{minutes}\` are optional. Defaults to ${DEFAULTS.subject}.`,
        check: (subject) => (isPlainText(subject) ? null : SUBJECT_RULE),
      }),
      DEFAULTS.subject ?? "",
    ),
    subjects: Type.Default(
      Type.Record(
        Type.String({
          minLength: 1,
          maxLength: SUBJECT_MAX,
          check: (subject) => (isPlainText(subject) ? null : SUBJECT_RULE),
        }),
        {
          description: "The subject in other languages, by language tag, chosen like `texts`. At most 50.",
          check: (subjects) => tagsFault("subjects", subjects),
        },
      ),
      {},
    ),
    length: Type.Default(
      Type.Integer({
        minimum: CODE_MIN,
        maximum: CODE_MAX,
        description: `Length of a code. Defaults to ${DEFAULTS.length}. Shorter codes are easier to guess.`,
      }),
      DEFAULTS.length,
    ),
    alphabet: Type.Default(oneOf(ALPHABETS, "Alphabet of codes. Defaults to digits."), DEFAULTS.alphabet),
    lifeSeconds: Type.Default(
      Type.Integer({
        minimum: 60,
        maximum: 600,
        description: `Validity of a code in seconds. Defaults to ${DEFAULTS.lifeSeconds}.`,
      }),
      DEFAULTS.lifeSeconds,
    ),
    checks: Type.Default(upTo(10, `Maximum attempts per code. Defaults to ${DEFAULTS.checks}.`), DEFAULTS.checks),
    cooldownSeconds: Type.Default(
      Type.Integer({
        minimum: 0,
        maximum: 3600,
        description: `Minimum seconds between codes to the same number. Defaults to ${DEFAULTS.cooldownSeconds}.`,
      }),
      DEFAULTS.cooldownSeconds,
    ),
    sendsPer10Minutes: Type.Default(
      upTo(MOMENTS_KEPT, `Maximum codes to one number per ten minutes. Defaults to ${DEFAULTS.sendsPer10Minutes}.`),
      DEFAULTS.sendsPer10Minutes,
    ),
    sendsPerDay: Type.Default(
      upTo(MOMENTS_KEPT, `Maximum codes to one number per 24 hours. Defaults to ${DEFAULTS.sendsPerDay}.`),
      DEFAULTS.sendsPerDay,
    ),
    failuresPerHour: Type.Default(
      upTo(
        MOMENTS_KEPT,
        `Maximum wrong attempts for one number per hour, across codes. Defaults to ${DEFAULTS.failuresPerHour}.`,
      ),
      DEFAULTS.failuresPerHour,
    ),
    failuresPerDay: Type.Default(
      upTo(MOMENTS_KEPT, `The same per 24 hours. Defaults to ${DEFAULTS.failuresPerDay}.`),
      DEFAULTS.failuresPerDay,
    ),
    allowedCountries: Type.Default(
      nullable(
        countries,
        "Allowed destination countries, such as IN. Defaults to null, all that the account may send to.",
      ),
      DEFAULTS.allowedCountries,
    ),
    appHash: Type.Default(
      nullable(
        Type.String({
          check: (hash) => (APP_HASH.test(hash) ? null : "appHash must be the 11-character hash of your Android app."),
        }),
        "Eleven-character app hash at the end of the text, for the Android SMS Retriever; null for none.",
      ),
      DEFAULTS.appHash,
    ),
    webOtpDomain: Type.Default(
      nullable(
        Type.String({
          check: (domain) =>
            DOMAIN.test(domain) ? null : "webOtpDomain must be a domain name in lower case, such as example.com.",
        }),
        "Domain for WebOTP, such as example.com: the last line of the text lets browsers fill in the code; null for none.",
      ),
      DEFAULTS.webOtpDomain,
    ),
    testNumbers: Type.Default(
      Type.Array(testNumber, {
        maxItems: 100,
        description: "Test numbers with a fixed code, delivered by the simulator only.",
      }),
      DEFAULTS.testNumbers,
    ),
  },
  showId: (id) => ({ twilioSid: sidOf("VA", id) }),
  dependsOn: { failuresPerHour: ["failuresPerDay"] },
  read: ({ fields, faults }) => {
    if (fields.failuresPerHour > fields.failuresPerDay)
      faults.push({ parameter: "failuresPerHour", message: "failuresPerHour must not exceed failuresPerDay." });
    return {
      ...fields,
      channels: fields.channels.map((each, index) => readChannel(each, index, faults)),
      testNumbers: fields.testNumbers.map(({ number, code }) => ({ number: readNumber(number) ?? number, code })),
    };
  },
});

function readChannel(
  { channel: by, from: written, template, waitSeconds }: VerifyChannel,
  index: number,
  faults: Fault[],
): VerifyChannel {
  const from = by === "chatapp" ? readBusinessNumber(written) : written;
  const max = by === "sms" ? SENDER_MAX : NAME_MAX;
  if (from === null || from.length > max || !isPlainText(from) || from.trim() === "") {
    const message =
      by === "chatapp"
        ? "On the chat app, from must be a business number with plus, such as +15550100199."
        : `from must be plain text of 1 to ${max} characters.`;
    faults.push({ parameter: `channels[${index}].from`, message });
  }
  if (by === "email") checkEmail(from ?? written, template, index, faults);
  else if (template === null && by !== "sms")
    faults.push({ parameter: `channels[${index}].template`, message: `template is required on ${by}.` });
  return { channel: by, from: from ?? written, template, waitSeconds };
}

function checkEmail(from: string, template: string | null, index: number, faults: Fault[]): void {
  const fault = (field: string, message: string): void =>
    void faults.push({ parameter: `channels[${index}].${field}`, message });
  if (readMailbox(from) === null)
    fault("from", "On e-mail, from must be an address such as login@example.com or Example <login@example.com>.");
  if (template !== null)
    fault("template", "E-mail has no templates: omit template; the subject is subject and the text is text.");
}
