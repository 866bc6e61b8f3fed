import { commandOf } from "../../smpp/commands.ts";
import type { Decoded } from "../../smpp/decode.ts";

/** One PDU of a session, without text and with masked numbers. */
export interface TracedPdu {
  at: number;
  direction: "in" | "out";
  sequence: number;
  /** The command id in hexadecimal if there is no such command. */
  command: string;
  status: number | null;
  messageId: string | null;
  source: string | null;
  destination: string | null;
  /** The reason why the PDU could not be read. */
  fault: string | null;
}

const KEPT_MS = 60_000;
const KEPT_MAX = 200;
const DIGITS_SHOWN = 4;

/** The last PDUs of a session, at most those of the last minute. */
export class PduTrace {
  #pdus: TracedPdu[] = [];

  add(at: number, direction: TracedPdu["direction"], seen: Decoded): void {
    this.#pdus.push({ at, direction, ...tracedOf(seen) });
    // Halves the list in one step, so that most calls copy nothing.
    if (this.#pdus.length > 2 * KEPT_MAX) this.#pdus = this.#pdus.slice(-KEPT_MAX);
  }

  last(now: number): readonly TracedPdu[] {
    return this.#pdus.slice(-KEPT_MAX).filter(({ at }) => at > now - KEPT_MS);
  }
}

function tracedOf(seen: Decoded): Omit<TracedPdu, "at" | "direction"> {
  const { sequence } = seen;
  if (seen.kind === "malformed") {
    const command = commandOf(seen.commandId) ?? `0x${seen.commandId.toString(16).padStart(8, "0")}`;
    return { sequence, command, status: null, messageId: null, source: null, destination: null, fault: seen.reason };
  }
  const { pdu } = seen;
  return {
    sequence,
    command: pdu.command,
    status: "status" in pdu ? pdu.status : null,
    messageId: "messageId" in pdu && pdu.messageId !== "" ? pdu.messageId : null,
    source: "source" in pdu ? masked(pdu.source.address) : null,
    destination: "destination" in pdu ? masked(pdu.destination.address) : null,
    fault: null,
  };
}

/** Phone numbers show their last four digits; short codes and names are no personal data. */
const masked = (address: string): string =>
  /^\+?[0-9]{7,}$/.test(address) ? address.slice(-DIGITS_SHOWN).padStart(address.length, "•") : address;
