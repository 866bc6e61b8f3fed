import type { EndpointRecord } from "../../records/catalog.ts";
import { newId } from "../../lib/ids.ts";
import {
  CHANNEL_EVENTS,
  channelsOf,
  EVERY_PROVIDER,
  type Callback,
  type CustomerEvent,
  type MessageSnapshot,
  type WebhookChannel,
  type WebhookContent,
  type WebhookEvent,
} from "../../model/callback.ts";
import { SIMULATOR } from "../../model/catalog.ts";
import { messageIdOf, type SendChannel } from "../../model/message.ts";

const OUR_SIDE: Readonly<Record<SendChannel, string>> = { sms: "HELIOG", rcs: "heliograph", chatapp: "+15550100199" };
const RECIPIENT = "15550100100";

/** A sample callback for testing an endpoint; its message does not exist. */
export function sampleFor(endpoint: EndpointRecord, event: WebhookEvent | null, now: number): Callback {
  const { accountId, id: endpointId, content } = endpoint;
  const common = { accountId, eventId: newId(now), endpointId, attempts: 0 };
  if ("provider" in content) {
    const gateway = content.provider === EVERY_PROVIDER ? SIMULATOR : content.provider;
    return { ...common, happening: delivered("sms", now, gateway) };
  }
  const wanted = event ?? firstEvent(content);
  const channel = channelsOf(content).find((each) => CHANNEL_EVENTS[each].includes(wanted)) ?? content.channel;
  return { ...common, happening: happeningOf(channel, wanted, accountId, now) };
}

const firstEvent = ({ events }: WebhookContent): WebhookEvent => events[0] ?? "user_message";

function happeningOf(channel: WebhookChannel, event: WebhookEvent, accountId: number, at: number): CustomerEvent {
  if (channel === "verify" || event === "verification_status") return verified(at);
  if (channel === "system" || event === "alert_status") return alerted(at);
  const message = factsOf(channel, at);
  switch (event) {
    case "message_status":
    case "delivery_report":
      return delivered(channel, at, SIMULATOR);
    case "message_sent":
      return { kind: "sent", at, message };
    case "link_click":
      return { kind: "click", at, message, url: "https://shop.example/orders/4711", code: "7Kp2mXa", agent: "person" };
    case "user_message":
    default:
      return {
        kind: "inbound",
        at,
        inbound: {
          accountId,
          id: newId(at),
          channel,
          from: RECIPIENT,
          to: message.sender,
          content: { kind: "text", text: "Thank you" },
          answers: null,
          at,
        },
      };
  }
}

const verified = (at: number): CustomerEvent => ({
  kind: "verification",
  at,
  verification: { id: newId(at), config: "default", number: RECIPIENT, state: "verified", checks: 1, test: false },
});

const alerted = (at: number): CustomerEvent => ({
  kind: "alert",
  at,
  alert: {
    id: newId(at),
    ruleName: "Carrier down",
    alert: "carrier_down",
    subject: "operator",
    subjectName: "operator",
    state: "open",
    value: 2,
    threshold: 2,
  },
});

const delivered = (channel: SendChannel, at: number, gateway: string): CustomerEvent => ({
  kind: "status",
  status: "delivered",
  at,
  message: factsOf(channel, at),
  gateway,
  errorCode: "000",
  description: "Delivered to the phone",
});

const factsOf = (channel: SendChannel, at: number): MessageSnapshot => ({
  messageId: messageIdOf({ requestId: newId(at), n: 1 }),
  channel,
  recipient: RECIPIENT,
  sender: OUR_SIDE[channel],
  credits: 1,
  createdAt: at,
  session: false,
});
