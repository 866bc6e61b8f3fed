import type { Command } from "./commands.ts";
import { LAYOUTS, type Entry } from "./layouts/layouts.ts";
import { HEADER_LENGTH, PDU_LENGTH_MAX } from "./lengths.ts";
import type { Pdu } from "./pdu.ts";
import { PduWriter } from "./pdu-writer.ts";

/** Encodes one PDU. Throws a RangeError that names the field whose value is too long. */
export function encode(pdu: Pdu, sequence: number): Buffer {
  const layout = layoutFor(pdu.command);
  const length = lengthOf(layout, pdu);
  const octets = Buffer.allocUnsafe(length);
  write(octets, 0, length, layout, pdu, sequence);
  return octets;
}

/** Encodes one PDU at `at` and returns its length. If it does not fit, writes nothing and returns the negative length. */
export function encodeInto(octets: Buffer, at: number, pdu: Pdu, sequence: number): number {
  const layout = layoutFor(pdu.command);
  const length = lengthOf(layout, pdu);
  if (length > octets.length - at) return -length;
  write(octets, at, length, layout, pdu, sequence);
  return length;
}

let lastCommand: Command = "submit_sm";
let lastLayout: Entry = LAYOUTS[lastCommand];

/** Saves the lookup: most PDUs have the same command as the one before. */
function layoutFor(command: Command): Entry {
  if (command !== lastCommand) {
    lastCommand = command;
    lastLayout = LAYOUTS[command];
  }
  return lastLayout;
}

function lengthOf(layout: Entry, pdu: Pdu): number {
  const length = HEADER_LENGTH + layout.length(pdu);
  if (length > PDU_LENGTH_MAX)
    throw new RangeError(`${pdu.command} has ${length} octets; a PDU takes ${PDU_LENGTH_MAX}, so shorten it`);
  return length;
}

function write(octets: Buffer, at: number, length: number, layout: Entry, pdu: Pdu, sequence: number): void {
  const writer = new PduWriter(octets, at);
  writer.uint32(length);
  writer.uint32(layout.id);
  writer.uint32("status" in pdu ? pdu.status : 0);
  writer.uint32(sequence);
  layout.write(writer, pdu);
}
