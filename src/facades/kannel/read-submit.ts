import type { DraftUserData } from "../../channels/sms/read.ts";
import { derivedId } from "../../lib/ids.ts";
import type { MessageCallback } from "../../model/callback.ts";
import type { State } from "../../model/message.ts";
import { refuseFaults, type Fault } from "../../model/problem.ts";
import { isWholeHeader } from "../../model/user-data.ts";
import { tlvOctets, type Tlv, type TlvForm } from "../../smpp/tlv.ts";
import { readClientTlvs, type ClientTlvs } from "../client-tlvs.ts";
import { decodeText, readForm, type Parameters } from "../parameters.ts";
import type { SmsExtras } from "../sms-with.ts";
import { decodeSmsText } from "./charset.ts";
import { tagOf, type TlvDefinition } from "./settings.ts";

/** A sendsms request as `/v1/sms` takes it, with what its body cannot say. */
export interface Submit extends SmsExtras {
  body: object;
  validForMs: number | undefined;
  callback: MessageCallback | undefined;
}

interface Subject {
  accountId: number;
  credentialId: string;
  username: string;
  routeClass: string;
  /** TLVs that `meta-data` may have. */
  definitions: readonly TlvDefinition[];
  now: number;
}

const MINUTE_MS = 60_000;
const URL_MAX = 2000;
const ACCOUNT_MAX = 64;
/** `binfo` and `meta-data` are stored with every message of the request. */
const RETURNED_MAX = 1000;

/** Values of `dlr-mask`. */
export const DLR = { delivered: 1, undelivered: 2, buffered: 4, submitted: 8, rejected: 16 } as const;
const MASK_MAX = 31;
/** `coding` of octets. */
const EIGHT_BIT = 1;
/** Octets of user data in one SMS. */
const UDH_MAX = 140;
const DATA = 0x04;
const DATA_WITH_CLASS = 0x14;
const DATA_WITH_CLASS_ALTERNATIVE = 0xf4;

/** Reads a request whose login was right. Faults name the parameter. */
export function readSubmit(given: Parameters, subject: Subject): Submit {
  const faults: Fault[] = [];
  const fault = (parameter: string, message = `${parameter} is malformed.`): void =>
    void faults.push({ parameter, message });
  const text = (name: string): string | null => {
    const bytes = given.get(name);
    return bytes === undefined ? null : decodeText(bytes, "utf-8");
  };
  /** Kannel takes what is no number as not given, and -1 too. */
  const number = (name: string): number | null => {
    const value = text(name)?.trim();
    return value !== undefined && /^-?\d{1,9}$/.test(value) && value !== "-1" ? Number(value) : null;
  };
  const within = (name: string, least: number, most: number): number | null => {
    const value = number(name);
    if (value !== null && (value < least || value > most)) fault(name);
    return value;
  };

  const udh = given.get("udh") ?? Buffer.alloc(0);
  if (udh.length > UDH_MAX) fault("udh", "UDH field is too long");
  else if (udh.length > 0 && !isWholeHeader(udh)) fault("udh");
  // A header marks data unless a coding is given.
  const coding = within("coding", 0, 2) ?? (udh.length > 0 ? EIGHT_BIT : null);
  const mwi = within("mwi", 0, 7);
  if (mwi !== null && coding === EIGHT_BIT) fault("mwi", "mwi needs a text: coding 0 or 2.");
  const pid = within("pid", 0, 255);
  const mclass = within("mclass", 0, 3);
  within("compress", 0, 1);
  const altDcs = within("alt-dcs", 0, 2);
  within("rpi", 0, 2);
  within("priority", 0, 3);
  const deferred = within("deferred", 0, 43_200);
  const validity = number("validity");
  const account = text("account") ?? "";
  if (account.length > ACCOUNT_MAX) fault("account");
  for (const name of ["binfo", "meta-data"])
    if ((text(name) ?? "").length > RETURNED_MAX) fault(name, `${name} has more than ${RETURNED_MAX} characters.`);
  const to = text("to");
  if (to === null) fault("to", "Missing receiver number");
  else if (to === "") fault("to", "Empty receiver number not allowed");
  const from = text("from") ?? "";
  if (from === "") fault("sender");

  const octets = given.get("text") ?? Buffer.alloc(0);
  const charset = text("charset") || (coding === 2 ? "utf-16be" : "utf-8");
  const words = coding === EIGHT_BIT ? octets.toString("hex") : decodeSmsText(octets, charset);
  if (words === null) fault("charset");
  else if (words === "") fault("text", "Missing message text");
  const callback = readCallback(text, within("dlr-mask", 0, MASK_MAX), subject, fault);
  const tlvs = readTlvs(text("meta-data") ?? "", subject.definitions, fault);
  refuseFaults(faults);
  return {
    body: {
      sender: from,
      type: subject.routeClass,
      to: (to ?? "").trim().split(/\s+/),
      text: words,
      ...(coding === 2 && { unicode: 1 }),
      // A message waiting indication has no class.
      ...(mclass === 0 && mwi === null && { flash: 1 }),
      ...(deferred !== null && deferred > 0 && { sendAt: subject.now + deferred * MINUTE_MS }),
    },
    validForMs: validity !== null && validity > 0 ? validity * MINUTE_MS : undefined,
    callback,
    tlvs,
    userData: userDataOf(udh, coding === EIGHT_BIT ? dataCodingOf(mclass, altDcs) : null, { mwi, pid }),
  };
}

function userDataOf(
  udh: Buffer,
  dataCoding: number | null,
  { mwi, pid }: { mwi: number | null; pid: number | null },
): DraftUserData | null {
  const fields = { ...(mwi !== null && { waiting: mwi }), ...(pid !== null && pid > 0 && { protocolId: pid }) };
  if (udh.length === 0 && dataCoding === null && Object.keys(fields).length === 0) return null;
  return { udh: udh.toString("hex"), dataCoding, ...fields };
}

/** data_coding of 8-bit data: the group without a class, or the group with one that `alt-dcs` chooses. */
function dataCodingOf(mclass: number | null, altDcs: number | null): number {
  if (mclass === null) return DATA;
  return (altDcs === 1 ? DATA_WITH_CLASS_ALTERNATIVE : DATA_WITH_CLASS) | mclass;
}

function readCallback(
  text: (name: string) => string | null,
  mask: number | null,
  { accountId, credentialId, username }: Subject,
  fault: (parameter: string) => void,
): MessageCallback | undefined {
  const url = text("dlr-url");
  if (url === null || url === "") return undefined;
  if (!/^https?:\/\//i.test(url) || url.length > URL_MAX || !URL.canParse(url)) {
    fault("dlr-url");
    return undefined;
  }
  const states = statesOf(mask ?? 0);
  if (states.length === 0) return undefined;
  const shown = { account: text("account"), binfo: text("binfo"), meta: text("meta-data") };
  const options = Object.fromEntries(Object.entries(shown).flatMap(([name, value]) => (value ? [[name, value]] : [])));
  return {
    endpointId: derivedId(JSON.stringify(["kannel", accountId, new URL(url).origin])),
    kind: "kannel",
    credentialId,
    states,
    url,
    options: { mask: mask ?? 0, username, ...(options as Record<string, string>) },
  };
}

/** The states that a mask asks for. An expiry may be either failure; the report itself decides. */
function statesOf(mask: number): State[] {
  const asks = (bit: number): boolean => (mask & bit) !== 0;
  return [
    ...(asks(DLR.delivered) ? (["delivered"] as const) : []),
    ...(asks(DLR.submitted) ? (["submitted"] as const) : []),
    ...(asks(DLR.buffered) ? (["enroute"] as const) : []),
    ...(asks(DLR.undelivered) ? (["undelivered"] as const) : []),
    ...(asks(DLR.rejected) ? (["cancelled"] as const) : []),
    ...(asks(DLR.rejected) || asks(DLR.undelivered) ? (["expired", "rejected"] as const) : []),
  ];
}

/** TLVs of a message, `?smpp?name=value&…`, by their definitions. Kannel ignores names without a definition, too. */
function readTlvs(
  meta: string,
  definitions: readonly TlvDefinition[],
  fault: (parameter: string, message: string) => void,
): ClientTlvs {
  const smpp = /\?smpp\?([^?]*)/.exec(`?${meta}`)?.[1] ?? "";
  const values = readForm(smpp);
  const tlvs: Tlv[] = [];
  for (const definition of definitions) {
    const value = values.get(definition.name);
    const octets = value && octetsOf(definition, value);
    if (octets === null) fault("meta-data", `The value of the TLV ${definition.name} is not of its type.`);
    else if (octets) tlvs.push({ tag: tagOf(definition), value: octets });
  }
  const read = readClientTlvs(tlvs);
  if (!("fault" in read)) return read;
  fault("meta-data", read.fault);
  return { dlt: null, tlvs: [] };
}

function octetsOf({ type, length }: TlvDefinition, value: Buffer): Buffer | null {
  if (type === "integer") return tlvOctets(INTEGERS[length ?? 0] ?? "uint32", value.toString("latin1"));
  const octets = type === "nulterminated" ? Buffer.concat([value, NUL]) : value;
  return length !== undefined && octets.length > length ? null : octets;
}

const NUL = Buffer.alloc(1);
const INTEGERS: Readonly<Record<number, TlvForm>> = { 1: "uint8", 2: "uint16", 4: "uint32" };
