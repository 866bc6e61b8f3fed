import type { Address, Destination, SubmitMultiResp } from "../pdu.ts";
import type { PduReader } from "../pdu-reader.ts";
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
import { textLength, writeText } from "./messages.ts";

export const submitMulti: Layout<PduOf<"submit_multi">> = {
  length: (pdu) =>
    addressLength(pdu.source) +
    pdu.serviceType.length +
    2 +
    pdu.destinations.reduce((sum, each) => sum + destinationLength(each), 0) +
    textLength(pdu) +
    tlvsLength(pdu.tlvs),
  write(writer, pdu) {
    writer.cstring("serviceType", pdu.serviceType, SIZE.serviceType);
    writer.address("source", pdu.source, SIZE.address);
    writer.uint8("the number of destinations", pdu.destinations.length);
    for (const each of pdu.destinations) {
      writer.uint8("dest_flag", each.kind === "address" ? 1 : 2);
      if (each.kind === "address") writer.address("destination", each.address, SIZE.address);
      else writer.cstring("the list's name", each.name, SIZE.listName);
    }
    writeText(writer, pdu);
    writer.tlvs(pdu.tlvs);
  },
  read: (reader) => ({
    command: "submit_multi",
    serviceType: readServiceType(reader),
    source: readSource(reader, SIZE.address),
    destinations: readDestinations(reader),
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

const destinationLength = (destination: Destination): number =>
  1 + (destination.kind === "address" ? addressLength(destination.address) : destination.name.length + 1);

function readDestinations(reader: PduReader): Destination[] {
  const count = reader.uint8("number_of_dests");
  if (count === 0) reader.refuse(STATUS.ESME_RINVNUMDESTS, "number_of_dests is 0");
  const destinations: Destination[] = [];
  while (destinations.length < count && !reader.fault) {
    const flag = reader.uint8("dest_flag");
    if (flag === 1) destinations.push({ kind: "address", address: readDestination(reader, SIZE.address) });
    else if (flag === 2)
      destinations.push({ kind: "list", name: reader.cstring("dl_name", SIZE.listName, STATUS.ESME_RINVDLNAME) });
    else reader.refuse(STATUS.ESME_RINVDESTFLAG, `dest_flag is ${flag}: 1 is an address, 2 a list`);
  }
  return destinations;
}

export const submitMultiResp: Layout<SubmitMultiResp> = {
  length: (pdu) =>
    hasBody(pdu)
      ? pdu.messageId.length +
        2 +
        pdu.failures.reduce((sum, { address }) => sum + addressLength(address) + 4, 0) +
        tlvsLength(pdu.tlvs)
      : 0,
  write(writer, pdu) {
    if (!hasBody(pdu)) return;
    writer.cstring("messageId", pdu.messageId, SIZE.messageId);
    writer.uint8("the number of failures", pdu.failures.length);
    for (const { address, status } of pdu.failures) {
      writer.address("the failure's address", address, SIZE.address);
      writer.uint32(status);
    }
    writer.tlvs(pdu.tlvs);
  },
  read: (reader, status) => ({
    command: "submit_multi_resp",
    status,
    messageId: readMessageId(reader),
    failures: readFailures(reader),
    tlvs: reader.tlvs(),
  }),
};

/** By the specification a refused submit_multi has no body. */
const hasBody = (pdu: SubmitMultiResp): boolean =>
  pdu.status === 0 || pdu.messageId !== "" || pdu.failures.length > 0 || pdu.tlvs.length > 0;

function readFailures(reader: PduReader): SubmitMultiResp["failures"] {
  const count = reader.uint8("no_unsuccess");
  const failures: { address: Address; status: number }[] = [];
  while (failures.length < count && !reader.atEnd)
    failures.push({ address: readDestination(reader, SIZE.address), status: reader.uint32("error_status_code") });
  return failures;
}
