import type { Channel, SendChannel } from "../../model/message.ts";

/** One end of a message: the channel and the number, sender or bot on it. */
export interface Address {
  channel: SendChannel;
  name: string;
}

const PREFIXES: Readonly<Record<string, SendChannel>> = { "whatsapp:": "chatapp", "rcs:": "rcs" };

/** Reads `+15550100100`, `HELIOG`, `whatsapp:+15550100100` or `rcs:shop`. */
export function readAddress(written: string): Address {
  const trimmed = written.trim();
  if (!trimmed.includes(":")) return { channel: "sms", name: trimmed };
  for (const [prefix, channel] of Object.entries(PREFIXES))
    if (trimmed.toLowerCase().startsWith(prefix)) return { channel, name: trimmed.slice(prefix.length).trim() };
  return { channel: "sms", name: trimmed };
}

const INTERNATIONAL = /^[1-9][0-9]{6,14}$/;

/** A number with its plus; a sender id, a short code or a bot as it is. */
const withPlus = (name: string): string => (INTERNATIONAL.test(name) ? `+${name}` : name);

/** An address as Twilio writes it. */
export function writeAddress(channel: Channel, name: string): string {
  if (channel === "chatapp") return `whatsapp:${withPlus(name)}`;
  return channel === "rcs" ? `rcs:${withPlus(name)}` : withPlus(name);
}
