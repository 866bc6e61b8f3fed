import { waysBody } from "../../channels/ways/body.ts";
import { readWays, type WaysDraft } from "../../channels/ways/read.ts";
import { prepareWays } from "../../pipeline/accept/prepare-ways.ts";
import { refuseMissingScope } from "../auth/authenticate.ts";
import type { SendRoute } from "../route.ts";
import {
  SEND_DESCRIPTION,
  SEND_HEADERS,
  SEND_PROBLEMS,
  SendResponse,
  sendThrough,
  sentExample,
  type ChannelEndpoint,
} from "./send.ts";

const PATH = "/v1/messages";

/** `POST /v1/messages`: one message with several ways to its recipient. Next: src/channels/ways/read.ts */
const waysEndpoint: ChannelEndpoint<WaysDraft> = {
  path: PATH,
  read: ({ smsRules, clock }, { body, caller }) => {
    const draft = readWays(body, smsRules, caller.account.settings, clock.now());
    // A key must not reach by a way what it may not send directly.
    for (const { channel } of draft.ways) refuseMissingScope(caller.key, channel);
    return draft;
  },
  prepare: ({ prepareDeps }, request) => prepareWays(prepareDeps, request),
  echo: ({ recipients }) => ({ recipients: recipients.map(({ number }) => number) }),
};

const example = {
  to: "15550100100",
  type: "TRANS",
  ways: [
    { channel: "rcs", botId: "heliograph", templateName: "order-shipped", content: [{ params: ["Ada", "4711"] }] },
    {
      channel: "chatapp",
      from: "+15550100199",
      templateName: "order_shipped",
      components: { body: { params: ["Ada", "4711"] } },
    },
    { channel: "sms", sender: "HELIOG", text: "Ada, your order 4711 is on its way." },
  ],
  moveOnAfterSeconds: 30,
};

export const sendMessage: SendRoute = {
  fastPath: true,
  method: "POST",
  path: PATH,
  family: "send",
  scope: "sms",
  testKeys: "sms",
  group: "Messages",
  summary: "Send by several channels in order",
  description:
    "Accepts one message with an ordered list of ways, one per channel. It takes the next way when the number cannot be reached by this one, when it fails, or when no delivery comes within `moveOnAfterSeconds`. " +
    "It keeps its `messageId`, and is paid for once, at the price of the dearest way. A late delivery by an earlier way counts. " +
    "The key needs the scope of every channel in `ways` besides `sms`. " +
    SEND_DESCRIPTION,
  headers: SEND_HEADERS,
  problems: [
    ...SEND_PROBLEMS,
    "BOT_NOT_FOUND",
    "TEMPLATE_KIND_MISMATCH",
    "TEXT_TEMPLATE_MISMATCH",
    "MEDIA_NOT_FOUND",
    "MEDIA_TYPE_UNSUPPORTED",
    "MEDIA_TOO_LARGE",
  ],
  body: waysBody,
  checkBody: false,
  requestExamples: {
    "three ways": example,
    "a text message after RCS": {
      ...example,
      type: "PROMO",
      campaignName: "autumn",
      ways: [{ channel: "rcs", botId: "heliograph", templateName: "autumn-sale" }, example.ways[2]],
    },
  },
  response: SendResponse,
  responseExample: sentExample(example.to),
  handle: sendThrough(waysEndpoint),
};
