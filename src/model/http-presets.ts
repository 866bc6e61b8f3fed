import type { HttpPresetName } from "./http-connection.ts";
import { gupshup, kaleyra, msg91, routemobile } from "./http-indian-presets.ts";
import { httpsms, smsgate, textbee } from "./http-phone-presets.ts";
import { at, rule, type HttpPreset } from "./http-preset.ts";

/**
 * Kannel `sendsms`. It returns no id, so our own comes back in its receipts. Of a long text only the last part is reported.
 */
const kannel: HttpPreset = {
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
const twilio: HttpPreset = {
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
const sinch: HttpPreset = {
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
const vonage: HttpPreset = {
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

/**
 * Infobip's SMS over `/sms/2/text/advanced`: JSON, an API key, and a host per customer. A rejected message has status 200 and its
 * reason in the group of its status.
 */
const infobip: HttpPreset = {
  method: "POST",
  path: "/sms/2/text/advanced",
  headers: { authorization: "App {{secret:apiKey}}" },
  bodyType: "json",
  body: [
    '{"messages":[{"destinations":[{"to":"{{recipient}}"}],"from":"{{sender}}","text":"{{text}}"',
    ',"validityPeriod":{{validityMinutes|max:2880}},"notifyUrl":"{{callbackUrl}}","notifyContentType":"application/json"',
    ',"callbackData":"{{messageId}}"{{?flash}},"flash":true{{/flash}}',
    '{{?dltEntityId}},"regional":{"indiaDlt":{"principalEntityId":"{{dltEntityId}}","contentTemplateId":"{{dltContentId}}"}}{{/dltEntityId}}',
    "}]}",
  ].join(""),
  success: { statuses: ["2xx"], path: "messages[0].status.groupName", pattern: null, equals: ["PENDING", "DELIVERED"] },
  id: at("messages[0].messageId"),
  errorCode: at("messages[0].status.name"),
  errors: [
    rule("stop", { path: "messages[0].status.name", equals: ["REJECTED_NOT_ENOUGH_CREDITS"] }),
    rule("throttle", { path: "messages[0].status.name", equals: ["REJECTED_FLOODING_FILTER"] }),
    rule("carrier", { path: "messages[0].status.name", equals: ["REJECTED_NETWORK", "REJECTED_ROUTE_NOT_AVAILABLE"] }),
    rule("refuse", { path: "messages[0].status.groupName", equals: ["REJECTED", "UNDELIVERABLE", "EXPIRED"] }),
  ],
  receipts: {
    each: "results",
    id: at("messageId"),
    ref: at("callbackData"),
    status: at("status.groupName"),
    states: {
      PENDING: "enroute",
      DELIVERED: "delivered",
      UNDELIVERABLE: "undelivered",
      EXPIRED: "expired",
      REJECTED: "rejected",
    },
    errorCode: at("error.name", "EC_(*)"),
    description: at("status.description"),
    time: at("doneAt"),
    recipient: at("to"),
  },
  inbound: {
    each: "results",
    from: at("from"),
    to: at("to"),
    text: at("text"),
    id: at("messageId"),
    time: at("receivedAt"),
    charset: null,
  },
};

/** Exotel's `Sms/send.json`: a form, basic authentication, form webhooks. */
const exotel: HttpPreset = {
  baseUrl: "https://api.exotel.com",
  method: "POST",
  path: "/v1/Accounts/{{value:accountSid}}/Sms/send.json",
  basicAuth: { user: "{{value:apiKey}}", password: "{{secret:apiToken}}" },
  bodyType: "form",
  body: [
    "From={{sender}}&To={{recipient|plus}}&Body={{text}}{{?unicode}}&EncodingType=unicode{{/unicode}}",
    "{{?dltEntityId}}&DltEntityId={{dltEntityId}}{{/dltEntityId}}{{?dltContentId}}&DltTemplateId={{dltContentId}}{{/dltContentId}}",
    "&StatusCallback={{callbackUrl}}",
  ].join(""),
  id: at("SMSMessage.Sid"),
  // Our id, because Exotel calls the URL that it was given.
  callbackQuery: "ref={{messageId}}",
  receipts: {
    each: null,
    id: at("SmsSid"),
    ref: at("ref"),
    status: at("Status"),
    states: {
      queued: "enroute",
      sending: "enroute",
      submitted: "enroute",
      sent: "delivered",
      failed: "undelivered",
      "failed-dnd": "rejected",
      failed_dnd: "rejected",
    },
    errorCode: at("DetailedStatusCode"),
    description: at("DetailedStatus"),
    time: null,
    recipient: at("To"),
  },
  inbound: {
    each: null,
    from: at("From"),
    to: at("To"),
    text: at("Body"),
    id: at("SmsSid"),
    time: null,
    charset: null,
  },
};

/** Requests of well-known providers; only names and secrets are missing. */
export const PRESETS: Readonly<Record<HttpPresetName, HttpPreset>> = {
  kannel,
  twilio,
  sinch,
  vonage,
  infobip,
  exotel,
  msg91,
  gupshup,
  kaleyra,
  routemobile,
  smsgate,
  textbee,
  httpsms,
};
