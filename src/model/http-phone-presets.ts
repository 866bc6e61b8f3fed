import { at, rule, type HttpPreset } from "./http-preset.ts";

// Services that send through the SIM card of an Android phone. Their webhooks are registered in the service, by hand, with the
// carrier's callback URL.

/** SMSGate (sms-gate.app): JSON, basic authentication, one webhook per event. The card of the phone is the sender. */
export const smsgate: HttpPreset = {
  baseUrl: "https://api.sms-gate.app",
  method: "POST",
  path: "/3rdparty/v1/messages",
  basicAuth: { user: "{{value:username}}", password: "{{secret:password}}" },
  bodyType: "json",
  body: '{"textMessage":{"text":"{{text}}"},"phoneNumbers":["{{recipient|plus}}"],"ttl":{{validitySeconds}},"withDeliveryReport":true}',
  id: at("id"),
  receipts: {
    each: null,
    id: at("payload.messageId"),
    ref: null,
    status: at("event"),
    states: { "sms:sent": "enroute", "sms:delivered": "delivered", "sms:failed": "undelivered" },
    errorCode: at("payload.reason"),
    description: at("payload.reason"),
    time: at("payload.deliveredAt"),
    recipient: null,
  },
  inbound: {
    each: null,
    from: at("payload.sender"),
    // The number of the card is not always known; the device is.
    to: at("deviceId"),
    text: at("payload.message"),
    id: at("payload.messageId"),
    time: at("payload.receivedAt"),
    charset: null,
  },
};

/** textbee: JSON, an API key, a device per carrier. The card of the phone is the sender. */
export const textbee: HttpPreset = {
  baseUrl: "https://api.textbee.dev",
  method: "POST",
  path: "/api/v1/gateway/devices/{{value:deviceId}}/send-sms",
  headers: { "x-api-key": "{{secret:apiKey}}" },
  bodyType: "json",
  body: '{"recipients":["{{recipient|plus}}"],"message":"{{text}}"}',
  id: at("data.smsBatchId"),
  receipts: {
    each: null,
    id: at("smsBatchId"),
    ref: null,
    status: at("status"),
    states: {
      pending: "enroute",
      dispatched: "enroute",
      sent: "enroute",
      delivered: "delivered",
      failed: "undelivered",
      unknown: "unknown",
    },
    errorCode: at("errorCode"),
    description: at("errorMessage"),
    time: at("deliveredAt"),
    recipient: at("recipient"),
  },
  inbound: {
    each: null,
    from: at("sender"),
    to: at("deviceId"),
    text: at("message"),
    id: at("smsId"),
    time: at("receivedAt"),
    charset: null,
  },
};

/** httpSMS: JSON, an API key. The sender is the number of one of the account's phones. */
export const httpsms: HttpPreset = {
  baseUrl: "https://api.httpsms.com",
  method: "POST",
  path: "/v1/messages/send",
  headers: { "x-api-key": "{{secret:apiKey}}" },
  bodyType: "json",
  body: '{"content":"{{text}}","from":"{{sender|plus}}","to":"{{recipient|plus}}","request_id":"{{messageId}}"}',
  id: at("data.id"),
  // The plan's messages of the month are used up.
  errors: [rule("stop", { status: "402" })],
  receipts: {
    each: null,
    id: at("data.id"),
    ref: at("data.request_id"),
    status: at("type"),
    states: {
      "message.phone.sent": "enroute",
      // Not final: the service tries again.
      "message.send.expired": "enroute",
      "message.phone.delivered": "delivered",
      "message.send.failed": "undelivered",
    },
    errorCode: at("data.error_message"),
    description: at("data.error_message"),
    time: at("data.timestamp"),
    recipient: at("data.contact"),
  },
  inbound: {
    each: null,
    from: at("data.contact"),
    to: at("data.owner"),
    text: at("data.content"),
    id: at("data.message_id"),
    time: at("data.timestamp"),
    charset: null,
  },
};
