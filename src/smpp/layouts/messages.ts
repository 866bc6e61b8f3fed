import type { PduReader } from "../pdu-reader.ts";
import type { PduWriter } from "../pdu-writer.ts";
import {
  addressLength,
  readDestination,
  readMessageId,
  readSchedule,
  readServiceType,
  readSource,
  readValidity,
  SIZE,
  tlvsLength,
  type Layout,
  type PduOf,
} from "./layout.ts";

/** submit_sm and deliver_sm, which have the same fields. */
export function messageLayout<Name extends "submit_sm" | "deliver_sm">(command: Name): Layout<PduOf<Name>> {
  const layout: Layout<PduOf<"submit_sm" | "deliver_sm">> = {
    length: (pdu) =>
      addressLength(pdu.source) +
      addressLength(pdu.destination) +
      pdu.serviceType.length +
      1 +
      textLength(pdu) +
      tlvsLength(pdu.tlvs),
    write(writer, pdu) {
      writer.cstring("serviceType", pdu.serviceType, SIZE.serviceType);
      writer.address("source", pdu.source, SIZE.address);
      writer.address("destination", pdu.destination, SIZE.address);
      writeText(writer, pdu);
      writer.tlvs(pdu.tlvs);
    },
    read: (reader) => ({
      command,
      serviceType: readServiceType(reader),
      source: readSource(reader, SIZE.address),
      destination: readDestination(reader, SIZE.address),
      esmClass: reader.uint8("esm_class"),
      protocolId: reader.uint8("protocol_id"),
      priorityFlag: reader.uint8("priority_flag"),
      scheduleDeliveryTime: readSchedule(reader),
      validityPeriod: readValidity(reader),
      registeredDelivery: reader.uint8("registered_delivery"),
      replaceIfPresent: reader.uint8("replace_if_present_flag"),
      dataCoding: reader.uint8("data_coding"),
      defaultMessageId: reader.uint8("sm_default_msg_id"),
      shortMessage: reader.shortMessage(),
      tlvs: reader.tlvs(),
    }),
  };
  return layout as Layout<PduOf<Name>>;
}

/** PDUs that share the fields from esm_class on. */
type Text = PduOf<"submit_sm" | "deliver_sm" | "submit_multi">;

export const textLength = (pdu: Text): number =>
  10 + pdu.scheduleDeliveryTime.length + pdu.validityPeriod.length + pdu.shortMessage.length;

export function writeText(writer: PduWriter, pdu: Text): void {
  writer.uint8("esmClass", pdu.esmClass);
  writer.uint8("protocolId", pdu.protocolId);
  writer.uint8("priorityFlag", pdu.priorityFlag);
  writer.cstring("scheduleDeliveryTime", pdu.scheduleDeliveryTime, SIZE.time);
  writer.cstring("validityPeriod", pdu.validityPeriod, SIZE.time);
  writer.uint8("registeredDelivery", pdu.registeredDelivery);
  writer.uint8("replaceIfPresent", pdu.replaceIfPresent);
  writer.uint8("dataCoding", pdu.dataCoding);
  writer.uint8("defaultMessageId", pdu.defaultMessageId);
  writer.shortMessage(pdu.shortMessage);
}

export const dataSm: Layout<PduOf<"data_sm">> = {
  length: (pdu) =>
    pdu.serviceType.length + 4 + addressLength(pdu.source) + addressLength(pdu.destination) + tlvsLength(pdu.tlvs),
  write(writer, pdu) {
    writer.cstring("serviceType", pdu.serviceType, SIZE.serviceType);
    writer.address("source", pdu.source, SIZE.longAddress);
    writer.address("destination", pdu.destination, SIZE.longAddress);
    writer.uint8("esmClass", pdu.esmClass);
    writer.uint8("registeredDelivery", pdu.registeredDelivery);
    writer.uint8("dataCoding", pdu.dataCoding);
    writer.tlvs(pdu.tlvs);
  },
  read: (reader) => ({
    command: "data_sm",
    serviceType: readServiceType(reader),
    source: readSource(reader, SIZE.longAddress),
    destination: readDestination(reader, SIZE.longAddress),
    esmClass: reader.uint8("esm_class"),
    registeredDelivery: reader.uint8("registered_delivery"),
    dataCoding: reader.uint8("data_coding"),
    tlvs: reader.tlvs(),
  }),
};

type MessageIdRespCommand = "submit_sm_resp" | "deliver_sm_resp" | "data_sm_resp";

/** The three responses with a message_id. By the specification a refused submit_sm_resp has no body. */
export function messageIdRespLayout<Name extends MessageIdRespCommand>(command: Name): Layout<PduOf<Name>> {
  const hasBody = (pdu: PduOf<MessageIdRespCommand>): boolean =>
    command !== "submit_sm_resp" || pdu.status === 0 || pdu.messageId !== "" || pdu.tlvs.length > 0;
  const layout: Layout<PduOf<MessageIdRespCommand>> = {
    length: (pdu) => (hasBody(pdu) ? pdu.messageId.length + 1 + tlvsLength(pdu.tlvs) : 0),
    write(writer, pdu) {
      if (!hasBody(pdu)) return;
      writer.cstring("messageId", pdu.messageId, SIZE.messageId);
      writer.tlvs(pdu.tlvs);
    },
    read: (reader: PduReader, status) => ({ command, status, messageId: readMessageId(reader), tlvs: reader.tlvs() }),
  };
  return layout as Layout<PduOf<Name>>;
}
