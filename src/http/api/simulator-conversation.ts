import { findOnPhone } from "../../carriers/simulator/find.ts";
import { isPlainText } from "../../lib/plain-text.ts";
import type { InboundMessage } from "../../model/inbound.ts";
import { parseMessageId, type Channel } from "../../model/message.ts";
import { readNumber } from "../../model/number.ts";
import type { PhoneMessage } from "../../model/phone.ts";
import type { Fault } from "../../model/problem.ts";
import { refuseFaults } from "../page-query.ts";
import type { AuthenticCall, Services } from "../route.ts";
import { readPhoneNumber } from "./simulator.ts";

/** Whom a phone's owner writes to; what is not given is that of the last message. */
export interface Addressed {
  to?: string;
  channel?: Channel;
}

export type Conversation = Pick<InboundMessage, "channel" | "to" | "answers">;

/** The phone that a call is about. */
export const phoneOf = ({ params, caller }: AuthenticCall): Pick<PhoneMessage, "accountId" | "number"> => ({
  accountId: caller.account.id,
  number: readPhoneNumber(params.number, "number"),
});

/** The sender that a phone's owner means, on one of these channels, and the last thing that it said there. */
export async function conversationOf(
  { store }: Services,
  call: AuthenticCall,
  addressed: Addressed,
  channels: readonly Channel[],
): Promise<Conversation> {
  const { to, channel } = addressed;
  if (to !== undefined && !isPlainText(to))
    refuseFaults([{ parameter: "to", message: "to is a sender, a bot or a business number, on one line." }]);
  const last = await findOnPhone(
    store,
    phoneOf(call),
    (message) =>
      channels.includes(message.channel) &&
      (channel === undefined || message.channel === channel) &&
      (to === undefined || message.sender === senderOf(message.channel, to)),
  );
  if (last) return { channel: last.channel, to: last.sender, answers: parseMessageId(last.messageId) };
  return { ...firstWords(addressed, channels), answers: null };
}

/** Whoever has not been written to may write first, but must say to whom. */
function firstWords({ to, channel }: Addressed, channels: readonly Channel[]): Omit<Conversation, "answers"> {
  const by = channel ?? channels.find((each) => each === "sms");
  const faults: Fault[] = [];
  if (to === undefined)
    faults.push({
      parameter: "to",
      message: "Nothing lies on the phone that could be answered: say whom to write to.",
    });
  if (by === undefined)
    faults.push({
      parameter: "channel",
      message: `Nothing lies on the phone that could be answered: say ${channels.join(" or ")}.`,
    });
  if (to !== undefined && by === "chatapp" && readNumber(to) === null)
    faults.push({
      parameter: "to",
      message: "On the chat app, to is a business number: country code first, 7 to 15 digits.",
    });
  refuseFaults(faults);
  return { channel: by ?? "sms", to: senderOf(by ?? "sms", to ?? "") };
}

/** A sender as messages name it: the chat app's are numbers with a plus, which people leave out. */
function senderOf(channel: Channel, to: string): string {
  const number = channel === "chatapp" ? readNumber(to) : null;
  return number === null ? to : `+${number}`;
}
