import type { Pdu } from "../../src/smpp/pdu.ts";

/** A PDU and its octets, written field by field from the tables of SMPP 3.4. */
export interface Golden {
  title: string;
  sequence: number;
  pdu: Pdu;
  /** With a space between fields. */
  hex: string;
}

const text = (words: string): Buffer => Buffer.from(words, "latin1");
const octets = (hex: string): Buffer => Buffer.from(hex, "hex");
const acme = { ton: 5, npi: 0, address: "ACME" };
const phone = { ton: 1, npi: 1, address: "919876543210" };

const bindFields = {
  systemId: "esme",
  password: "secret",
  systemType: "OTA",
  interfaceVersion: 0x34,
  addressRange: { ton: 1, npi: 1, address: "^91" },
  tlvs: [],
};
const bindHex = "65736d6500 73656372657400 4f544100 34 01 01 5e393100";

const plain = {
  serviceType: "",
  esmClass: 0,
  protocolId: 0,
  priorityFlag: 0,
  scheduleDeliveryTime: "",
  validityPeriod: "",
  registeredDelivery: 0,
  replaceIfPresent: 0,
  dataCoding: 0,
  defaultMessageId: 0,
};

export const GOLDENS: readonly Golden[] = [
  {
    title: "bind_receiver",
    sequence: 1,
    pdu: { command: "bind_receiver", ...bindFields },
    hex: `00000027 00000001 00000000 00000001 ${bindHex}`,
  },
  {
    title: "bind_transmitter",
    sequence: 1,
    pdu: { command: "bind_transmitter", ...bindFields },
    hex: `00000027 00000002 00000000 00000001 ${bindHex}`,
  },
  {
    title: "bind_transceiver",
    sequence: 1,
    pdu: { command: "bind_transceiver", ...bindFields },
    hex: `00000027 00000009 00000000 00000001 ${bindHex}`,
  },
  {
    title: "bind_receiver_resp with the version of the SMSC",
    sequence: 1,
    pdu: { command: "bind_receiver_resp", status: 0, systemId: "smsc", tlvs: [{ tag: 0x0210, value: octets("34") }] },
    hex: "0000001a 80000001 00000000 00000001 736d736300 0210 0001 34",
  },
  {
    title: "bind_transmitter_resp without parameters",
    sequence: 1,
    pdu: { command: "bind_transmitter_resp", status: 0, systemId: "smsc", tlvs: [] },
    hex: "00000015 80000002 00000000 00000001 736d736300",
  },
  {
    title: "bind_transceiver_resp of a refused bind, which has no body",
    sequence: 0x7fffffff,
    pdu: { command: "bind_transceiver_resp", status: 0x0e, systemId: "", tlvs: [] },
    hex: "00000010 80000009 0000000e 7fffffff",
  },
  {
    title: "outbind",
    sequence: 9,
    pdu: { command: "outbind", systemId: "smsc", password: "secret", tlvs: [] },
    hex: "0000001c 0000000b 00000000 00000009 736d736300 73656372657400",
  },
  {
    title: "submit_sm as three foreign SMSCs have accepted it",
    sequence: 2,
    pdu: {
      command: "submit_sm",
      ...plain,
      source: acme,
      destination: phone,
      registeredDelivery: 1,
      shortMessage: text("hello"),
      tlvs: [],
    },
    hex: "00000036 00000004 00000000 00000002 00 05 00 41434d4500 01 01 39313938373635343332313000 00 00 00 00 00 01 00 00 00 05 68656c6c6f",
  },
  {
    title: "submit_sm with every field and with vendors' parameters",
    sequence: 0x01020304,
    pdu: {
      command: "submit_sm",
      serviceType: "CMT",
      source: { ton: 3, npi: 9, address: "56767" },
      destination: phone,
      esmClass: 0x43,
      protocolId: 0x7f,
      priorityFlag: 3,
      scheduleDeliveryTime: "260101120000000+",
      validityPeriod: "000000001000000R",
      registeredDelivery: 0x11,
      replaceIfPresent: 1,
      dataCoding: 0x18,
      defaultMessageId: 7,
      shortMessage: octets("050003a002010041"),
      tlvs: [
        { tag: 0x1400, value: text("1701158019811140068") },
        { tag: 0x0204, value: octets("beef") },
        { tag: 0x3fff, value: octets("") },
      ],
    },
    hex: `0000007e 00000004 00000000 01020304 434d5400 03 09 353637363700 01 01 39313938373635343332313000
      43 7f 03 3236303130313132303030303030302b00 3030303030303030313030303030305200 11 01 18 07 08 050003a002010041
      1400 0013 31373031313538303139383131313430303638 0204 0002 beef 3fff 0000`,
  },
  {
    title: "submit_sm whose text is in message_payload",
    sequence: 3,
    pdu: {
      command: "submit_sm",
      ...plain,
      source: acme,
      destination: phone,
      shortMessage: octets(""),
      tlvs: [{ tag: 0x0424, value: text("hello") }],
    },
    hex: "0000003a 00000004 00000000 00000003 00 05 00 41434d4500 01 01 39313938373635343332313000 00 00 00 00 00 00 00 00 00 00 0424 0005 68656c6c6f",
  },
  {
    title: "submit_sm_resp",
    sequence: 2,
    pdu: { command: "submit_sm_resp", status: 0, messageId: "abc000", tlvs: [] },
    hex: "00000017 80000004 00000000 00000002 61626330303000",
  },
  {
    title: "submit_sm_resp of a refused message, which has no body",
    sequence: 2,
    pdu: { command: "submit_sm_resp", status: 0x58, messageId: "", tlvs: [] },
    hex: "00000010 80000004 00000058 00000002",
  },
  {
    title: "deliver_sm that is a receipt",
    sequence: 4,
    pdu: {
      command: "deliver_sm",
      ...plain,
      source: phone,
      destination: acme,
      esmClass: 4,
      shortMessage: text("id:1 stat:DELIVRD"),
      tlvs: [
        { tag: 0x001e, value: text("abc000\0") },
        { tag: 0x0427, value: octets("02") },
      ],
    },
    hex: `00000052 00000005 00000000 00000004 00 01 01 39313938373635343332313000 05 00 41434d4500
      04 00 00 00 00 00 00 00 00 11 69643a3120737461743a44454c49565244 001e 0007 61626330303000 0427 0001 02`,
  },
  {
    title: "deliver_sm_resp, whose id is always empty",
    sequence: 4,
    pdu: { command: "deliver_sm_resp", status: 0, messageId: "", tlvs: [] },
    hex: "00000011 80000005 00000000 00000004 00",
  },
  {
    title: "deliver_sm_resp that asks to try again later",
    sequence: 4,
    pdu: { command: "deliver_sm_resp", status: 0x64, messageId: "", tlvs: [] },
    hex: "00000011 80000005 00000064 00000004 00",
  },
  {
    title: "data_sm",
    sequence: 5,
    pdu: {
      command: "data_sm",
      serviceType: "WAP",
      source: acme,
      destination: phone,
      esmClass: 0,
      registeredDelivery: 1,
      dataCoding: 4,
      tlvs: [{ tag: 0x0424, value: octets("00ff") }],
    },
    hex: `00000033 00000103 00000000 00000005 57415000 05 00 41434d4500 01 01 39313938373635343332313000 00 01 04
      0424 0002 00ff`,
  },
  {
    title: "data_sm_resp that says why not",
    sequence: 5,
    pdu: { command: "data_sm_resp", status: 0xfe, messageId: "", tlvs: [{ tag: 0x0425, value: octets("01") }] },
    hex: "00000016 80000103 000000fe 00000005 00 0425 0001 01",
  },
  {
    title: "query_sm",
    sequence: 6,
    pdu: { command: "query_sm", messageId: "abc000", source: acme, tlvs: [] },
    hex: "0000001e 00000003 00000000 00000006 61626330303000 05 00 41434d4500",
  },
  {
    title: "query_sm_resp",
    sequence: 6,
    pdu: {
      command: "query_sm_resp",
      status: 0,
      messageId: "abc000",
      finalDate: "260101120000000+",
      messageState: 2,
      errorCode: 0,
      tlvs: [],
    },
    hex: "0000002a 80000003 00000000 00000006 61626330303000 3236303130313132303030303030302b00 02 00",
  },
  {
    title: "cancel_sm",
    sequence: 7,
    pdu: { command: "cancel_sm", serviceType: "", messageId: "abc000", source: acme, destination: phone, tlvs: [] },
    hex: "0000002e 00000008 00000000 00000007 00 61626330303000 05 00 41434d4500 01 01 39313938373635343332313000",
  },
  {
    title: "cancel_sm_resp",
    sequence: 7,
    pdu: { command: "cancel_sm_resp", status: 0x11 },
    hex: "00000010 80000008 00000011 00000007",
  },
  {
    title: "replace_sm",
    sequence: 8,
    pdu: {
      command: "replace_sm",
      messageId: "abc000",
      source: acme,
      scheduleDeliveryTime: "",
      validityPeriod: "",
      registeredDelivery: 1,
      defaultMessageId: 0,
      shortMessage: text("bye"),
      tlvs: [],
    },
    hex: "00000026 00000007 00000000 00000008 61626330303000 05 00 41434d4500 00 00 01 00 03 627965",
  },
  {
    title: "replace_sm_resp",
    sequence: 8,
    pdu: { command: "replace_sm_resp", status: 0 },
    hex: "00000010 80000007 00000000 00000008",
  },
  {
    title: "submit_multi to a phone and to a list",
    sequence: 10,
    pdu: {
      command: "submit_multi",
      ...plain,
      source: acme,
      destinations: [
        { kind: "address", address: phone },
        { kind: "list", name: "friends" },
      ],
      shortMessage: text("hi"),
      tlvs: [],
    },
    hex: `0000003e 00000021 00000000 0000000a 00 05 00 41434d4500 02 01 01 01 39313938373635343332313000
      02 667269656e647300 00 00 00 00 00 00 00 00 00 02 6869`,
  },
  {
    title: "submit_multi_resp with one that failed",
    sequence: 10,
    pdu: {
      command: "submit_multi_resp",
      status: 0,
      messageId: "abc000",
      failures: [{ address: phone, status: 0x0b }],
      tlvs: [],
    },
    hex: "0000002b 80000021 00000000 0000000a 61626330303000 01 01 01 39313938373635343332313000 0000000b",
  },
  {
    title: "submit_multi_resp of a refused message, which has no body",
    sequence: 10,
    pdu: { command: "submit_multi_resp", status: 0x33, messageId: "", failures: [], tlvs: [] },
    hex: "00000010 80000021 00000033 0000000a",
  },
  {
    title: "alert_notification",
    sequence: 11,
    pdu: {
      command: "alert_notification",
      source: phone,
      esme: acme,
      tlvs: [{ tag: 0x0422, value: octets("00") }],
    },
    hex: "0000002b 00000102 00000000 0000000b 01 01 39313938373635343332313000 05 00 41434d4500 0422 0001 00",
  },
  {
    title: "enquire_link",
    sequence: 12,
    pdu: { command: "enquire_link" },
    hex: "00000010 00000015 00000000 0000000c",
  },
  {
    title: "enquire_link_resp",
    sequence: 12,
    pdu: { command: "enquire_link_resp", status: 0 },
    hex: "00000010 80000015 00000000 0000000c",
  },
  { title: "unbind", sequence: 13, pdu: { command: "unbind" }, hex: "00000010 00000006 00000000 0000000d" },
  {
    title: "unbind_resp",
    sequence: 13,
    pdu: { command: "unbind_resp", status: 0 },
    hex: "00000010 80000006 00000000 0000000d",
  },
  {
    title: "generic_nack",
    sequence: 0,
    pdu: { command: "generic_nack", status: 2 },
    hex: "00000010 80000000 00000002 00000000",
  },
];

export const octetsOf = ({ hex }: Golden): Buffer => Buffer.from(hex.replaceAll(/\s/g, ""), "hex");
