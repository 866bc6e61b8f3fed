import { smsBody } from "../../channels/sms/body.ts";
import { readSms, type SmsDraft } from "../../channels/sms/read.ts";
import { prepareSms } from "../../pipeline/accept/prepare-sms.ts";
import { DEFAULT_SMS_LIMITS } from "../../model/message.ts";
import type { SendRoute } from "../route.ts";
import {
  SEND_DESCRIPTION,
  SEND_HEADERS,
  SEND_PROBLEMS,
  sendThrough,
  sentExample,
  SmsSendResponse,
  type ChannelEndpoint,
} from "./send.ts";

const PATH = "/v1/sms";

/** `POST /v1/sms`: a text or a stored template. Next: src/channels/sms/read.ts */
export const smsEndpoint: ChannelEndpoint<SmsDraft> = {
  path: PATH,
  read: ({ smsRules, clock }, { body, caller }) => readSms(body, smsRules, caller.account.settings, clock.now()),
  prepare: ({ prepareDeps }, request) => prepareSms(prepareDeps, request),
  echo: ({ recipients, unicode, flash }) => ({
    recipients: recipients.map(({ number }) => number),
    ...(unicode === undefined ? {} : { unicode }),
    ...(flash === undefined ? {} : { flash }),
  }),
};

const postSms = sendThrough(smsEndpoint);

export const SmsRequest = smsBody(DEFAULT_SMS_LIMITS);

const example = { sender: "HELIOG", to: "15550100100", text: "Your order 4711 is on its way.", type: "TRANS" };

export const sendSms: SendRoute = {
  fastPath: true,
  method: "POST",
  path: PATH,
  family: "send",
  scope: "sms",
  testKeys: "sms",
  group: "SMS",
  summary: "Send SMS",
  description: `Accepts a message for one or many recipients. The answer comes once the messages are on disk. ${SEND_DESCRIPTION}`,
  headers: SEND_HEADERS,
  problems: [...SEND_PROBLEMS, "TOO_MANY_RECIPIENTS", "TEXT_TEMPLATE_MISMATCH", "SHORT_LINK_MISMATCH"],
  body: SmsRequest,
  bodyFor: smsBody,
  checkBody: false,
  requestExamples: {
    single: example,
    "one-time password": { ...example, text: "482913 is your code. It is valid for 5 minutes.", type: "OTP" },
    bulk: { ...example, to: ["15550100100", "15550100101", "15550100102"], type: "PROMO", campaignName: "autumn" },
    unicode: { ...example, text: "आपका ऑर्डर रास्ते में है।", unicode: 1 },
    flash: { ...example, text: "Your taxi is at the door.", flash: 1 },
    template: {
      ...example,
      templateId: "welcome",
      text: "Hello Ada, welcome! Your order 4711 is on its way.",
    },
    "template by id": {
      sender: example.sender,
      to: example.to,
      type: example.type,
      templateId: "welcome",
      custom: ["Ada", "4711"],
    },
    "short link": {
      ...example,
      text: "Track your order: {SORT}",
      shortenUrlData: { shortenUrl: true, targetUrl: ["https://shop.example/orders/4711"] },
    },
    "each recipient in its own words": {
      sender: example.sender,
      type: example.type,
      text: "Hello {{1}}, your order {{2}} is ready.",
      recipients: [
        { to: "15550100100", custom: ["Ada", "4711"] },
        { to: "15550100101", custom: ["Bob", "4712"] },
      ],
    },
  },
  response: SmsSendResponse,
  responseExample: sentExample(example.to),
  handle: postSms,
};
