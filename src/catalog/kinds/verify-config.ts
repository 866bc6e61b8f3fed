import { isSupportedCountry } from "libphonenumber-js/max";
import { nullable } from "../../lib/nullable.ts";
import { isPlainText, isShowable } from "../../lib/plain-text.ts";
import { Type, type Schema } from "../../lib/schema.ts";
import { CHANNELS } from "../../model/message.ts";
import { readNumber } from "../../model/number.ts";
import type { Fault } from "../../model/problem.ts";
import { MOMENTS_KEPT } from "../../model/verification.ts";
import {
  ALPHABETS,
  DEFAULT_VERIFY_CONFIG,
  type VerifyChannel,
  type VerifyConfigContent,
} from "../../model/verify-config.ts";
import { NAME_MAX, type RecordKind } from "../record-kind.ts";
import { readBusinessNumber } from "./number.ts";
import { SENDER_MAX } from "./sender.ts";
import { oneOf } from "./words.ts";

const TEXT_MAX = 1000;
const CODE_MIN = 4;
const CODE_MAX = 10;
const APP_HASH = /^[A-Za-z0-9+/]{11}$/;
const DOMAIN = /^(?=.{1,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63}$/;
const FIXED_CODE = /^[0-9A-Z]{4,10}$/;

const upTo = (maximum: number, description: string): Schema => Type.Integer({ minimum: 1, maximum, description });

/** How one-time passwords are made, brought and tried. */
export const verifyConfig: RecordKind<"verifyConfig", VerifyConfigContent> = {
  kind: "verifyConfig",
  name: { meaning: "The `configId` of requests; its `id` is good for that as well." },
  fields: {
    channels: Type.Array(
      Type.Object({
        channel: oneOf(CHANNELS, "How the code is brought."),
        from: Type.String({
          minLength: 1,
          maxLength: NAME_MAX,
          description: "Who it is from: the sender, the bot, or the business number with its plus.",
        }),
        template: Type.Optional(
          nullable(
            Type.String({ minLength: 1, maxLength: 512 }),
            "The template that takes the code, or the code and the minutes it is valid. On SMS null, which it is unless given, sends `text`; the others need one.",
          ),
        ),
        waitSeconds: Type.Optional(
          Type.Integer({
            minimum: 5,
            maximum: 600,
            description: "Without a delivery within so long the next channel has its turn; 30 unless given.",
          }),
        ),
      }),
      { minItems: 1, maxItems: 5, description: "In the order they are tried; SMS from HELIOG unless given." },
    ),
    text: Type.String({
      minLength: 1,
      maxLength: TEXT_MAX,
      description: "What an SMS without a template says. `{code}` must be in it; `{minutes}` is filled in as well.",
    }),
    length: Type.Integer({
      minimum: CODE_MIN,
      maximum: CODE_MAX,
      description: "Characters of a code; 6 unless given. Fewer are guessed sooner.",
    }),
    alphabet: oneOf(ALPHABETS, "What codes are made of: digits unless given."),
    lifeSeconds: Type.Integer({
      minimum: 60,
      maximum: 600,
      description: "For how long a code is good; 300 unless given.",
    }),
    checks: upTo(10, "How often a code may be tried; 5 unless given."),
    cooldownSeconds: Type.Integer({
      minimum: 0,
      maximum: 3600,
      description: "From one code to the next for the same number; 30 unless given.",
    }),
    sendsPer10Minutes: upTo(MOMENTS_KEPT, "Codes to one number within ten minutes; 5 unless given."),
    sendsPerDay: upTo(MOMENTS_KEPT, "Codes to one number within 24 hours; 10 unless given."),
    failuresPerHour: upTo(
      MOMENTS_KEPT,
      "Wrong tries at the codes of one number within an hour, whatever new ones are sent; 10 unless given.",
    ),
    failuresPerDay: upTo(MOMENTS_KEPT, "The same within 24 hours; 30 unless given."),
    allowedCountries: nullable(
      Type.Array(Type.String(), { minItems: 1, maxItems: 300 }),
      "Countries that codes are sent to, like IN; null, which it is unless given, means all that the account may send to.",
    ),
    appHash: nullable(
      Type.String(),
      "Eleven characters at the end of the text by which Android gives the SMS to your app; null for none.",
    ),
    webOtpDomain: nullable(
      Type.String(),
      "Your site, like example.com: the last line of the text lets browsers fill the code in there; null for none.",
    ),
    testNumbers: Type.Array(
      Type.Object({
        number: Type.String({ description: "An international phone number." }),
        code: Type.String({ description: "Its code: 4 to 10 digits or capital letters." }),
      }),
      { maxItems: 100, description: "Numbers whose code is always the same, brought by the simulator alone." },
    ),
  },
  defaults: DEFAULT_VERIFY_CONFIG,
  read: ({ fields, faults }) => {
    checkText(fields.text, faults);
    checkCountries(fields.allowedCountries, faults);
    checkLines(fields, faults);
    if (fields.failuresPerHour > fields.failuresPerDay)
      faults.push({ parameter: "failuresPerHour", message: "failuresPerHour is at most failuresPerDay." });
    return {
      channels: fields.channels.map((way, index) => readChannel(way, index, faults)),
      text: fields.text,
      length: fields.length,
      alphabet: fields.alphabet,
      lifeSeconds: fields.lifeSeconds,
      checks: fields.checks,
      cooldownSeconds: fields.cooldownSeconds,
      sendsPer10Minutes: fields.sendsPer10Minutes,
      sendsPerDay: fields.sendsPerDay,
      failuresPerHour: fields.failuresPerHour,
      failuresPerDay: fields.failuresPerDay,
      allowedCountries: fields.allowedCountries,
      appHash: fields.appHash,
      webOtpDomain: fields.webOtpDomain,
      testNumbers: readTestNumbers(fields.testNumbers, faults),
    };
  },
};

type WrittenChannel = Pick<VerifyChannel, "channel" | "from"> & Partial<VerifyChannel>;

function readChannel(written: WrittenChannel, index: number, faults: Fault[]): VerifyChannel {
  const { channel, template = null, waitSeconds = 30 } = written;
  const from = channel === "chatapp" ? readBusinessNumber(written.from) : written.from;
  const max = channel === "sms" ? SENDER_MAX : NAME_MAX;
  if (from === null || from.length > max || !isPlainText(from) || from.trim() === "") {
    const message =
      channel === "chatapp"
        ? "On the chat app, from is a business number with its plus, like +15550100199."
        : `from is plain text of 1 to ${max} characters.`;
    faults.push({ parameter: `channels[${index}].from`, message });
  }
  if (template === null && channel !== "sms")
    faults.push({
      parameter: `channels[${index}].template`,
      message: `Give the template that takes the code: on ${channel} nothing else is sent.`,
    });
  if (template !== null && !isPlainText(template))
    faults.push({ parameter: `channels[${index}].template`, message: "template is the name of a template." });
  return { channel, from: from ?? written.from, template, waitSeconds };
}

function checkText(text: string, faults: Fault[]): void {
  if (isShowable(text) && text.includes("{code}")) return;
  faults.push({
    parameter: "text",
    message: "text has {code} in the place of the code, and nothing that no phone can show.",
  });
}

function checkCountries(countries: readonly string[] | null, faults: Fault[]): void {
  countries?.forEach((country, index) => {
    if (isSupportedCountry(country)) return;
    const message = "A country is given by its two-letter code in capitals, like IN.";
    faults.push({ parameter: `allowedCountries[${index}]`, message });
  });
}

function checkLines({ appHash, webOtpDomain }: VerifyConfigContent, faults: Fault[]): void {
  if (appHash !== null && !APP_HASH.test(appHash))
    faults.push({ parameter: "appHash", message: "appHash is the 11 characters that Android derives from your app." });
  if (webOtpDomain !== null && !DOMAIN.test(webOtpDomain))
    faults.push({
      parameter: "webOtpDomain",
      message: "webOtpDomain is a domain name in small letters, like example.com.",
    });
}

function readTestNumbers(
  given: VerifyConfigContent["testNumbers"],
  faults: Fault[],
): VerifyConfigContent["testNumbers"] {
  return given.map(({ number: written, code }, index) => {
    const number = readNumber(written);
    if (number === null)
      faults.push({ parameter: `testNumbers[${index}].number`, message: "number is an international phone number." });
    if (!FIXED_CODE.test(code))
      faults.push({ parameter: `testNumbers[${index}].code`, message: "code is 4 to 10 digits or capital letters." });
    return { number: number ?? written, code };
  });
}
