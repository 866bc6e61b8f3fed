import { COMMAND_IDS } from "./commands.ts";
import { LAYOUTS } from "./layouts/layouts.ts";
import { HEADER_LENGTH, PDU_LENGTH_MAX } from "./lengths.ts";
import type { Pdu } from "./pdu.ts";
import { PduWriter } from "./pdu-writer.ts";

/** The octets of a PDU. Throws a RangeError that names the field where one cannot hold what it is given. */
export function encode(pdu: Pdu, sequence: number): Buffer {
  const octets = Buffer.allocUnsafe(lengthOf(pdu));
  encodeInto(octets, 0, octets.length, pdu, sequence);
  return octets;
}

/** How many octets it takes, header and all. */
export const lengthOf = (pdu: Pdu): number => HEADER_LENGTH + LAYOUTS[pdu.command].length(pdu);

/** For whoever gathers PDUs: writes one at `at`, where there must be room for its `length`. */
export function encodeInto(octets: Buffer, at: number, length: number, pdu: Pdu, sequence: number): void {
  if (length > PDU_LENGTH_MAX)
    throw new RangeError(`${pdu.command} has ${length} octets; a PDU takes ${PDU_LENGTH_MAX}, so shorten it`);
  const writer = new PduWriter(octets, at);
  writer.uint32(length);
  writer.uint32(COMMAND_IDS[pdu.command]);
  writer.uint32("status" in pdu ? pdu.status : 0);
  writer.uint32(sequence);
  LAYOUTS[pdu.command].write(writer, pdu);
}
