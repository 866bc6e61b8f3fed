import {
  EVERY_PROVIDER,
  type CustomerEvent,
  type MessageSnapshot,
  type StatusEvent,
  type StatusWord,
  type WebhookChannel,
} from "../../model/callback.ts";
import type { InboundContent, InboundDetails } from "../../model/inbound.ts";
import type { SendChannel } from "../../model/message.ts";
import { eventBody, reportBody } from "../../webhooks/payloads/event.ts";
import { placeholderValues } from "../../webhooks/payloads/placeholders.ts";
import { deliveryReportRequest } from "../../webhooks/payloads/delivery-report.ts";

const REQUEST_ID = "0198f3a2-7c40-7d1e-9a51-3f0c8e2b6d47";
export const EVENT_ID = "0198f3a2-7c60-7a1e-8a51-3f0c8e2b6d47";
const AT = 1767225600250;
const PHONE = "15550100100";
const OUR_SIDE: Readonly<Record<SendChannel, string>> = { sms: "HELIOG", rcs: "heliograph", chatapp: "+15550100199" };

const factsOf = (channel: SendChannel): MessageSnapshot => ({
  messageId: `${REQUEST_ID}:1`,
  channel,
  recipient: PHONE,
  sender: OUR_SIDE[channel],
  credits: 1,
  createdAt: AT - 250,
  session: false,
});

const statusOf = (channel: SendChannel, status: StatusWord): StatusEvent => ({
  kind: "status",
  status,
  at: AT,
  message: factsOf(channel),
  gateway: "simulator",
  errorCode: status === "failed" ? "001" : "000",
  description: status === "failed" ? "The phone could not be reached" : "Delivered to the phone",
});

/** Built by the code that builds real payloads, so that the reference cannot drift. */
const exampleOf = (channel: WebhookChannel, happening: CustomerEvent): object =>
  eventBody(happening, channel, EVENT_ID) ?? {};

const answered = (channel: SendChannel, content: InboundContent, details?: InboundDetails): object =>
  exampleOf(channel, {
    kind: "inbound",
    at: AT,
    inbound: {
      accountId: 0,
      id: EVENT_ID,
      channel,
      from: PHONE,
      to: OUR_SIDE[channel],
      content,
      answers: { requestId: REQUEST_ID, n: 1 },
      ...(details && { details }),
      at: AT,
    },
  });

const report = (status: StatusWord): StatusEvent => statusOf("sms", status);
const FACTS = { operatorCircle: () => "Example Mobile", zone: "UTC" };

/** Report of a configuration without headers. */
function usual(status: StatusWord): object {
  const config = { provider: EVERY_PROVIDER, method: "POST", url: "https://shop.example/", headers: [] } as const;
  const push = deliveryReportRequest(
    { ...config, enabled: true, disabledReason: null, secrets: [] },
    report(status),
    FACTS,
  );
  return JSON.parse(push?.body ?? "{}") as object;
}

/** All eleven fields. */
export const smsReport = (): Readonly<Record<string, string>> => placeholderValues(report("delivered"), FACTS);

export const smsReportExamples = (): Record<string, object> => ({
  delivered: usual("delivered"),
  failed: usual("failed"),
  "with every field": smsReport(),
});

export const REPORT_EVENT_EXAMPLES = {
  delivered: reportBody(report("delivered"), "sms", FACTS) ?? {},
  failed: reportBody(report("failed"), "sms", FACTS) ?? {},
};

export const statusExamples = (channel: SendChannel): Record<string, object> => ({
  delivered: exampleOf(channel, statusOf(channel, "delivered")),
  read: exampleOf(channel, statusOf(channel, "read")),
});

export const SENT_EXAMPLES = {
  template: exampleOf("chatapp", { kind: "sent", at: AT, message: factsOf("chatapp") }),
};

export const CLICK_EXAMPLES = {
  "a person": exampleOf("sms", {
    kind: "click",
    at: AT,
    message: factsOf("sms"),
    url: "https://shop.example/orders/4711",
    code: "7Kp2mXa",
    agent: "person",
  }),
};

export const VERIFICATION_EXAMPLES = {
  "the code was typed in": exampleOf("verify", {
    kind: "verification",
    at: AT,
    verification: {
      id: "01a1dd78-41f9-7000-9a8e-5f0f6f1a2b3c",
      config: "default",
      number: "15550100100",
      state: "verified",
      checks: 1,
      test: false,
    },
  }),
};

export const ALERT_EXAMPLES = {
  "a carrier is down": exampleOf("system", {
    kind: "alert",
    at: AT,
    alert: {
      id: "01a1dd78-41f9-7000-9a8e-5f0f6f1a2b3d",
      ruleName: "Carrier down",
      alert: "carrier_down",
      subject: "operator",
      subjectName: "operator",
      state: "open",
      value: 2,
      threshold: 2,
    },
  }),
};

/** Examples of inbound messages of a channel. */
export function answerExamples(channel: SendChannel): Record<string, object> {
  const written = { text: answered(channel, { kind: "text", text: "Thank you" }) };
  if (channel === "sms") return written;
  const tapped = (type: "REPLY" | "ACTION" | "DIALER", plainText: string, data: string): object =>
    answered(channel, { kind: "suggestion", type, plainText, data });
  const payload = {
    mimeType: "image/jpeg",
    fileSizeBytes: 48213,
    fileName: "door.jpg",
    fileUri: "https://files.example/door.jpg",
  };
  const withDetails = channel === "chatapp" && {
    reaction: answered(channel, { kind: "text", text: "👍" }, { kind: "reaction", reaction: { emoji: "👍" } }),
    "from an advertisement": answered(
      channel,
      { kind: "text", text: "Is it still for sale?" },
      {
        kind: "text",
        referral: {
          sourceType: "ad",
          sourceId: "120226305854810726",
          sourceUrl: "https://fb.me/3cr4Wqqkv",
          headline: "Autumn sale",
          clickId: "AffWUr9vYI",
        },
      },
    ),
  };
  return {
    ...written,
    ...withDetails,
    "reply button": tapped("REPLY", "Yes, please", "confirm-4711"),
    link: tapped("ACTION", "Track the parcel", "track-4711"),
    "call button": tapped("DIALER", "Call us", "+15550100199"),
    file: answered(channel, { kind: "file", file: { category: "image", payload, thumbnail: null } }),
    place: answered(channel, { kind: "location", latitude: 48.8584, longitude: 2.2945 }),
  };
}
