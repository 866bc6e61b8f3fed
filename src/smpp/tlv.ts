/** An optional parameter in wire format. Unknown tags and the order are preserved. */
export interface Tlv {
  readonly tag: number;
  readonly value: Buffer;
}

/** TLVs of SMPP 3.4, and congestion_state of 5.0, with their value types. */
export const TLVS = {
  dest_addr_subunit: { tag: 0x0005, form: "uint8" },
  dest_network_type: { tag: 0x0006, form: "uint8" },
  dest_bearer_type: { tag: 0x0007, form: "uint8" },
  dest_telematics_id: { tag: 0x0008, form: "uint16" },
  source_addr_subunit: { tag: 0x000d, form: "uint8" },
  source_network_type: { tag: 0x000e, form: "uint8" },
  source_bearer_type: { tag: 0x000f, form: "uint8" },
  source_telematics_id: { tag: 0x0010, form: "uint8" },
  qos_time_to_live: { tag: 0x0017, form: "uint32" },
  payload_type: { tag: 0x0019, form: "uint8" },
  additional_status_info_text: { tag: 0x001d, form: "cstring" },
  receipted_message_id: { tag: 0x001e, form: "cstring" },
  ms_msg_wait_facilities: { tag: 0x0030, form: "uint8" },
  privacy_indicator: { tag: 0x0201, form: "uint8" },
  source_subaddress: { tag: 0x0202, form: "octets" },
  dest_subaddress: { tag: 0x0203, form: "octets" },
  user_message_reference: { tag: 0x0204, form: "uint16" },
  user_response_code: { tag: 0x0205, form: "uint8" },
  source_port: { tag: 0x020a, form: "uint16" },
  destination_port: { tag: 0x020b, form: "uint16" },
  sar_msg_ref_num: { tag: 0x020c, form: "uint16" },
  language_indicator: { tag: 0x020d, form: "uint8" },
  sar_total_segments: { tag: 0x020e, form: "uint8" },
  sar_segment_seqnum: { tag: 0x020f, form: "uint8" },
  sc_interface_version: { tag: 0x0210, form: "uint8" },
  callback_num_pres_ind: { tag: 0x0302, form: "uint8" },
  callback_num_atag: { tag: 0x0303, form: "octets" },
  number_of_messages: { tag: 0x0304, form: "uint8" },
  callback_num: { tag: 0x0381, form: "octets" },
  dpf_result: { tag: 0x0420, form: "uint8" },
  set_dpf: { tag: 0x0421, form: "uint8" },
  ms_availability_status: { tag: 0x0422, form: "uint8" },
  network_error_code: { tag: 0x0423, form: "octets" },
  message_payload: { tag: 0x0424, form: "octets" },
  delivery_failure_reason: { tag: 0x0425, form: "uint8" },
  more_messages_to_send: { tag: 0x0426, form: "uint8" },
  message_state: { tag: 0x0427, form: "uint8" },
  congestion_state: { tag: 0x0428, form: "uint8" },
  ussd_service_op: { tag: 0x0501, form: "octets" },
  display_time: { tag: 0x1201, form: "uint8" },
  sms_signal: { tag: 0x1203, form: "uint16" },
  ms_validity: { tag: 0x1204, form: "uint8" },
  alert_on_message_delivery: { tag: 0x130c, form: "octets" },
  its_reply_type: { tag: 0x1380, form: "uint8" },
  its_session_info: { tag: 0x1383, form: "octets" },
} as const satisfies Record<string, { tag: number; form: keyof Forms }>;

interface Forms {
  uint8: number;
  uint16: number;
  uint32: number;
  cstring: string;
  octets: Buffer;
}

export type TlvForm = keyof Forms;

/** The value of a TLV written as text; null if its form cannot hold it. Characters beyond Latin-1 have no octet. */
export function tlvOctets(form: TlvForm, text: string): Buffer | null {
  if (form === "octets" || form === "cstring") return Buffer.from(form === "cstring" ? `${text}\0` : text, "latin1");
  const size = SIZES[form];
  const value = text.trim() === "" ? Number.NaN : Number(text);
  if (!Number.isInteger(value) || value < 0 || value >= 2 ** (8 * size)) return null;
  const octets = Buffer.alloc(size);
  octets.writeUIntBE(value, 0, size);
  return octets;
}

export type TlvName = keyof typeof TLVS;
export type TlvValue<Name extends TlvName> = Forms[(typeof TLVS)[Name]["form"]];

/** Shared constant, so that most PDUs allocate no list. */
export const NO_TLVS: readonly Tlv[] = Object.freeze([]);

const SIZES = { uint8: 1, uint16: 2, uint32: 4 } as const;

/** Creates a TLV of a known type. A vendor TLV is a plain `{ tag, value }`. */
export function tlv<Name extends TlvName>(name: Name, value: TlvValue<Name>): Tlv;
export function tlv(name: TlvName, value: number | string | Buffer): Tlv {
  const { tag, form } = TLVS[name];
  if (typeof value === "string") return { tag, value: Buffer.from(`${value}\0`, "latin1") };
  if (typeof value !== "number") return { tag, value };
  const size = form === "uint8" || form === "uint16" || form === "uint32" ? SIZES[form] : 0;
  if (!Number.isInteger(value) || value < 0 || value >= 2 ** (8 * size))
    throw new RangeError(`${name} is ${value}; it takes a whole number of ${size} octets`);
  const octets = Buffer.allocUnsafe(size);
  octets.writeUIntBE(value, 0, size);
  return { tag, value: octets };
}

/**
 * Value of the first TLV of a type; undefined if absent or unreadable. Lenient, because peers deviate: a number may have
 * one to four octets, a string may lack its NUL.
 */
export function findTlv<Name extends TlvName>(tlvs: readonly Tlv[], name: Name): TlvValue<Name> | undefined;
export function findTlv(tlvs: readonly Tlv[], name: TlvName): number | string | Buffer | undefined {
  const { tag, form } = TLVS[name];
  const value = tlvs.find((each) => each.tag === tag)?.value;
  if (value === undefined || form === "octets") return value;
  if (form === "cstring") return value.toString("latin1", 0, value.at(-1) === 0 ? value.length - 1 : value.length);
  return value.length >= 1 && value.length <= 4 ? value.readUIntBE(0, value.length) : undefined;
}
