import type { HttpErrorRule, HttpPick } from "./http-connection.ts";
import { at, rule, type HttpPreset } from "./http-preset.ts";

// Providers of the Indian market. Their reports come to the carrier's callback URL, which is registered with the provider by
// hand. Their inbound messages have no documented form, so the presets read none.

/** MSG91's `sendsms`: JSON and an authkey. Reports are those of its webhook v3. */
export const msg91: HttpPreset = {
  baseUrl: "https://api.msg91.com",
  method: "POST",
  path: "/api/v2/sendsms",
  headers: { authkey: "{{secret:authKey}}" },
  bodyType: "json",
  body: [
    // Country 0 takes numbers with their country code. Route 4 is the transactional one.
    '{"sender":"{{sender}}","route":"4","country":"0"{{?unicode}},"unicode":"1"{{/unicode}}{{?flash}},"flash":"1"{{/flash}}',
    '{{?dltContentId}},"DLT_TE_ID":"{{dltContentId}}"{{/dltContentId}}',
    ',"sms":[{"message":"{{text}}","to":["{{recipient}}"]}]}',
  ].join(""),
  success: { statuses: ["2xx"], path: "type", pattern: null, equals: ["success"] },
  id: at("message"),
  errorCode: at("code"),
  errors: [
    rule("stop", { path: "message", pattern: "*uthentication*" }),
    rule("stop", { path: "message", pattern: "*nsufficient*" }),
    rule("refuse", { status: "2xx", path: "type", equals: ["error"] }),
  ],
  receipts: {
    each: null,
    id: at("requestId"),
    ref: null,
    status: at("status"),
    states: {
      "1": "delivered",
      "2": "undelivered",
      "8": "enroute",
      "9": "rejected",
      "16": "rejected",
      "17": "rejected",
      "25": "rejected",
    },
    errorCode: at("status"),
    description: at("desc"),
    time: null,
    recipient: at("number"),
  },
};

const firstLine = (pattern: string): HttpPick => ({ path: null, pattern });

/** Gupshup's enterprise gateway: a form whose answer is one line of text. Reports are its real-time reports by GET. */
export const gupshup: HttpPreset = {
  baseUrl: "https://enterprise.smsgupshup.com",
  method: "POST",
  path: "/GatewayAPI/rest",
  bodyType: "form",
  body: [
    "method=SendMessage&v=1.1&auth_scheme=plain&format=text&userid={{value:userId}}&password={{secret:password}}",
    "&send_to={{recipient}}&mask={{sender}}&msg={{text}}",
    "{{?unicode}}&msg_type=Unicode_Text{{/unicode}}{{!unicode}}&msg_type=Text{{/unicode}}",
    "{{?dltEntityId}}&principalEntityId={{dltEntityId}}{{/dltEntityId}}",
    "{{?dltContentId}}&dltTemplateId={{dltContentId}}{{/dltContentId}}",
  ].join(""),
  success: { statuses: ["2xx"], path: null, pattern: "success*", equals: null },
  id: firstLine("success |*| (*)"),
  errorCode: firstLine("error | (*) |*"),
  errors: [
    rule("retry", { ...firstLine("error | (*) |*"), equals: ["100"] }),
    rule("stop", { ...firstLine("error | (*) |*"), equals: ["101", "102", "103"] }),
    rule("refuse", { status: "2xx", pattern: "error*" }),
  ],
  receipts: {
    each: null,
    id: at("externalId"),
    ref: null,
    status: at("status"),
    states: { success: "delivered", fail: "undelivered", unknown: "unknown" },
    errorCode: at("errCode"),
    description: at("cause"),
    time: null,
    recipient: at("phoneNo"),
  },
};

/** Kaleyra.io's `messages`: a form and an API key. Reports are those of a callback profile with the names below. */
export const kaleyra: HttpPreset = {
  baseUrl: "https://api.in.kaleyra.io",
  method: "POST",
  path: "/v1/{{value:sid}}/messages",
  headers: { "api-key": "{{secret:apiKey}}" },
  bodyType: "form",
  body: [
    "to={{recipient|plus}}&sender={{sender}}&body={{text}}&type=TXN",
    "{{?dltContentId}}&template_id={{dltContentId}}{{/dltContentId}}",
    "&callback_profile_id={{value:callbackProfileId}}",
  ].join(""),
  id: at("data[0].message_id"),
  errorCode: at("code"),
  receipts: {
    each: null,
    id: at("id"),
    ref: null,
    status: at("status"),
    states: {
      sent: "enroute",
      delivered: "delivered",
      failed: "undelivered",
      undelivered: "undelivered",
      notsent: "rejected",
    },
    errorCode: at("error"),
    description: null,
    time: null,
    recipient: at("mobile"),
  },
};

const coded = (meaning: HttpErrorRule["meaning"], ...codes: readonly string[]): HttpErrorRule[] =>
  codes.map((code) => rule(meaning, { pattern: `${code}*` }));

/** Route Mobile's bulk HTTP API: a query whose answer has a code, the number and the id. Reports are those of its DLR push. */
export const routemobile: HttpPreset = {
  baseUrl: "https://api.rmlconnect.net",
  method: "GET",
  path: [
    "/bulksms/bulksms?username={{value:username}}&password={{secret:password}}&dlr=1",
    "&destination={{recipient}}&source={{sender}}&message={{text}}",
    // A flash message goes as a text: its number depends on the alphabet too.
    "{{?unicode}}&type=2{{/unicode}}{{!unicode}}&type=0{{/unicode}}",
    "{{?dltEntityId}}&entityid={{dltEntityId}}{{/dltEntityId}}{{?dltContentId}}&tempid={{dltContentId}}{{/dltContentId}}",
  ].join(""),
  success: { statuses: ["2xx"], path: null, pattern: "1701|*", equals: null },
  id: firstLine("1701|*|(*)"),
  errorCode: firstLine("(*)|*"),
  errors: [
    ...coded("stop", "1703", "1709", "1025"),
    ...coded("retry", "1710"),
    ...coded("carrier", "1702", "1704", "1707", "1708"),
    ...coded("refuse", "1705", "1706", "1028", "1032", "1042"),
    ...coded("unknown", "1715"),
  ],
  receipts: {
    each: null,
    id: at("sMessageId"),
    ref: null,
    status: at("sStatus"),
    states: {
      acked: "enroute",
      enroute: "enroute",
      accepted: "enroute",
      delivrd: "delivered",
      expired: "expired",
      deleted: "undelivered",
      undeliv: "undelivered",
      rejectd: "rejected",
      unknown: "unknown",
    },
    errorCode: at("iErrCode"),
    description: null,
    time: null,
    recipient: at("sMobileNo"),
  },
};
