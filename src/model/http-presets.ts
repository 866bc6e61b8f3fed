import type { HttpErrorRule, HttpPick, HttpPresetName, HttpSettings } from "./http-connection.ts";

const at = (path: string, pattern: string | null = null): HttpPick => ({ path, pattern });
const rule = (meaning: HttpErrorRule["meaning"], fits: Partial<Omit<HttpErrorRule, "meaning">>): HttpErrorRule => ({
  status: null,
  path: null,
  pattern: null,
  equals: null,
  ...fits,
  meaning,
});

type Preset = Partial<Omit<HttpSettings, "preset">>;

/**
 * Kannel `sendsms`. It returns no id, so our own comes back in its receipts. Of a long text only the last part is reported.
 */
const kannel: Preset = {
  method: "GET",
  path: [
    "/cgi-bin/sendsms?username={{value:username}}&password={{secret:password}}",
    "&from={{sender}}&to={{recipient}}&text={{text}}&charset=UTF-8",
    "{{?unicode}}&coding=2{{/unicode}}{{?flash}}&mclass=0{{/flash}}",
    "&validity={{validityMinutes}}&dlr-mask=31&dlr-url={{callbackUrl}}",
    "{{?dlt}}&meta-data=%3Fsmpp%3F{{/dlt}}",
    "{{?dltEntityId}}PE_ID%3D{{dltEntityId}}%26{{/dltEntityId}}",
    "{{?dltContentId}}TEMPLATE_ID%3D{{dltContentId}}{{/dltContentId}}",
  ].join(""),
  success: { statuses: ["2xx"], path: null, pattern: null, equals: null },
  errors: [rule("carrier", { status: "403", pattern: "Not routable*" })],
  callbackQuery: "ref={{messageId}}&type=%d&time=%T&reply=%A",
  receipts: {
    each: null,
    id: null,
    ref: at("ref"),
    status: at("type"),
    states: {
      "1": "delivered",
      "2": "undelivered",
      "4": "enroute",
      "8": "enroute",
      "16": "rejected",
      "32": "enroute",
    },
    errorCode: at("reply", "*err:(*) *"),
    description: null,
    time: at("time"),
    recipient: null,
  },
  inbound: {
    each: null,
    from: at("from"),
    to: at("to"),
    text: at("text"),
    id: at("id"),
    time: at("time"),
    charset: at("charset"),
  },
  answer: "",
};

/** Twilio Messages: form request, basic authentication, form webhooks. */
const twilio: Preset = {
  baseUrl: "https://api.twilio.com",
  method: "POST",
  path: "/2010-04-01/Accounts/{{value:accountSid}}/Messages.json",
  basicAuth: { user: "{{value:accountSid}}", password: "{{secret:authToken}}" },
  bodyType: "form",
  body: "To={{recipient|plus}}&From={{sender|plus}}&Body={{text}}&ValidityPeriod={{validitySeconds|max:14400}}&StatusCallback={{callbackUrl}}",
  id: at("sid"),
  errorCode: at("code"),
  errors: [
    rule("throttle", { path: "code", equals: ["20429", "14107", "63038"] }),
    rule("stop", { path: "code", equals: ["20003", "20005", "20404"] }),
    rule("carrier", { path: "code", equals: ["21408", "21606", "21612", "21660", "30001", "30002"] }),
  ],
  // Our id, because Twilio returns only the URL that it was given.
  callbackQuery: "ref={{messageId}}",
  receipts: {
    each: null,
    id: at("MessageSid"),
    ref: at("ref"),
    status: at("MessageStatus"),
    states: {
      accepted: "enroute",
      scheduled: "enroute",
      queued: "enroute",
      sending: "enroute",
      sent: "enroute",
      delivered: "delivered",
      read: "delivered",
      undelivered: "undelivered",
      failed: "undelivered",
      canceled: "undelivered",
    },
    errorCode: at("ErrorCode"),
    description: null,
    time: null,
    recipient: at("To"),
  },
  inbound: {
    each: null,
    from: at("From"),
    to: at("To"),
    text: at("Body"),
    id: at("MessageSid"),
    time: null,
    charset: null,
  },
  // Twilio would send any other response as a reply.
  answer: "",
};

/** Sinch batches: JSON, bearer token, one receipt per recipient. */
const sinch: Preset = {
  baseUrl: "https://us.sms.api.sinch.com",
  method: "POST",
  path: "/xms/v1/{{value:servicePlanId}}/batches",
  headers: { authorization: "Bearer {{secret:apiToken}}" },
  bodyType: "json",
  body: '{"from":"{{sender}}","to":["{{recipient}}"],"body":"{{text}}","expire_at":"{{expiresAt}}","delivery_report":"per_recipient","callback_url":"{{callbackUrl}}","client_reference":"{{messageId}}"{{?flash}},"flash_message":true{{/flash}}}',
  id: at("id"),
  errorCode: at("code"),
  receipts: {
    each: null,
    id: at("batch_id"),
    ref: at("client_reference"),
    status: at("status"),
    states: {
      queued: "enroute",
      dispatched: "enroute",
      delivered: "delivered",
      failed: "undelivered",
      aborted: "undelivered",
      cancelled: "undelivered",
      deleted: "undelivered",
      expired: "expired",
      rejected: "rejected",
      unknown: "unknown",
    },
    errorCode: at("code"),
    description: null,
    time: at("at"),
    recipient: at("recipient"),
  },
  inbound: {
    each: null,
    from: at("from"),
    to: at("to"),
    text: at("body"),
    id: at("id"),
    time: at("received_at"),
    charset: null,
  },
};

/** Vonage SMS API: every response has status 200 and the result in its body; every part has its own id. */
const vonage: Preset = {
  baseUrl: "https://rest.nexmo.com",
  method: "POST",
  path: "/sms/json",
  bodyType: "form",
  body: [
    "api_key={{value:apiKey}}&api_secret={{secret:apiSecret}}",
    "&from={{sender}}&to={{recipient}}&text={{text}}",
    "{{?unicode}}&type=unicode{{/unicode}}{{?flash}}&message-class=0{{/flash}}",
    "{{?dltEntityId}}&entity-id={{dltEntityId}}{{/dltEntityId}}{{?dltContentId}}&content-id={{dltContentId}}{{/dltContentId}}",
    // Every part of a long text is reported with it, and no part stands for the message.
    "&callback={{callbackUrl}}{{!long}}&client-ref={{messageId}}{{/long}}",
  ].join(""),
  success: { statuses: ["2xx"], path: "messages[*].status", pattern: null, equals: ["0"] },
  id: at("messages[*].message-id"),
  errorCode: at("messages[*].status"),
  errors: [
    rule("throttle", { path: "messages[*].status", equals: ["1"] }),
    rule("retry", { path: "messages[*].status", equals: ["5", "10"] }),
    rule("stop", { path: "messages[*].status", equals: ["4", "8", "9", "11", "14", "32"] }),
    rule("carrier", { path: "messages[*].status", equals: ["2", "7", "15", "22", "23", "29", "33"] }),
    rule("refuse", { path: "messages[*].status" }),
  ],
  receipts: {
    each: null,
    id: at("messageId"),
    ref: at("client-ref"),
    status: at("status"),
    states: {
      accepted: "enroute",
      buffered: "enroute",
      delivered: "delivered",
      failed: "undelivered",
      expired: "expired",
      rejected: "rejected",
      unknown: "unknown",
    },
    errorCode: at("err-code"),
    description: null,
    time: at("message-timestamp"),
    recipient: at("msisdn"),
  },
  inbound: {
    each: null,
    from: at("msisdn"),
    to: at("to"),
    text: at("text"),
    id: at("messageId"),
    time: at("message-timestamp"),
    charset: null,
  },
};

/** Requests of well-known providers; only names and secrets are missing. */
export const PRESETS: Readonly<Record<HttpPresetName, Preset>> = { kannel, twilio, sinch, vonage };
