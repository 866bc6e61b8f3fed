import type { Services } from "../../http/route.ts";
import { replyOnce } from "../reply-once.ts";
import { writeAddress } from "./addresses.ts";
import type { TwimlReply } from "./delivery.ts";
import { ENDPOINTS, readMessage } from "./read-message.ts";

/** Sends a message of a TwiML response. */
export const sendReply = (services: Services, reply: TwimlReply): Promise<boolean> =>
  replyOnce(services, reply, "twiml", (catalog) => {
    const { inbound, message, credential } = reply;
    const { channel } = inbound;
    const fields = new Map([
      ["From", [message.from ?? writeAddress(channel, inbound.to)]],
      ["To", [message.to ?? writeAddress(channel, inbound.from)]],
      ["Body", [message.text]],
    ]);
    const request = readMessage(fields, credential, catalog);
    return { channel: request.channel, endpoint: ENDPOINTS[request.channel], body: request.body };
  });
