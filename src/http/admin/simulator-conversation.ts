import { findOnPhone, type PhoneInView } from "../../carriers/simulator/find.ts";
import { isPlainText } from "../../lib/text.ts";
import type { InboundMessage } from "../../model/inbound.ts";
import { parseMessageId, type Channel } from "../../model/message.ts";
import { readNumber } from "../../model/number.ts";
import type { PhoneMessage } from "../../model/phone.ts";
import { refuseFaults, type Fault } from "../../model/problem.ts";
import type { AuthenticCall, Services } from "../route.ts";
import { seesTestsOnly } from "../auth/test-mode.ts";
import { notAPhone, readPhoneNumber } from "./simulator.ts";

/** Recipient of a reply. Omitted fields default to those of the last message. */
export interface Addressed {
  to?: string;
  channel?: Channel;
}

export type Conversation = Pick<InboundMessage, "channel" | "to" | "answers"> & { test: boolean };

/** Phone of the path. */
export const phoneOf = ({ params, caller }: AuthenticCall): PhoneInView => ({
  accountId: caller.account.id,
  number: readPhoneNumber(params.number, "number"),
  testOnly: seesTestsOnly(caller),
});

/** Resolves sender and channel of a reply, and the last message from that sender. */
export async function conversationOf(
  { store }: Services,
  call: AuthenticCall,
  addressed: Addressed,
  channels: readonly Channel[],
): Promise<Conversation> {
  const last = await lastOf(store, call, addressed, channels);
  if (last) return { channel: last.channel, to: last.sender, answers: parseMessageId(last.messageId), test: last.test };
  return { ...firstWords(addressed, channels), answers: null, test: seesTestsOnly(call.caller) };
}

/** Last message that matches the given sender and channel, on one of these channels. */
const lastOf = (
  store: Services["store"],
  call: AuthenticCall,
  { to, channel }: Addressed,
  channels: readonly Channel[],
): Promise<PhoneMessage | null> =>
  findOnPhone(
    store,
    phoneOf(call),
    (message) =>
      channels.includes(message.channel) &&
      (channel === undefined || message.channel === channel) &&
      (to === undefined || message.sender === senderOf(message.channel, to)),
  );

/** Checks the recipient of a reply and the phone number. */
export async function conversationFaults(
  { store }: Services,
  call: AuthenticCall,
  { to, channel }: Addressed,
  channels: readonly Channel[],
): Promise<Fault[]> {
  if (readNumber(call.params.number ?? "") === null) return [...toFaults(to, channel), notAPhone("number")];
  const faults = toFaults(to, channel);
  // Treats an invalid field as omitted, so that faults which do not depend on it are still found.
  const known = { ...(to !== undefined && faults.length === 0 && { to }), ...(channel && { channel }) };
  if (await lastOf(store, call, known, channels)) return faults;
  const missing = missingFaults(known, channels).filter(({ parameter }) => parameter !== "to" || to === undefined);
  return [...faults, ...missing];
}

function toFaults(to: string | undefined, channel: Channel | undefined): Fault[] {
  if (to === undefined) return [];
  if (!isPlainText(to))
    return [{ parameter: "to", message: "to must be a sender, bot or business number, on one line." }];
  if (channel !== "chatapp" || readNumber(to) !== null) return [];
  const message = "On the chat app, to must be a business number: country code first, 7 to 15 digits.";
  return [{ parameter: "to", message }];
}

const channelFor = (channel: Channel | undefined, channels: readonly Channel[]): Channel | undefined =>
  channel ?? channels.find((each) => each === "sms");

function missingFaults({ to, channel }: Addressed, channels: readonly Channel[]): Fault[] {
  const faults: Fault[] = [];
  if (to === undefined)
    faults.push({
      parameter: "to",
      message: "The phone has no message to reply to: specify to.",
    });
  if (channelFor(channel, channels) === undefined)
    faults.push({
      parameter: "channel",
      message: `The phone has no message to reply to: specify ${channels.join(" or ")}.`,
    });
  return faults;
}

/** A phone without messages can write first if sender and channel are given. */
function firstWords({ to, channel }: Addressed, channels: readonly Channel[]): Omit<Conversation, "answers" | "test"> {
  // The phone's messages may have been deleted since the body was checked.
  refuseFaults(missingFaults({ ...(to !== undefined && { to }), ...(channel && { channel }) }, channels));
  const by = channelFor(channel, channels);
  return { channel: by ?? "sms", to: senderOf(by ?? "sms", to ?? "") };
}

/** Sender in stored notation: chat-app numbers have a plus, which callers may omit. */
function senderOf(channel: Channel, to: string): string {
  const number = channel === "chatapp" ? readNumber(to) : null;
  return number === null ? to : `+${number}`;
}
