import { smsEndpoint } from "../../http/public/sms.ts";
import type { Services } from "../../http/route.ts";
import type { InboundMessage } from "../../model/inbound.ts";
import { replyOnce, type Reply } from "../reply-once.ts";
import { senderNamed } from "../sender-name.ts";
import { settingsOf } from "./settings.ts";

/** The text that a service of a credential sends back to a phone. */
export interface KannelReply extends Reply {
  inbound: InboundMessage;
  text: string;
  /** Null for the number that the phone wrote to. */
  sender: string | null;
}

export const sendKannelReply = (services: Services, reply: KannelReply): Promise<boolean> =>
  replyOnce(services, reply, "sms-service", (catalog) => {
    const { inbound, text, sender, credential } = reply;
    return {
      channel: "sms",
      endpoint: smsEndpoint,
      body: {
        sender: senderNamed(catalog, sender ?? inbound.to),
        to: `+${inbound.from}`,
        text,
        type: settingsOf(credential).type,
      },
    };
  });
