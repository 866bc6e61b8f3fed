import { NO_TLVS, type Tlv } from "./tlv.ts";

/** A PDU without its sequence number, which belongs to the session. */
export type Pdu = Request | Notice | Response;

/** PDUs that the peer answers. */
export type Request =
  | Bind
  | SubmitSm
  | DeliverSm
  | DataSm
  | QuerySm
  | CancelSm
  | ReplaceSm
  | SubmitMulti
  | Bare<"unbind">
  | Bare<"enquire_link">;

/** PDUs without a response. */
export type Notice = Outbind | AlertNotification;

export type Response =
  | BindResp
  | MessageIdResp<"submit_sm_resp">
  | MessageIdResp<"deliver_sm_resp">
  | MessageIdResp<"data_sm_resp">
  | QuerySmResp
  | SubmitMultiResp
  | BareResp<"cancel_sm_resp">
  | BareResp<"replace_sm_resp">
  | BareResp<"unbind_resp">
  | BareResp<"enquire_link_resp">
  | GenericNack;

/** Response type of a request command. */
export type ResponseOf<Name extends Request["command"]> = Extract<Response, { command: `${Name}_resp` }>;

export interface Address {
  /** Type of number: 0 unknown, 1 international, 2 national, 3 network-specific, 5 alphanumeric. */
  readonly ton: number;
  /** Numbering plan: 0 unknown, 1 E.164. */
  readonly npi: number;
  readonly address: string;
}

export type BindCommand = "bind_receiver" | "bind_transmitter" | "bind_transceiver";

export interface BindAs<Name extends BindCommand> {
  readonly command: Name;
  readonly systemId: string;
  readonly password: string;
  readonly systemType: string;
  /** 0x34 for SMPP 3.4. */
  readonly interfaceVersion: number;
  readonly addressRange: Address;
  readonly tlvs: readonly Tlv[];
}

export type Bind = BindAs<"bind_receiver"> | BindAs<"bind_transmitter"> | BindAs<"bind_transceiver">;

export interface BindRespAs<Name extends `${BindCommand}_resp`> {
  readonly command: Name;
  readonly status: number;
  readonly systemId: string;
  readonly tlvs: readonly Tlv[];
}

export type BindResp =
  | BindRespAs<"bind_receiver_resp">
  | BindRespAs<"bind_transmitter_resp">
  | BindRespAs<"bind_transceiver_resp">;

interface ShortMessage {
  readonly serviceType: string;
  readonly source: Address;
  readonly destination: Address;
  readonly esmClass: number;
  readonly protocolId: number;
  readonly priorityFlag: number;
  readonly scheduleDeliveryTime: string;
  readonly validityPeriod: string;
  readonly registeredDelivery: number;
  readonly replaceIfPresent: number;
  readonly dataCoding: number;
  readonly defaultMessageId: number;
  /** Up to 254 octets. When decoded it is a view of the read buffer: copy it to keep it. */
  readonly shortMessage: Buffer;
  readonly tlvs: readonly Tlv[];
}

export interface SubmitSm extends ShortMessage {
  readonly command: "submit_sm";
}

export interface DeliverSm extends ShortMessage {
  readonly command: "deliver_sm";
}

interface SubmitMulti extends Omit<ShortMessage, "destination"> {
  readonly command: "submit_multi";
  readonly destinations: readonly Destination[];
}

export type Destination =
  | { readonly kind: "address"; readonly address: Address }
  | { readonly kind: "list"; readonly name: string };

export interface SubmitMultiResp {
  readonly command: "submit_multi_resp";
  readonly status: number;
  readonly messageId: string;
  readonly failures: readonly { readonly address: Address; readonly status: number }[];
  readonly tlvs: readonly Tlv[];
}

export interface DataSm {
  readonly command: "data_sm";
  readonly serviceType: string;
  readonly source: Address;
  readonly destination: Address;
  readonly esmClass: number;
  readonly registeredDelivery: number;
  readonly dataCoding: number;
  /** The text is in the TLV message_payload. */
  readonly tlvs: readonly Tlv[];
}

interface MessageIdResp<Name extends "submit_sm_resp" | "deliver_sm_resp" | "data_sm_resp"> {
  readonly command: Name;
  readonly status: number;
  /** Empty in every deliver_sm_resp, and in errors. */
  readonly messageId: string;
  readonly tlvs: readonly Tlv[];
}

export interface QuerySm {
  readonly command: "query_sm";
  readonly messageId: string;
  readonly source: Address;
  readonly tlvs: readonly Tlv[];
}

export interface QuerySmResp {
  readonly command: "query_sm_resp";
  readonly status: number;
  readonly messageId: string;
  readonly finalDate: string;
  readonly messageState: number;
  readonly errorCode: number;
  readonly tlvs: readonly Tlv[];
}

export interface CancelSm {
  readonly command: "cancel_sm";
  readonly serviceType: string;
  readonly messageId: string;
  readonly source: Address;
  readonly destination: Address;
  readonly tlvs: readonly Tlv[];
}

interface ReplaceSm {
  readonly command: "replace_sm";
  readonly messageId: string;
  readonly source: Address;
  readonly scheduleDeliveryTime: string;
  readonly validityPeriod: string;
  readonly registeredDelivery: number;
  readonly defaultMessageId: number;
  readonly shortMessage: Buffer;
  readonly tlvs: readonly Tlv[];
}

interface Outbind {
  readonly command: "outbind";
  readonly systemId: string;
  readonly password: string;
  readonly tlvs: readonly Tlv[];
}

interface AlertNotification {
  readonly command: "alert_notification";
  readonly source: Address;
  readonly esme: Address;
  readonly tlvs: readonly Tlv[];
}

interface Bare<Name extends "unbind" | "enquire_link"> {
  readonly command: Name;
}

interface BareResp<Name extends "cancel_sm_resp" | "replace_sm_resp" | "unbind_resp" | "enquire_link_resp"> {
  readonly command: Name;
  readonly status: number;
}

export interface GenericNack {
  readonly command: "generic_nack";
  readonly status: number;
}

/** For address fields that the SMSC fills in. */
export const NO_ADDRESS: Address = Object.freeze({ ton: 0, npi: 0, address: "" });
const NO_OCTETS = Buffer.alloc(0);

type Fields<Name extends Pdu["command"]> = Partial<Omit<Extract<Pdu, { command: Name }>, "command">>;

/** Creates a message to the SMSC; missing fields are zero or empty, the default of every SMSC. */
export const submitSm = (fields: Fields<"submit_sm">): SubmitSm => shortMessage("submit_sm", fields);

/** Creates a message or a receipt to the ESME. */
export const deliverSm = (fields: Fields<"deliver_sm">): DeliverSm => shortMessage("deliver_sm", fields);

// Assigns each field and uses no spread: all objects get the same shape, which keeps encoding fast.
function shortMessage<Name extends "submit_sm" | "deliver_sm">(
  command: Name,
  fields: Fields<Name>,
): ShortMessage & { command: Name } {
  return {
    command,
    serviceType: fields.serviceType ?? "",
    source: fields.source ?? NO_ADDRESS,
    destination: fields.destination ?? NO_ADDRESS,
    esmClass: fields.esmClass ?? 0,
    protocolId: fields.protocolId ?? 0,
    priorityFlag: fields.priorityFlag ?? 0,
    scheduleDeliveryTime: fields.scheduleDeliveryTime ?? "",
    validityPeriod: fields.validityPeriod ?? "",
    registeredDelivery: fields.registeredDelivery ?? 0,
    replaceIfPresent: fields.replaceIfPresent ?? 0,
    dataCoding: fields.dataCoding ?? 0,
    defaultMessageId: fields.defaultMessageId ?? 0,
    shortMessage: fields.shortMessage ?? NO_OCTETS,
    tlvs: fields.tlvs ?? NO_TLVS,
  };
}
