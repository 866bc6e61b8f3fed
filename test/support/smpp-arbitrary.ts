import fc from "fast-check";
import type { Address, Destination, Pdu } from "../../src/smpp/pdu.ts";
import type { Tlv } from "../../src/smpp/tlv.ts";

/** Arbitrary encodable PDUs for property tests. */

const uint8 = fc.integer({ min: 0, max: 0xff });
const status = fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 0xffff_ffff }));

/** All one-octet characters except NUL; `size` includes the terminating NUL. */
const cstring = (size: number): fc.Arbitrary<string> =>
  fc.array(fc.integer({ min: 1, max: 0xff }), { maxLength: size - 1 }).map((codes) => String.fromCharCode(...codes));
const octets = (maxLength: number): fc.Arbitrary<Buffer> =>
  fc.uint8Array({ maxLength }).map((each) => Buffer.from(each));
const address = (size: number): fc.Arbitrary<Address> => fc.record({ ton: uint8, npi: uint8, address: cstring(size) });
const tlvs: fc.Arbitrary<Tlv[]> = fc.array(
  fc.record({ tag: fc.integer({ min: 0, max: 0xffff }), value: octets(300) }),
  { maxLength: 4 },
);

const text = {
  serviceType: cstring(6),
  source: address(21),
  esmClass: uint8,
  protocolId: uint8,
  priorityFlag: uint8,
  scheduleDeliveryTime: cstring(17),
  validityPeriod: cstring(17),
  registeredDelivery: uint8,
  replaceIfPresent: uint8,
  dataCoding: uint8,
  defaultMessageId: uint8,
  shortMessage: octets(254),
  tlvs,
};

const command = <Name extends string>(...names: Name[]): fc.Arbitrary<Name> => fc.constantFrom(...names);

const destination: fc.Arbitrary<Destination> = fc.oneof(
  fc.record({ kind: fc.constant("address" as const), address: address(21) }),
  fc.record({ kind: fc.constant("list" as const), name: cstring(21) }),
);

export const anyPdu: fc.Arbitrary<Pdu> = fc.oneof(
  fc.record({ command: command("submit_sm", "deliver_sm"), ...text, destination: address(21) }),
  fc.record({
    command: command("submit_multi"),
    ...text,
    destinations: fc.array(destination, { minLength: 1, maxLength: 255 }),
  }),
  fc.record({
    command: command("data_sm"),
    serviceType: cstring(6),
    source: address(65),
    destination: address(65),
    esmClass: uint8,
    registeredDelivery: uint8,
    dataCoding: uint8,
    tlvs,
  }),
  fc.record({
    command: command("submit_sm_resp", "deliver_sm_resp", "data_sm_resp"),
    status,
    messageId: cstring(65),
    tlvs,
  }),
  fc.record({
    command: command("submit_multi_resp"),
    status,
    messageId: cstring(65),
    failures: fc.array(fc.record({ address: address(21), status }), { maxLength: 255 }),
    tlvs,
  }),
  fc.record({
    command: command("bind_receiver", "bind_transmitter", "bind_transceiver"),
    systemId: cstring(16),
    password: cstring(65),
    systemType: cstring(13),
    interfaceVersion: uint8,
    addressRange: address(41),
    tlvs,
  }),
  fc.record({
    command: command("bind_receiver_resp", "bind_transmitter_resp", "bind_transceiver_resp"),
    status,
    systemId: cstring(16),
    tlvs,
  }),
  fc.record({ command: command("outbind"), systemId: cstring(16), password: cstring(65), tlvs }),
  fc.record({ command: command("query_sm"), messageId: cstring(65), source: address(21), tlvs }),
  fc.record({
    command: command("query_sm_resp"),
    status,
    messageId: cstring(65),
    finalDate: cstring(17),
    messageState: uint8,
    errorCode: uint8,
    tlvs,
  }),
  fc.record({
    command: command("cancel_sm"),
    serviceType: cstring(6),
    messageId: cstring(65),
    source: address(21),
    destination: address(21),
    tlvs,
  }),
  fc.record({
    command: command("replace_sm"),
    messageId: cstring(65),
    source: address(21),
    scheduleDeliveryTime: cstring(17),
    validityPeriod: cstring(17),
    registeredDelivery: uint8,
    defaultMessageId: uint8,
    shortMessage: octets(254),
    tlvs,
  }),
  fc.record({ command: command("alert_notification"), source: address(65), esme: address(65), tlvs }),
  fc.record({ command: command("unbind", "enquire_link") }),
  fc.record({
    command: command("cancel_sm_resp", "replace_sm_resp", "unbind_resp", "enquire_link_resp", "generic_nack"),
    status,
  }),
);
