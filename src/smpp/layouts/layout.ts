import type { Command } from "../commands.ts";
import type { Address, Pdu } from "../pdu.ts";
import type { PduReader } from "../pdu-reader.ts";
import type { PduWriter } from "../pdu-writer.ts";
import { STATUS } from "../status.ts";
import type { Tlv } from "../tlv.ts";

export type PduOf<Name extends Command> = Extract<Pdu, { command: Name }>;

/** The body of one command: how long it is, how it is written and how it is read, side by side. */
export interface Layout<Said> {
  /** In octets, so that exactly these are allocated, once. */
  length(pdu: Said): number;
  write(writer: PduWriter, pdu: Said): void;
  /** Its own fields in their order; the status comes from the header and is zero in requests. */
  read(reader: PduReader, status: number): Said;
}

/** The most octets that each C-string may take, its NUL included, from the tables of SMPP 3.4. */
export const SIZE = {
  systemId: 16,
  /** The specification says 9, and carriers hand out longer ones. */
  password: 65,
  systemType: 13,
  addressRange: 41,
  serviceType: 6,
  address: 21,
  /** In data_sm and alert_notification. */
  longAddress: 65,
  listName: 21,
  time: 17,
  messageId: 65,
} as const;

export const addressLength = ({ address }: Address): number => address.length + 3;

export function tlvsLength(tlvs: readonly Tlv[]): number {
  let length = 0;
  // Without an iterator: most PDUs have none, and to be told so by one is most of the work.
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
