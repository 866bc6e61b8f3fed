import type { Inbound, PhoneMessage } from "../../api-types.ts";
import { t } from "../../i18n/t.ts";
import type { Channel } from "../../parts/channel.tsx";
import { binaryTitle, isBinary } from "../../parts/phone/octets.tsx";

type Entry =
  | { kind: "in"; at: number; id: string; message: PhoneMessage }
  | { kind: "out"; at: number; id: string; inbound: Inbound };

/** One conversation on a phone: a channel and a sender, bot or business number. */
export interface Thread {
  key: string;
  channel: Channel;
  sender: string;
  /** Oldest first. */
  entries: Entry[];
  last: Entry;
}

const keyOf = (channel: string, sender: string): string => `${channel} ${sender}`;

/** The messages of a phone by conversation, the most recent conversation first. */
export function threadsOf(messages: readonly PhoneMessage[], answers: readonly Inbound[]): Thread[] {
  const entries: (Entry & { channel: Channel; sender: string })[] = [
    ...messages.map((message) => ({
      kind: "in" as const,
      at: message.receivedAt,
      id: message.id,
      message,
      channel: message.channel,
      sender: message.sender,
    })),
    ...answers.map((inbound) => ({
      kind: "out" as const,
      at: inbound.receivedAt,
      id: inbound.id,
      inbound,
      channel: inbound.channel,
      sender: inbound.to,
    })),
  ].toSorted((a, b) => a.at - b.at);
  const threads = new Map<string, Thread>();
  for (const entry of entries) {
    const key = keyOf(entry.channel, entry.sender);
    const thread = threads.get(key);
    if (thread) {
      thread.entries.push(entry);
      thread.last = entry;
    } else {
      threads.set(key, { key, channel: entry.channel, sender: entry.sender, entries: [entry], last: entry });
    }
  }
  return [...threads.values()].toSorted((a, b) => b.last.at - a.last.at);
}

/** The last message in one line. */
export const excerptOf = ({ last }: Thread): string =>
  last.kind === "in" ? entryText(last) : t("You: {text}", { text: entryText(last) });

/** A message in one line. */
export function entryText(entry: Entry): string {
  if (entry.kind === "in") {
    const { message } = entry;
    return isBinary(message) ? binaryTitle(message.text) : message.text || message.cards?.[0]?.title || t("A message");
  }
  const { text, suggestionResponse, userFile } = entry.inbound;
  return text || suggestionResponse?.plainText || userFile?.payload.fileName || t("a location");
}
