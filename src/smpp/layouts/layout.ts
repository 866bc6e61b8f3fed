import type { Command } from "../commands.ts";
import type { Address, Pdu } from "../pdu.ts";
import type { PduReader } from "../pdu-reader.ts";
import type { PduWriter } from "../pdu-writer.ts";
import { STATUS } from "../status.ts";
import type { Tlv } from "../tlv.ts";

export type PduOf<Name extends Command> = Extract<Pdu, { command: Name }>;

/** Length, writer and reader of one command's body. */
export interface Layout<Body> {
  /** In octets, for a single exact allocation. */
  length(pdu: Body): number;
  write(writer: PduWriter, pdu: Body): void;
  /** Reads the fields in order. The status comes from the header and is zero in requests. */
  read(reader: PduReader, status: number): Body;
}

/** Maximum size of each C-string including its NUL, from the tables of SMPP 3.4. */
export const SIZE = {
  systemId: 16,
  /** The specification says 9, but carriers issue longer ones. */
  password: 65,
  systemType: 13,
  addressRange: 41,
  serviceType: 6,
  address: 21,
  /** Addresses in data_sm and alert_notification. */
  longAddress: 65,
  listName: 21,
  time: 17,
  messageId: 65,
} as const;

export const addressLength = ({ address }: Address): number => address.length + 3;

export function tlvsLength(tlvs: readonly Tlv[]): number {
  let length = 0;
  // An index loop and no iterator: most PDUs have no TLVs, and creating an iterator would be most of the cost.
  for (let index = 0; index < tlvs.length; index += 1) {
    const each = tlvs[index];
    if (each) length += 4 + each.value.length;
  }
  return length;
}

export const readMessageId = (reader: PduReader): string =>
  reader.cstring("message_id", SIZE.messageId, STATUS.ESME_RINVMSGID);

export const readServiceType = (reader: PduReader): string =>
  reader.cstring("service_type", SIZE.serviceType, STATUS.ESME_RINVSERTYP);

export const readSchedule = (reader: PduReader): string =>
  reader.cstring("schedule_delivery_time", SIZE.time, STATUS.ESME_RINVSCHED);

export const readValidity = (reader: PduReader): string =>
  reader.cstring("validity_period", SIZE.time, STATUS.ESME_RINVEXPIRY);

export const readSource = (reader: PduReader, size: number): Address =>
  reader.address("source_addr", size, STATUS.ESME_RINVSRCADR);

export const readDestination = (reader: PduReader, size: number): Address =>
  reader.address("destination_addr", size, STATUS.ESME_RINVDSTADR);
