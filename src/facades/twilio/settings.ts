import type { StoredCredential } from "../../model/credential.ts";
import type { RouteClass } from "../../model/message.ts";
import {
  addressField,
  classField,
  classSetting,
  listSetting,
  methodField,
  nameField,
  numbersField,
  textSetting,
} from "../setting-fields.ts";

/** The settings as `/api/credentials` takes them. */
export const TWILIO_SETTINGS = {
  sender: nameField("the sender of requests that name a Messaging Service and no From."),
  type: classField,
  statusCallback: addressField("status callbacks of messages without an address of their own go there."),
  inboundUrl: addressField("inbound messages go there."),
  inboundMethod: methodField,
  inboundNumbers: numbersField("a number, sender or bot, such as +15550100199 or whatsapp:+15550100199."),
};

/** The settings of a Twilio credential: what Twilio keeps with an account, a number or a Messaging Service. */
interface TwilioSettings {
  /** Sender of requests that name a Messaging Service and no From. */
  sender: string | null;
  /** Class of text messages, which Twilio's API does not name. */
  type: RouteClass;
  /** Address of status callbacks that name none. */
  statusCallback: string | null;
  /** Address for inbound messages; null if they are not sent. */
  inboundUrl: string | null;
  inboundMethod: "GET" | "POST";
  /** Senders whose inbound messages go there; empty for all. */
  inboundNumbers: readonly string[];
}

/** The settings that are stored with a credential; they were checked when they were stored. */
export function settingsOf(credential: Pick<StoredCredential, "settings">): TwilioSettings {
  return {
    sender: textSetting(credential, "sender"),
    type: classSetting(credential),
    statusCallback: textSetting(credential, "statusCallback"),
    inboundUrl: textSetting(credential, "inboundUrl"),
    inboundMethod: textSetting(credential, "inboundMethod") === "GET" ? "GET" : "POST",
    inboundNumbers: listSetting(credential, "inboundNumbers"),
  };
}
