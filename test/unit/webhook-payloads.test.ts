import { createServer, validateHeaderName, validateHeaderValue, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import * as fc from "fast-check";
import { request } from "undici";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  CHANNEL_EVENTS,
  EVERY_PROVIDER,
  eventOf,
  STATUS_WORDS,
  type WebhookChannel,
  WEBHOOK_EVENTS,
  type DlrConfigContent,
  type CustomerEvent,
  type HeaderPair,
  type MessageSnapshot,
  type WebhookRequest,
  type StatusEvent,
  type StatusWord,
  type WebhookContent,
  type WebhookEvent,
} from "../../src/model/callback.ts";
import type { InboundContent, InboundMessage } from "../../src/model/inbound.ts";
import { SEND_CHANNELS, type SendChannel } from "../../src/model/message.ts";
import { checkHeaderPair, checkHeaderPairs, PLACEHOLDERS, readPlaceholder } from "../../src/model/placeholder.ts";
import type { Fault } from "../../src/model/problem.ts";
import { suggestionResponse } from "../../src/model/rcs.ts";
import { VERIFICATION_STATES } from "../../src/model/verification.ts";
import { channelOf, eventRequest as requestWith } from "../../src/webhooks/payloads/event.ts";
import { placeholderValues } from "../../src/webhooks/payloads/placeholders.ts";
import { writeFields } from "../../src/webhooks/post-json.ts";
import { deliveryReportRequest, headerValue, queryValue } from "../../src/webhooks/payloads/delivery-report.ts";
import { newSecret, sign, signedPayload } from "../../src/webhooks/sign.ts";
import { repetitions } from "../support/repetitions.ts";

const MESSAGE_ID = "0198f3a2-7c40-7d1e-9a51-3f0c8e2b6d47:1";
const INBOUND_ID = "0198f3a2-8f10-7c3e-9b62-4a1d7e5c8f30";
const EVENT_ID = "0198f3a2-7c60-7a1e-8a51-3f0c8e2b6d47";
const SENT_AT = Date.parse("2026-01-01T00:00:00.250Z");
const AT = Date.parse("2026-01-01T00:00:04.880Z");
const BUSINESS = "+15550100199";

const RCS_WORDS = ["sent", "delivered", "read", "failed"] as const;

const OUR_SIDE: Record<SendChannel, string> = { sms: "HELIOG", rcs: "heliograph-bot", chatapp: BUSINESS };

const facts = (channel: SendChannel): MessageSnapshot => ({
  messageId: MESSAGE_ID,
  channel,
  recipient: "15550100100",
  sender: OUR_SIDE[channel],
  credits: 2,
  createdAt: SENT_AT,
  session: false,
});

const status = (channel: SendChannel, word: StatusWord, rest: Partial<StatusEvent> = {}): CustomerEvent => ({
  kind: "status",
  status: word,
  at: AT,
  message: facts(channel),
  gateway: "acme-1",
  errorCode: "000",
  description: "Delivered to the phone",
  ...rest,
});

const inbound = (channel: SendChannel, content: InboundContent, rest: Partial<InboundMessage> = {}): CustomerEvent => ({
  kind: "inbound",
  at: AT,
  inbound: {
    accountId: 1,
    id: INBOUND_ID,
    channel,
    from: "15550100100",
    to: OUR_SIDE[channel],
    content,
    answers: { requestId: MESSAGE_ID.slice(0, -2), n: 1 },
    at: AT,
    ...rest,
  },
});

const text = (words: string): InboundContent => ({ kind: "text", text: words });

const click: CustomerEvent = {
  kind: "click",
  at: AT,
  message: facts("sms"),
  url: "https://shop.example/sale?x=1",
  code: "7Hx2kQp",
  agent: "person",
};

const webhook = (channel: WebhookChannel, events: readonly WebhookEvent[] = WEBHOOK_EVENTS): WebhookContent => ({
  channel,
  method: "POST",
  url: "https://shop.example/hook",
  events,
  enabled: true,
  disabledReason: null,
  secrets: [],
});

const config = (rest: Partial<DlrConfigContent> = {}): DlrConfigContent => ({
  provider: EVERY_PROVIDER,
  method: "POST",
  url: "https://shop.example/dlr",
  headers: [],
  enabled: true,
  disabledReason: null,
  secrets: [],
  ...rest,
});

const REPORT_FACTS = { operatorCircle: () => "Airtel, Punjab", zone: "Asia/Kolkata" };
const eventRequest = (content: WebhookContent, happening: CustomerEvent, eventId: string): WebhookRequest | null =>
  requestWith(content, happening, eventId, REPORT_FACTS);
const pair = (key: string, value: string): HeaderPair => ({ key, value });
const pairsOf = (...names: string[]): HeaderPair[] => names.map((name) => pair(`X-${name}`, `{{${name}}}`));

const present = (push: WebhookRequest | null): WebhookRequest => {
  if (!push) throw new Error("nothing is pushed");
  return push;
};
const told = (channel: WebhookChannel, happening: CustomerEvent): Record<string, unknown> =>
  JSON.parse(present(eventRequest(webhook(channel), happening, EVENT_ID)).body ?? "") as Record<string, unknown>;
const reported = (
  settings: Partial<DlrConfigContent>,
  happening: CustomerEvent = status("sms", "delivered"),
): WebhookRequest => present(deliveryReportRequest(config(settings), happening, REPORT_FACTS));
const fieldsOf = (push: WebhookRequest): Record<string, unknown> =>
  JSON.parse(push.body ?? "") as Record<string, unknown>;
const queryOf = (push: WebhookRequest): Record<string, string> => Object.fromEntries(new URL(push.url).searchParams);

/** Values that carriers, phones and programs have been seen to write, and worse. */
const hostile = fc.oneof(
  fc.string({ unit: "binary", maxLength: 200 }),
  fc
    .array(fc.constantFrom("\r\n", "\n", "\0", "\t", "\x7f", "\x85", "\ud83d", "\ude00", "😀", "é", "Ω", "%", "+", "&", "=", "#", '"', "\\", "\x1f", "\u2028", "Host: evil", " "))
    .map((parts) => parts.join("")),
  fc.constantFrom("😀".repeat(16_384), "\r\nX-Evil: 1".repeat(6_000), "a".repeat(65_536), "\0".repeat(65_536)),
); // prettier-ignore

describe("RCS webhooks", () => {
  test("Method: every callback is a POST", () => {
    for (const happening of [status("rcs", "sent"), inbound("rcs", text("Hello"))])
      expect(present(eventRequest(webhook("rcs"), happening, EVENT_ID)).method).toBe("POST");
  });

  test("End Point: the callback goes to the webhook's URL unchanged", () => {
    const push = eventRequest(
      { ...webhook("rcs"), url: "https://shop.example/a%20b?c=d" },
      status("rcs", "sent"),
      EVENT_ID,
    );
    expect(present(push).url).toBe("https://shop.example/a%20b?c=d");
  });

  test("every callback has Content-Type: application/json", () => {
    expect(present(eventRequest(webhook("rcs"), status("rcs", "sent"), EVENT_ID)).headers).toEqual({
      "content-type": "application/json",
    });
  });

  test("Events: a webhook receives only the events that it subscribed to", () => {
    const happenings = { message_status: status("rcs", "sent"), user_message: inbound("rcs", text("Hello")) };
    for (const event of ["message_status", "user_message"] as const) {
      expect(eventRequest(webhook("rcs", [event]), happenings[event], EVENT_ID)).not.toBeNull();
      const others = WEBHOOK_EVENTS.filter((other) => other !== event);
      expect(eventRequest(webhook("rcs", others), happenings[event], EVENT_ID)).toBeNull();
      expect(eventRequest(webhook("rcs", []), happenings[event], EVENT_ID)).toBeNull();
    }
  });

  test("a webhook receives events of its own channel only", () => {
    for (const channel of SEND_CHANNELS)
      for (const other of SEND_CHANNELS) {
        const push = eventRequest(webhook(channel), inbound(other, text("Hello")), EVENT_ID);
        expect(push !== null).toBe(channel === other);
      }
  });
});

describe("RCS event: user_message", () => {
  const ofText = told("rcs", inbound("rcs", text("Thank you")));
  const messageOf = (content: InboundContent): unknown => told("rcs", inbound("rcs", content)).message;

  test("a text is reported in exactly these bytes", () => {
    expect(present(eventRequest(webhook("rcs"), inbound("rcs", text("Thank you")), EVENT_ID)).body).toBe(
      '{"botId":"heliograph-bot","channel":"rcs","event":"user_message",' +
        '"message":{"text":"Thank you","suggestionResponse":null,"userFile":null},' +
        `"messageId":"${MESSAGE_ID}","timestamp":1767225604880,"userPhoneNumber":"+15550100100"}`,
    );
  });

  test("botId: a string, the bot that received it", () => expect(ofText.botId).toBe("heliograph-bot"));
  test("channel: rcs", () => expect(ofText.channel).toBe("rcs"));
  test("event: user_message", () => expect(ofText.event).toBe("user_message"));
  test("message: an object, the content", () => expect(ofText.message).toBeTypeOf("object"));
  test("messageId: the message that the user answers, <id>:<n>", () => expect(ofText.messageId).toBe(MESSAGE_ID));
  test("messageId: has the same shape if the user answers no message", () => {
    const alone = inbound("rcs", text("Hello?"), { answers: null });
    expect(told("rcs", alone).messageId).toBe(`${INBOUND_ID}:1`);
  });
  test("timestamp: an integer, epoch milliseconds", () => expect(ofText.timestamp).toBe(1_767_225_604_880));
  test("userPhoneNumber: with a leading plus", () => expect(ofText.userPhoneNumber).toBe("+15550100100"));

  test("message.text: the user's text", () => expect(messageOf(text("Thank you"))).toHaveProperty("text", "Thank you"));
  test("message.text: an empty string when a button was tapped", () => {
    const tap: InboundContent = { kind: "suggestion", plainText: "Yes", data: "yes", type: "REPLY" };
    expect(messageOf(tap)).toHaveProperty("text", "");
  });
  test("message.suggestionResponse: null for plain text", () => {
    expect(messageOf(text("Hi"))).toHaveProperty("suggestionResponse", null);
  });
  test("message.suggestionResponse: plainText, postBack.data and type", () => {
    const tap: InboundContent = { kind: "suggestion", plainText: "Yes, please", data: "confirm-4711", type: "REPLY" };
    expect(messageOf(tap)).toEqual({
      text: "",
      suggestionResponse: { plainText: "Yes, please", postBack: { data: "confirm-4711" }, type: "REPLY" },
      userFile: null,
    });
  });
  test("message.userFile: null when no file was sent", () =>
    expect(messageOf(text("Hi"))).toHaveProperty("userFile", null));
  test("message.userFile: category, payload and thumbnail of a file", () => {
    const payload = {
      mimeType: "image/jpeg",
      fileSizeBytes: 48_213,
      fileName: "door.jpg",
      fileUri: "https://files.example/door.jpg",
    };
    const file = { category: "image", payload, thumbnail: null };
    expect(messageOf({ kind: "file", file })).toEqual({ text: "", suggestionResponse: null, userFile: file });
    const withThumbnail = { ...file, thumbnail: { ...payload, fileSizeBytes: 812 } };
    expect(messageOf({ kind: "file", file: withThumbnail })).toHaveProperty("userFile", withThumbnail);
  });
  test("message.location: a place that was shared, and nothing else has the field", () => {
    expect(messageOf({ kind: "location", latitude: 28.6139, longitude: 77.209 })).toEqual({
      text: "",
      suggestionResponse: null,
      userFile: null,
      location: { latitude: 28.6139, longitude: 77.209 },
    });
    expect(messageOf(text("Hi"))).not.toHaveProperty("location");
  });

  test.each([
    ["ACTION", { type: "url", text: "Track", data: "track-1", url: "https://shop.example" }, "track-1"],
    ["REPLY", { type: "reply", text: "Yes", data: "yes-1" }, "yes-1"],
    ["DIALER", { type: "dial", text: "Call", data: "call-1", number: "+15550100199" }, "+15550100199"],
  ] as const)("suggestionResponse.type: %s for a tap on such a suggestion", (type, suggestion, data) => {
    const { plainText, postBack } = suggestionResponse(suggestion);
    const tap: InboundContent = {
      kind: "suggestion",
      plainText,
      data: postBack.data,
      type: suggestionResponse(suggestion).type,
    };
    expect(messageOf(tap)).toHaveProperty("suggestionResponse", {
      plainText: suggestion.text,
      postBack: { data },
      type,
    });
  });
});

describe("RCS event: message_status", () => {
  const delivered = told("rcs", status("rcs", "delivered"));

  test("a status is reported in exactly these bytes", () => {
    expect(present(eventRequest(webhook("rcs"), status("rcs", "delivered"), EVENT_ID)).body).toBe(
      `{"botId":"heliograph-bot","channel":"rcs","event":"message_status","messageId":"${MESSAGE_ID}",` +
        `"statuses":{"eventId":"${EVENT_ID}","status":"delivered","timestamp":1767225604}}`,
    );
  });

  test("botId: the bot that sent the message", () => expect(delivered.botId).toBe("heliograph-bot"));
  test("channel: rcs", () => expect(delivered.channel).toBe("rcs"));
  test("event: message_status", () => expect(delivered.event).toBe("message_status"));
  test("messageId: equals the one in the response to the send", () => expect(delivered.messageId).toBe(MESSAGE_ID));
  test("statuses.eventId: a string, the id of the event", () => {
    expect(delivered.statuses).toHaveProperty("eventId", EVENT_ID);
  });
  test.each(RCS_WORDS)("statuses.status: %s", (word) => {
    expect(told("rcs", status("rcs", word)).statuses).toHaveProperty("status", word);
  });
  test("statuses.timestamp: an integer, whole epoch seconds", () => {
    expect(delivered.statuses).toHaveProperty("timestamp", 1_767_225_604);
  });
  test("a removed message is not reported", () => {
    expect(eventRequest(webhook("rcs"), status("rcs", "unknown"), EVENT_ID)).toBeNull();
  });
});

describe("chat-app events have the shapes of RCS", () => {
  test("user_message: from is the business number, and so is botId", () => {
    expect(told("chatapp", inbound("chatapp", text("Hello")))).toEqual({
      botId: BUSINESS,
      from: BUSINESS,
      channel: "chatapp",
      event: "user_message",
      message: { text: "Hello", suggestionResponse: null, userFile: null },
      messageId: MESSAGE_ID,
      timestamp: AT,
      userPhoneNumber: "+15550100100",
    });
  });

  test.each(RCS_WORDS)("message_status: %s", (word) => {
    expect(told("chatapp", status("chatapp", word))).toEqual({
      botId: BUSINESS,
      from: BUSINESS,
      channel: "chatapp",
      event: "message_status",
      messageId: MESSAGE_ID,
      statuses: { eventId: EVENT_ID, status: word, timestamp: 1_767_225_604 },
    });
  });

  test.each([
    ["template", false],
    ["session", true],
  ] as const)("message_sent: messageType is %s", (messageType, session) => {
    const sent: CustomerEvent = { kind: "sent", at: AT, message: { ...facts("chatapp"), session } };
    expect(told("chatapp", sent)).toEqual({
      botId: BUSINESS,
      from: BUSINESS,
      channel: "chatapp",
      event: "message_sent",
      messageId: MESSAGE_ID,
      messageType,
      timestamp: AT,
      userPhoneNumber: "+15550100100",
    });
  });

  test("message_sent is an event of the chat app alone", () => {
    for (const channel of ["rcs", "sms"] as const)
      expect(eventRequest(webhook(channel), { kind: "sent", at: AT, message: facts(channel) }, EVENT_ID)).toBeNull();
  });
});

describe("SMS webhooks", () => {
  test("user_message: an answer from a phone, with the sender that was answered", () => {
    expect(told("sms", inbound("sms", text("STOP"), { answers: null }))).toEqual({
      sender: "HELIOG",
      channel: "sms",
      event: "user_message",
      message: { text: "STOP", suggestionResponse: null, userFile: null },
      messageId: `${INBOUND_ID}:1`,
      timestamp: AT,
      userPhoneNumber: "+15550100100",
    });
  });

  test("link_click: the link, its message, and whether a person followed it", () => {
    expect(told("sms", click)).toEqual({
      sender: "HELIOG",
      channel: "sms",
      event: "link_click",
      link: { code: "7Hx2kQp", url: "https://shop.example/sale?x=1" },
      agent: "person",
      messageId: MESSAGE_ID,
      timestamp: AT,
      userPhoneNumber: "+15550100100",
    });
  });

  test("verification_status: the verification and its state", () => {
    const verification = { id: INBOUND_ID, config: "default", number: "15550100100", checks: 3, test: false } as const;
    for (const state of VERIFICATION_STATES)
      expect(told("verify", { kind: "verification", at: AT, verification: { ...verification, state } })).toEqual({
        channel: "verify",
        event: "verification_status",
        verifyId: INBOUND_ID,
        configId: "default",
        status: state,
        attempts: 3,
        test: false,
        timestamp: AT,
        userPhoneNumber: "+15550100100",
      });
  });

  test("the status of a text message goes to webhooks as a delivery report, once it is final or unknown", () => {
    const sentFor = STATUS_WORDS.filter((word) => eventRequest(webhook("sms"), status("sms", word), EVENT_ID));
    expect(sentFor).toEqual(["delivered", "failed", "unknown"]);
    const report = { ...placeholderValues(status("sms", "delivered") as StatusEvent, REPORT_FACTS) };
    expect(told("sms", status("sms", "delivered"))).toEqual({
      sender: "HELIOG",
      channel: "sms",
      event: "delivery_report",
      ...report,
      timestamp: AT,
      userPhoneNumber: "+15550100100",
    });
  });
});

describe("every event", () => {
  const verification = {
    id: INBOUND_ID,
    config: "default",
    number: "1",
    state: "pending",
    checks: 0,
    test: true,
  } as const;
  const alert = {
    id: INBOUND_ID,
    ruleName: "Credits low",
    alert: "credits_low",
    subject: "",
    subjectName: "",
    state: "open",
    value: 7,
    threshold: 1000,
  } as const;
  const happenings = [
    status("rcs", "sent"),
    { kind: "sent", at: AT, message: facts("chatapp") },
    click,
    { kind: "verification", at: AT, verification },
    { kind: "alert", at: AT, alert },
  ] as const;

  test("event kinds and event names correspond one to one", () => {
    const events = [...happenings, status("sms", "delivered"), inbound("sms", text("Hi"))].map((happening) =>
      eventOf(happening.kind, channelOf(happening)),
    );
    expect(events.toSorted()).toEqual(WEBHOOK_EVENTS.toSorted());
  });

  test("each event is reported on at least one channel", () => {
    expect(new Set(Object.values(CHANNEL_EVENTS).flat())).toEqual(new Set(WEBHOOK_EVENTS));
  });

  test("any text of a user gives valid JSON", () => {
    fc.assert(
      fc.property(hostile, (words) => {
        const { body } = present(eventRequest(webhook("rcs"), inbound("rcs", text(words)), EVENT_ID));
        expect(JSON.parse(body ?? "")).toHaveProperty("message.text", words.toWellFormed());
        expect(body).not.toMatch(/\\ud[89a-f]/i);
      }),
    );
  });
});

describe("SMS delivery-report configuration", () => {
  test("Provider: ALL receives the reports of every carrier, also of messages without one", () => {
    for (const gateway of ["acme-1", "acme-2", ""])
      expect(deliveryReportRequest(config(), status("sms", "failed", { gateway }), REPORT_FACTS)).not.toBeNull();
  });

  test("Provider: a named carrier gives only its own reports", () => {
    for (const [gateway, isTold] of [
      ["acme-1", true],
      ["acme-2", false],
      ["", false],
    ] as const) {
      const push = deliveryReportRequest(
        config({ provider: "acme-1" }),
        status("sms", "failed", { gateway }),
        REPORT_FACTS,
      );
      expect(push !== null).toBe(isTold);
    }
  });

  test.each(["GET", "POST"] as const)("Method: %s", (method) => {
    expect(reported({ method }).method).toBe(method);
  });

  test("End Point: a POST goes to the URL unchanged", () => {
    expect(reported({ url: "https://shop.example/dlr?key=a%20b" }).url).toBe("https://shop.example/dlr?key=a%20b");
  });

  test("Headers: each pair is sent as a header with its name and the real value", () => {
    const headers = [pair("X-Id", "{{messageId}}"), pair("x_state", "{{status}}"), pair("__proto__", "{{senderName}}")];
    for (const method of ["GET", "POST"] as const) {
      const sent = reported({ method, headers }).headers;
      expect(Object.entries(sent).filter(([name]) => name !== "content-type")).toEqual([
        ["X-Id", MESSAGE_ID],
        ["x_state", "Delivered"],
        ["__proto__", "HELIOG"],
      ]);
    }
  });

  test("the body is valid JSON for any texts", () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.constantFrom("messageId", "errCode", "status")),
        fc.array(hostile, { minLength: 3, maxLength: 3 }),
        (fields, values) => {
          const object = Object.fromEntries(fields.map((field, place) => [field, values[place]?.toWellFormed()]));
          expect(writeFields(fields, values)).toBe(JSON.stringify(object));
        },
      ),
    );
  });

  test("Headers: without pairs no such header is sent", () => {
    expect(reported({ method: "POST" }).headers).toEqual({ "content-type": "application/json" });
    expect(reported({ method: "GET" }).headers).toEqual({});
  });
});

describe("placeholders", () => {
  const values = (happening: CustomerEvent): Record<string, string> => {
    if (happening.kind !== "status") throw new Error("only a status has them");
    return placeholderValues(happening, REPORT_FACTS);
  };
  const delivered = values(status("sms", "delivered"));

  test("there are eleven", () => {
    expect(PLACEHOLDERS).toHaveLength(11);
    expect(Object.keys(delivered).toSorted()).toEqual(PLACEHOLDERS.toSorted());
  });

  test("{{messageId}}: the message", () => expect(delivered.messageId).toBe(MESSAGE_ID));
  test("{{mobileNumber}}: the recipient, without plus", () => expect(delivered.mobileNumber).toBe("15550100100"));
  test("{{messageCredit}}: the credits that the message cost", () => expect(delivered.messageCredit).toBe("2"));
  test("{{gatewayName}}: the carrier of the message", () => expect(delivered.gatewayName).toBe("acme-1"));
  test("{{senderName}}: the sender id", () => expect(delivered.senderName).toBe("HELIOG"));
  test("{{errCode}}: the code of the gateway or operator", () => expect(delivered.errCode).toBe("000"));
  test("{{errCode}}: empty without a code", () => {
    expect(values(status("sms", "failed", { errorCode: null })).errCode).toBe("");
  });
  test("{{deliveredDate}}: YYYY-MM-DD HH:mm:ss in the account's zone", () => {
    expect(delivered.deliveredDate).toBe("2026-01-01 05:30:04");
  });
  test.each([
    ["UTC", "2026-01-01 00:00:04"],
    ["America/Los_Angeles", "2025-12-31 16:00:04"],
    ["Asia/Kathmandu", "2026-01-01 05:45:04"],
    ["Pacific/Kiritimati", "2026-01-01 14:00:04"],
  ])("{{deliveredDate}}: in %s", (zone, shown) => {
    const happening = status("sms", "delivered") as StatusEvent;
    expect(placeholderValues(happening, { ...REPORT_FACTS, zone }).deliveredDate).toBe(shown);
  });
  test("{{deliveredDate}}: midnight is 00 and summer time is kept", () => {
    const happening = status("sms", "delivered", { at: Date.parse("2026-07-01T22:00:00Z") }) as StatusEvent;
    const zone = "Europe/Berlin";
    expect(placeholderValues(happening, { ...REPORT_FACTS, zone }).deliveredDate).toBe("2026-07-02 00:00:00");
  });
  test.each(["failed", "unknown"] as const)("{{deliveredDate}}: empty when it is %s", (word) => {
    expect(values(status("sms", word)).deliveredDate).toBe("");
  });
  test.each([
    ["Delivered", "delivered"],
    ["Failed", "failed"],
    ["Pending", "unknown"],
  ] as const)("{{status}}: %s", (shown, word) => {
    expect(values(status("sms", word)).status).toBe(shown);
  });
  test("{{operatorCircle}}: the recipient's operator and circle", () => {
    expect(delivered.operatorCircle).toBe("Airtel, Punjab");
  });
  test("{{createdAt}}: a string of epoch milliseconds", () => expect(delivered.createdAt).toBe("1767225600250"));
  test("{{statusDescription}}: the detail, empty where there is none", () => {
    expect(delivered.statusDescription).toBe("Delivered to the phone");
    expect(values(status("sms", "failed", { description: null })).statusDescription).toBe("");
  });

  test("a value is read as a placeholder only when it is exactly one", () => {
    for (const name of PLACEHOLDERS) expect(readPlaceholder(`{{${name}}}`)).toBe(name);
  });

  test.each([
    "", "messageId", "{messageId}", "{{ messageId }}", "{{messageid}}", "{{messageId}} ", "{{text}}",
    "{{messageId}}{{status}}", "{{constructor}}",
  ])("%j is none", (value) => {
    expect(readPlaceholder(value)).toBeNull();
  }); // prettier-ignore
});

describe("delivery rule 1: with GET the report is the query", () => {
  const EIGHT =
    "messageId=0198f3a2-7c40-7d1e-9a51-3f0c8e2b6d47%3A1&mobileNumber=15550100100&senderName=HELIOG&errCode=000" +
    "&status=Delivered&createdAt=1767225600250&deliveredDate=2026-01-01%2005%3A30%3A04" +
    "&statusDescription=Delivered%20to%20the%20phone";

  test("the eight names of the sample, URL-encoded, in exactly these bytes", () => {
    const push = reported({ method: "GET" });
    expect(push).toEqual({ method: "GET", url: `https://shop.example/dlr?${EIGHT}`, headers: {}, body: null });
    expect(signedPayload(push)).toBe(EIGHT);
  });

  test.each([
    ["https://shop.example", `https://shop.example/?${EIGHT}`],
    ["https://shop.example/dlr?", `https://shop.example/dlr?${EIGHT}`],
    ["https://shop.example/dlr?key=a%20b&x", `https://shop.example/dlr?key=a%20b&x&${EIGHT}`],
    ["https://shop.example/dlr#top", `https://shop.example/dlr?${EIGHT}`],
  ])("it follows the query that %s has of its own", (url, whole) => {
    expect(reported({ method: "GET", url }).url).toBe(whole);
  });

  test("any values can be read back from the query, which has nothing else", () => {
    const short = fc.string({ unit: "binary", maxLength: 80 });
    fc.assert(
      fc.property(fc.record({ gateway: short, errorCode: short, description: short }), (words) => {
        const names = ["gatewayName", "errCode", "statusDescription"];
        const push = reported({ method: "GET", headers: pairsOf(...names) }, status("sms", "failed", words));
        expect(queryOf(push)).toEqual({
          gatewayName: words.gateway,
          errCode: words.errorCode,
          statusDescription: words.description,
        });
        expect(signedPayload(push)).toMatch(/^[!-~]+$/);
      }),
    );
  });

  test("a long carrier text leaves the URL short enough for servers", () => {
    fc.assert(
      fc.property(hostile, (description) => {
        const push = reported({ method: "GET" }, status("sms", "failed", { description }));
        expect(push.url.length).toBeLessThan(1024 + 400);
        const { statusDescription = "" } = queryOf(push);
        expect(description.toWellFormed().startsWith(statusDescription)).toBe(true);
      }),
    );
  });
});

describe("delivery rule 2: with POST the report is a JSON body", () => {
  test("the same eight names in exactly these bytes, createdAt a string and deliveredDate for people", () => {
    expect(reported({ method: "POST" })).toEqual({
      method: "POST",
      url: "https://shop.example/dlr",
      headers: { "content-type": "application/json" },
      body:
        `{"messageId":"${MESSAGE_ID}","mobileNumber":"15550100100","senderName":"HELIOG","errCode":"000",` +
        '"status":"Delivered","createdAt":"1767225600250","deliveredDate":"2026-01-01 05:30:04",' +
        '"statusDescription":"Delivered to the phone"}',
    });
  });

  test("any text of a carrier gives valid JSON", () => {
    fc.assert(
      fc.property(hostile, (description) => {
        const push = reported({}, status("sms", "failed", { description }));
        expect(fieldsOf(push)).toHaveProperty("statusDescription", description.toWellFormed());
      }),
    );
  });
});

describe("delivery rule 3: only what is configured is included", () => {
  test.each(PLACEHOLDERS)("%s alone", (name) => {
    expect(Object.keys(fieldsOf(reported({ method: "POST", headers: pairsOf(name) })))).toEqual([name]);
    expect(Object.keys(queryOf(reported({ method: "GET", headers: pairsOf(name) })))).toEqual([name]);
  });

  test("any choice of placeholders gives exactly these fields, by GET and by POST alike", () => {
    fc.assert(
      fc.property(fc.subarray([...PLACEHOLDERS], { minLength: 1 }), (names) => {
        const headers = pairsOf(...names);
        expect(Object.keys(fieldsOf(reported({ method: "POST", headers })))).toEqual(names);
        expect(queryOf(reported({ method: "GET", headers }))).toEqual(fieldsOf(reported({ method: "POST", headers })));
      }),
    );
  });

  test("a placeholder under two names is two headers and one field", () => {
    const push = reported({ headers: [pair("X-One", "{{status}}"), pair("X-Two", "{{status}}")] });
    expect(push.headers).toMatchObject({ "X-One": "Delivered", "X-Two": "Delivered" });
    expect(fieldsOf(push)).toEqual({ status: "Delivered" });
  });
});

describe("which statuses are reported", () => {
  test.each([
    ["delivered", "Delivered"],
    ["failed", "Failed"],
    ["unknown", "Pending"],
  ] as const)("%s is reported as %s", (word, shown) => {
    expect(fieldsOf(reported({}, status("sms", word)))).toHaveProperty("status", shown);
  });

  test.each(["sent", "read"] as const)("%s is not reported for SMS", (word) => {
    expect(deliveryReportRequest(config(), status("sms", word), REPORT_FACTS)).toBeNull();
  });

  test("there are no delivery reports for other channels or other events", () => {
    for (const happening of [status("rcs", "failed"), status("chatapp", "failed"), inbound("sms", text("Hi")), click])
      expect(deliveryReportRequest(config(), happening, REPORT_FACTS)).toBeNull();
  });
});

describe("the pairs of a configuration", () => {
  const faultsOf = (...pairs: HeaderPair[]): Fault[] => {
    const faults: Fault[] = [];
    checkHeaderPairs(pairs, faults, "headers");
    return faults;
  };

  test("any custom name with a placeholder is accepted", () => {
    expect(
      faultsOf(pair("X-Id", "{{messageId}}"), pair("status!", "{{status}}"), pair("a.b_c~1", "{{errCode}}")),
    ).toEqual([]);
    expect(faultsOf(...pairsOf(...PLACEHOLDERS))).toEqual([]);
  });

  test.each(["", " ", "X Id", "X-Id:", "X-Id\r\n", "X-É", "x\0", "(x)", "a".repeat(257)])(
    "%j cannot be the name of a header",
    (key) => {
      expect(faultsOf(pair(key, "{{status}}"))).toEqual([
        { parameter: "headers[0].key", message: expect.stringContaining("the name of an HTTP header") },
      ]);
    },
  );

  test.each([
    "Host", "Connection", "Keep-Alive", "Proxy-Authorization", "proxy-connection", "TE", "Trailer", "Trailers",
    "Transfer-Encoding", "UPGRADE", "Content-Type", "content-length", "Content-Anything", "Expect", "User-Agent",
    "Cookie", "Forwarded", "X-Forwarded-For", "webhook-id", "Webhook-Signature", "X-Amz-Date", "x-goog-iam",
    "X-Google-Metadata-Request", "Metadata-Flavor", "Metadata", "x-ms-version", "X-aws-ec2-metadata-token",
  ])("%s is not the customer's to set", (key) => {
    expect(faultsOf(pair(key, "{{status}}"))).toEqual([
      { parameter: "headers[0].key", message: expect.stringContaining("use another name") },
    ]);
  }); // prettier-ignore

  test.each(["", "Delivered", "{{status}} {{errCode}}", "{{nothing}}", "{{STATUS}}"])(
    "%j is no value, because it is not exactly one placeholder",
    (value) => {
      const faults: Fault[] = [];
      checkHeaderPair(pair("X-Id", value), faults, "headers[3]");
      expect(faults).toEqual([
        { parameter: "headers[3].value", message: expect.stringContaining("{{operatorCircle}}") },
      ]);
    },
  );

  test("a name given twice is refused, capitals or not", () => {
    expect(faultsOf(pair("X-Id", "{{status}}"), pair("x-iD", "{{errCode}}"))).toEqual([
      { parameter: "headers[1].key", message: expect.stringContaining("already") },
    ]);
  });

  test("twenty pairs are accepted, twenty-one refused", () => {
    const many = Array.from({ length: 21 }, (_, index) => pair(`X-${index}`, "{{status}}"));
    expect(faultsOf(...many.slice(1))).toEqual([]);
    expect(faultsOf(...many)).toEqual([{ parameter: "headers", message: expect.stringContaining("at most 20") }]);
  });

  test("all faults are reported at once", () => {
    expect(faultsOf(pair("Host", "x"), pair("", "{{status}}")).map(({ parameter }) => parameter)).toEqual([
      "headers[0].key",
      "headers[0].value",
      "headers[1].key",
    ]);
  });

  test("a free header name is accepted if HTTP allows it", () => {
    const isTaken = (name: string): boolean => faultsOf(pair(name, "{{status}}")).length === 0;
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: "binary", maxLength: 3 }), fc.string({ maxLength: 20 })), (rest) => {
        expect(isTaken(`x-own${rest}`)).toBe(isHeaderName(`x-own${rest}`));
      }),
      { numRuns: repetitions(400, 2000) },
    );
  });
});

function isHeaderName(name: string): boolean {
  try {
    validateHeaderName(name);
    return true;
  } catch {
    return false;
  }
}

describe("the value of a header", () => {
  test("characters that HTTP can hold stay unchanged", () => {
    expect(headerValue("Airtel, Punjab 100% café")).toBe("Airtel, Punjab 100% café");
  });

  test("control characters are dropped", () => {
    expect(headerValue("not\r\nX-Evil: 1\0\t\x7f\x85 delivered")).toBe("notX-Evil: 1 delivered");
  });

  test("characters outside Latin-1 are percent-encoded", () => {
    expect(headerValue("Ω 😀 é")).toBe("%CE%A9 %F0%9F%98%80 é");
    expect(headerValue("half \ud83d")).toBe("half %EF%BF%BD");
  });

  test("it has at most 4,096 bytes and ends between two characters", () => {
    expect(headerValue("a".repeat(65_536))).toHaveLength(4096);
    expect(headerValue(`abc${"😀".repeat(16_384)}`)).toBe(`abc${"%F0%9F%98%80".repeat(341)}`);
  });

  test("no text of a carrier breaks a request", () => {
    fc.assert(
      fc.property(hostile, (words) => {
        const value = headerValue(words);
        expect(() => validateHeaderValue("x-any", value)).not.toThrow();
        expect(Buffer.byteLength(value, "latin1")).toBeLessThanOrEqual(4096);
        expect(value).not.toMatch(/[^\x20-\x7e\xa0-\xff]/);
      }),
      { numRuns: repetitions(300, 1000) },
    );
  });
});

describe("a value in a query", () => {
  test("it can be decoded wherever it was cut", () => {
    fc.assert(
      fc.property(hostile, (words) => {
        const value = queryValue(words);
        expect(value.length).toBeLessThanOrEqual(1024);
        expect(words.toWellFormed().startsWith(decodeURIComponent(value))).toBe(true);
      }),
      { numRuns: repetitions(300, 1000) },
    );
  });
});

describe("a webhook request on the wire", () => {
  const seen: { method: string | undefined; url: string | undefined; rawHeaders: string[]; body: string }[] = [];
  const server = createServer((incoming: IncomingMessage, answer) => {
    void incoming.toArray().then((chunks) => {
      const { method, url, rawHeaders } = incoming;
      seen.push({ method, url, rawHeaders, body: Buffer.concat(chunks as Buffer[]).toString() });
      answer.end();
    });
  });
  let base = "";
  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  const names = ["messageId", "errCode", "statusDescription", "gatewayName", "senderName"];
  const ours = [...names.map((name) => `X-${name}`), "webhook-id", "webhook-timestamp", "webhook-signature"];

  test.each(["GET", "POST"] as const)(
    "%s: however hostile the words, one request arrives, with our headers and what was signed",
    async (method) => {
      const secrets = [newSecret()];
      const bad = fc.sample(hostile, { numRuns: 60, seed: 1 });
      for (const [index, description] of bad.entries()) {
        const happening = status("sms", "failed", { description, errorCode: bad.at(-1 - index) ?? "" });
        const settings = { method, url: `${base}/dlr?key=a%20b'c`, headers: pairsOf(...names) };
        const push = reported(settings, happening);
        const payload = signedPayload(push);
        const signature = sign({ id: EVENT_ID, timestampSeconds: 1_767_225_604, payload, secrets });
        const answer = await request(push.url, { method, headers: { ...push.headers, ...signature }, body: push.body });
        await answer.body.dump();
        expect(answer.statusCode).toBe(200);
        expect(seen).toHaveLength(1);
        const [arrived] = seen.splice(0);
        const custom = (arrived?.rawHeaders ?? []).filter((name, place) => place % 2 === 0 && ours.includes(name));
        expect(custom).toEqual(ours);
        expect(arrived?.method).toBe(method);
        expect(method === "GET" ? arrived?.url?.split("?")[1] : arrived?.body).toBe(payload);
      }
    },
  );
});
