import type { DraftUserData } from "../../channels/sms/read.ts";
import { ROUTE_CLASSES, type RouteClass } from "../../model/message.ts";
import type { SmppAccess } from "../../model/smpp-access.ts";
import { isConcatenation, isLanguageTable, isWholeHeader, writeHeader } from "../../model/user-data.ts";
import type { Address, DataSm, SubmitSm } from "../../smpp/pdu.ts";
import { STATUS, type StatusName } from "../../smpp/status.ts";
import { findTlv, TLVS, type Tlv } from "../../smpp/tlv.ts";
import { decodeText, isUcs2 } from "../../smpp-text/coding.ts";
import { bodyOf, valueOf } from "../../smpp-text/incoming.ts";
import { partOf, type IncomingPart } from "../../smpp-text/reassemble.ts";
import { readClientTlvs, type ClientTlvs } from "../client-tlvs.ts";
import { readSmppTime } from "./time.ts";

/** A submit_sm, data_sm or submit_multi without its destinations. */
export type SubmitPdu = Pick<
  SubmitSm,
  "serviceType" | "source" | "esmClass" | "registeredDelivery" | "dataCoding" | "tlvs"
> &
  Partial<
    Pick<
      SubmitSm,
      | "priorityFlag"
      | "scheduleDeliveryTime"
      | "validityPeriod"
      | "replaceIfPresent"
      | "defaultMessageId"
      | "shortMessage"
    >
  > & {
    /** Validity of a data_sm; absent without one. */
    timeToLiveSeconds?: number | undefined;
  };

/** A submit whose fields are right. */
export interface Submission extends ClientTlvs {
  sender: string;
  routeClass: RouteClass;
  /** The text, or a part of a longer one. */
  body: { kind: "whole"; text: string } | { kind: "part"; part: IncomingPart };
  /** A header beside that of concatenation, or data; null for text alone. */
  userData: DraftUserData | null;
  /** True if the client asked for UCS-2. */
  ucs2: boolean;
  flash: boolean;
  sendAt: number | null;
  expiresAt: number | null;
  registeredDelivery: number;
}

export class SubmitRefused extends Error {
  override name = "SubmitRefused";
  readonly status: number;

  constructor(status: StatusName, reason: string) {
    super(reason);
    this.status = STATUS[status];
  }
}

const refuse = (status: StatusName, reason: string): never => {
  throw new SubmitRefused(status, reason);
};

const MESSAGE_TYPE_BITS = 0x3c;
const PRIORITY_MAX = 3;
const SEND_AHEAD_MAX_MS = 30 * 86_400_000;
/** Parts of one text; more than any text that the server accepts by default. */
const PARTS_MAX = 255;
const UDHI = 0x40;
const SHOW_ON_DISPLAY = 1;

/** Reads the fields of a submit; throws `SubmitRefused` for the first one that is wrong. */
export function readSubmit(pdu: SubmitPdu, access: SmppAccess, now: number): Submission {
  const { esmClass, priorityFlag = 0, replaceIfPresent = 0, defaultMessageId = 0, registeredDelivery } = pdu;
  if ((esmClass & MESSAGE_TYPE_BITS) !== 0) refuse("ESME_RINVESMCLASS", "esm_class marks no message for a phone");
  if (priorityFlag > PRIORITY_MAX) refuse("ESME_RINVPRTFLG", "priority_flag is 0 to 3");
  if (replaceIfPresent !== 0) refuse("ESME_RINVREPFLAG", "replace_if_present_flag is not supported");
  if (defaultMessageId !== 0) refuse("ESME_RINVDFTMSGID", "there are no predefined messages");
  const times = readTimes(pdu, access, now);
  return {
    sender: senderOf(pdu.source, access),
    routeClass: routeClassOf(pdu.serviceType, access),
    ...readBody(pdu, access),
    ucs2: isUcs2(pdu.dataCoding),
    flash: isFlash(pdu.dataCoding) || findTlv(pdu.tlvs, "dest_addr_subunit") === SHOW_ON_DISPLAY,
    ...times,
    registeredDelivery,
    ...tlvsOf(pdu.tlvs),
  };
}

function senderOf({ ton, address }: Address, { senders }: SmppAccess): string {
  const given = address.trim();
  if (given === "" && senders[0] === undefined)
    refuse("ESME_RINVSRCADR", "the submit and the system id have no sender");
  const sender = given === "" ? (senders[0] ?? "") : ton === 1 ? given.replace(/^\+/, "") : given;
  if (senders.length > 0 && !senders.includes(sender))
    refuse("ESME_RINVSRCADR", "the system id may not use this sender");
  return sender;
}

/** The recipient as the API takes it. */
export const recipientOf = ({ ton, address }: Address): string =>
  ton === 1 && /^[0-9]/.test(address) ? `+${address}` : address.trim();

function routeClassOf(serviceType: string, { defaultType }: SmppAccess): RouteClass {
  const named = serviceType.trim().toUpperCase();
  return ROUTE_CLASSES.find((each) => each === named) ?? defaultType;
}

function readTimes(
  { scheduleDeliveryTime = "", validityPeriod = "", timeToLiveSeconds }: SubmitPdu,
  { features, validitySeconds }: SmppAccess,
  now: number,
): Pick<Submission, "sendAt" | "expiresAt"> {
  const scheduled = readSmppTime(scheduleDeliveryTime, now);
  if (scheduled === undefined) refuse("ESME_RINVSCHED", "schedule_delivery_time is YYMMDDhhmmsstnnp");
  const sendAt = scheduled && scheduled > now ? scheduled : null;
  if (sendAt !== null && !features.includes("schedule")) refuse("ESME_RINVSCHED", "the system id may not schedule");
  if (sendAt !== null && sendAt > now + SEND_AHEAD_MAX_MS) refuse("ESME_RINVSCHED", "at most thirty days ahead");
  // A relative validity counts from the time of delivery.
  const start = sendAt ?? now;
  const written = readSmppTime(validityPeriod, start);
  if (written === undefined) refuse("ESME_RINVEXPIRY", "validity_period is YYMMDDhhmmsstnnp");
  const seconds = timeToLiveSeconds ?? validitySeconds;
  const expiresAt = written ?? (seconds === null ? null : start + seconds * 1000);
  if (expiresAt !== null && expiresAt <= start) refuse("ESME_RINVEXPIRY", "the validity is over before the delivery");
  return { sendAt, expiresAt };
}

function readBody(pdu: SubmitPdu, { alphabet }: SmppAccess): Pick<Submission, "body" | "userData"> {
  const { shortMessage, tlvs } = pdu;
  if (shortMessage && shortMessage.length > 0 && valueOf(tlvs, TLVS.message_payload.tag))
    refuse("ESME_ROPTPARNOTALLWD", "short_message and message_payload exclude each other");
  const incoming = { esmClass: pdu.esmClass, dataCoding: pdu.dataCoding, tlvs, ...(shortMessage && { shortMessage }) };
  const { bytes, elements } = bodyOf(incoming);
  refuseBrokenHeader(pdu);
  const part = partOf(incoming);
  if (part && part.total > PARTS_MAX) refuse("ESME_RINVMSGLEN", "too many parts");
  const { text, binary } = decodeText(bytes, pdu.dataCoding, alphabet);
  // The text would be read by the default alphabet, and escape sequences of the language would be lost.
  if (!binary && !isUcs2(pdu.dataCoding) && elements.some(isLanguageTable))
    refuse("ESME_RINVESMCLASS", "national language tables are not supported");
  const udh = writeHeader(elements.filter((element) => !isConcatenation(element)));
  const userData = udh === "" && !binary ? null : { udh, dataCoding: binary ? pdu.dataCoding : null };
  if (part) return { body: { kind: "part", part: { ...part, bytes: Buffer.from(part.bytes) } }, userData };
  if (text === "") refuse("ESME_RINVMSGLEN", "the message is empty");
  return { body: { kind: "whole", text }, userData };
}

/** Octets that are marked as a header and are none would be sent as part of the text. */
function refuseBrokenHeader({ esmClass, shortMessage, tlvs }: SubmitPdu): void {
  if ((esmClass & UDHI) === 0) return;
  const all = shortMessage && shortMessage.length > 0 ? shortMessage : valueOf(tlvs, TLVS.message_payload.tag);
  const header = all?.subarray(0, (all[0] ?? 0) + 1);
  if (!header || !isWholeHeader(header))
    refuse("ESME_RINVESMCLASS", "esm_class marks a user data header, and it is broken");
}

/** Message class 0, in both coding groups that have classes. */
const isFlash = (dataCoding: number): boolean =>
  ((dataCoding & 0xd0) === 0x10 || (dataCoding & 0xf0) === 0xf0) && (dataCoding & 0x03) === 0;

function tlvsOf(given: readonly Tlv[]): ClientTlvs {
  const read = readClientTlvs(given);
  return "fault" in read ? refuse("ESME_RINVOPTPARAMVAL", read.fault) : read;
}

/** A data_sm has the fields of a submit but for those of storing, and its validity in a TLV. */
export const submitOfData = ({
  serviceType,
  source,
  esmClass,
  registeredDelivery,
  dataCoding,
  tlvs,
}: DataSm): SubmitPdu => ({
  serviceType,
  source,
  esmClass,
  registeredDelivery,
  dataCoding,
  tlvs,
  timeToLiveSeconds: findTlv(tlvs, "qos_time_to_live"),
});
