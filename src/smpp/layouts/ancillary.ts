import { STATUS } from "../status.ts";
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

export const querySm: Layout<PduOf<"query_sm">> = {
  length: (pdu) => pdu.messageId.length + 1 + addressLength(pdu.source) + tlvsLength(pdu.tlvs),
  write(writer, pdu) {
    writer.cstring("messageId", pdu.messageId, SIZE.messageId);
    writer.address("source", pdu.source, SIZE.address);
    writer.tlvs(pdu.tlvs);
  },
  read: (reader) => ({
    command: "query_sm",
    messageId: readMessageId(reader),
    source: readSource(reader, SIZE.address),
    tlvs: reader.tlvs(),
  }),
};

export const querySmResp: Layout<PduOf<"query_sm_resp">> = {
  length: (pdu) => pdu.messageId.length + pdu.finalDate.length + 4 + tlvsLength(pdu.tlvs),
  write(writer, pdu) {
    writer.cstring("messageId", pdu.messageId, SIZE.messageId);
    writer.cstring("finalDate", pdu.finalDate, SIZE.time);
    writer.uint8("messageState", pdu.messageState);
    writer.uint8("errorCode", pdu.errorCode);
    writer.tlvs(pdu.tlvs);
  },
  read: (reader, status) => ({
    command: "query_sm_resp",
    status,
    messageId: readMessageId(reader),
    finalDate: reader.cstring("final_date", SIZE.time, STATUS.ESME_RINVCMDLEN),
    messageState: reader.uint8("message_state"),
    errorCode: reader.uint8("error_code"),
    tlvs: reader.tlvs(),
  }),
};

export const cancelSm: Layout<PduOf<"cancel_sm">> = {
  length: (pdu) =>
    pdu.serviceType.length +
    pdu.messageId.length +
    2 +
    addressLength(pdu.source) +
    addressLength(pdu.destination) +
    tlvsLength(pdu.tlvs),
  write(writer, pdu) {
    writer.cstring("serviceType", pdu.serviceType, SIZE.serviceType);
    writer.cstring("messageId", pdu.messageId, SIZE.messageId);
    writer.address("source", pdu.source, SIZE.address);
    writer.address("destination", pdu.destination, SIZE.address);
    writer.tlvs(pdu.tlvs);
  },
  read: (reader) => ({
    command: "cancel_sm",
    serviceType: readServiceType(reader),
    messageId: readMessageId(reader),
    source: readSource(reader, SIZE.address),
    destination: readDestination(reader, SIZE.address),
    tlvs: reader.tlvs(),
  }),
};

export const replaceSm: Layout<PduOf<"replace_sm">> = {
  length: (pdu) =>
    pdu.messageId.length +
    pdu.scheduleDeliveryTime.length +
    pdu.validityPeriod.length +
    6 +
    addressLength(pdu.source) +
    pdu.shortMessage.length +
    tlvsLength(pdu.tlvs),
  write(writer, pdu) {
    writer.cstring("messageId", pdu.messageId, SIZE.messageId);
    writer.address("source", pdu.source, SIZE.address);
    writer.cstring("scheduleDeliveryTime", pdu.scheduleDeliveryTime, SIZE.time);
    writer.cstring("validityPeriod", pdu.validityPeriod, SIZE.time);
    writer.uint8("registeredDelivery", pdu.registeredDelivery);
    writer.uint8("defaultMessageId", pdu.defaultMessageId);
    writer.shortMessage(pdu.shortMessage);
    writer.tlvs(pdu.tlvs);
  },
  read: (reader) => ({
    command: "replace_sm",
    messageId: readMessageId(reader),
    source: readSource(reader, SIZE.address),
    scheduleDeliveryTime: readSchedule(reader),
    validityPeriod: readValidity(reader),
    registeredDelivery: reader.uint8("registered_delivery"),
    defaultMessageId: reader.uint8("sm_default_msg_id"),
    shortMessage: reader.shortMessage(),
    tlvs: reader.tlvs(),
  }),
};

export const alertNotification: Layout<PduOf<"alert_notification">> = {
  length: (pdu) => addressLength(pdu.source) + addressLength(pdu.esme) + tlvsLength(pdu.tlvs),
  write(writer, pdu) {
    writer.address("source", pdu.source, SIZE.longAddress);
    writer.address("esme", pdu.esme, SIZE.longAddress);
    writer.tlvs(pdu.tlvs);
  },
  read: (reader) => ({
    command: "alert_notification",
    source: readSource(reader, SIZE.longAddress),
    esme: reader.address("esme_addr", SIZE.longAddress, STATUS.ESME_RINVDSTADR),
    tlvs: reader.tlvs(),
  }),
};
