import type { BindAs, BindCommand, BindRespAs } from "../pdu.ts";
import type { PduReader } from "../pdu-reader.ts";
import { STATUS } from "../status.ts";
import { addressLength, SIZE, tlvsLength, type Layout, type PduOf } from "./layout.ts";

const readSystemId = (reader: PduReader): string => reader.cstring("system_id", SIZE.systemId, STATUS.ESME_RINVSYSID);

/** Any length: the handler decides whether it is correct. */
const readPassword = (reader: PduReader): string => reader.cstring("password", Infinity, STATUS.ESME_RINVPASWD);

export const bindLayout = <Name extends BindCommand>(command: Name): Layout<BindAs<Name>> => ({
  length: (pdu) =>
    pdu.systemId.length +
    pdu.password.length +
    pdu.systemType.length +
    4 +
    addressLength(pdu.addressRange) +
    tlvsLength(pdu.tlvs),
  write(writer, pdu) {
    writer.cstring("systemId", pdu.systemId, SIZE.systemId);
    writer.cstring("password", pdu.password, SIZE.password);
    writer.cstring("systemType", pdu.systemType, SIZE.systemType);
    writer.uint8("interfaceVersion", pdu.interfaceVersion);
    writer.address("addressRange", pdu.addressRange, SIZE.addressRange);
    writer.tlvs(pdu.tlvs);
  },
  read: (reader) => ({
    command,
    systemId: readSystemId(reader),
    password: readPassword(reader),
    systemType: reader.cstring("system_type", SIZE.systemType, STATUS.ESME_RINVSYSTYP),
    interfaceVersion: reader.uint8("interface_version"),
    addressRange: reader.address("address_range", SIZE.addressRange, STATUS.ESME_RBINDFAIL),
    tlvs: reader.tlvs(),
  }),
});

type RespCommand = `${BindCommand}_resp`;

/** By the specification a refused bind has no body. */
const hasBody = (pdu: BindRespAs<RespCommand>): boolean =>
  pdu.status === 0 || pdu.systemId !== "" || pdu.tlvs.length > 0;

export const bindRespLayout = <Name extends RespCommand>(command: Name): Layout<BindRespAs<Name>> => ({
  length: (pdu) => (hasBody(pdu) ? pdu.systemId.length + 1 + tlvsLength(pdu.tlvs) : 0),
  write(writer, pdu) {
    if (!hasBody(pdu)) return;
    writer.cstring("systemId", pdu.systemId, SIZE.systemId);
    writer.tlvs(pdu.tlvs);
  },
  read: (reader, status) => ({ command, status, systemId: readSystemId(reader), tlvs: reader.tlvs() }),
});

export const outbind: Layout<PduOf<"outbind">> = {
  length: (pdu) => pdu.systemId.length + pdu.password.length + 2 + tlvsLength(pdu.tlvs),
  write(writer, pdu) {
    writer.cstring("systemId", pdu.systemId, SIZE.systemId);
    writer.cstring("password", pdu.password, SIZE.password);
    writer.tlvs(pdu.tlvs);
  },
  read: (reader) => ({
    command: "outbind",
    systemId: readSystemId(reader),
    password: readPassword(reader),
    tlvs: reader.tlvs(),
  }),
};
