import { X509Certificate } from "node:crypto";
import { nullable, Type, type Infer, type Typed } from "../../lib/schema.ts";
import { pickFields } from "../../lib/shape.ts";
import { isPlainText } from "../../lib/text.ts";
import { Problem, type Fault } from "../../model/problem.ts";
import {
  SMPP_ALPHABETS,
  SMPP_BINDS,
  SMPP_DEFAULTS,
  SMPP_ID_FORMS,
  SMPP_LONG_MESSAGES,
  SMPP_STATUS_MEANINGS,
  SMPP_TLV_SOURCES,
  SMPP_TLV_TYPES,
  type SmppConnectionSettings,
  type SmppSecrets,
  type SmppSettings,
} from "../../model/smpp-connection.ts";
import { unknownNames, encryptSecret, type SecretFactory } from "../record-type.ts";
import type { ConnectionType } from "./connections.ts";
import { SENDER_MAX } from "./sender.ts";
import { oneOf, zoneFault } from "./shared-fields.ts";

/** Validated settings with new secrets not encrypted yet. */
interface ParsedSmppConnection extends SmppConnectionSettings {
  newSecrets?: Partial<SmppSecrets>;
}

const LIST_MAX = 100;
const MAP_MAX = 1000;
const PEM_MAX = 100_000;
const SECRET_MAX = 64;
const TEXT_MAX = 200;
const PARAMETER = "smpp";

const HOST = /^[A-Za-z0-9](?:[A-Za-z0-9._:-]*[A-Za-z0-9])?$/;
const HOST_RULE = "host must be a host name or IP address, such as smpp.carrier.example, without scheme and port.";
const SYSTEM_ID_RULE = "systemId is required: the carrier assigns it with the password.";
const TAG_RULE = "tag must be a number from 0 to 65535, or hexadecimal such as 0x1400.";
/** Content of SMPP C-octet strings: one byte per character and no NUL. */
const OCTETS = /^[\x20-\x7e\xa0-\xff]*$/;

const number = (minimum: number, maximum: number, description: string): Typed<number> =>
  Type.Integer({ minimum, maximum, description });
const text = (maxLength: number, description: string): Typed<string> => Type.String({ maxLength, description });
const octets = (field: string, maxLength: number, description: string): Typed<string> =>
  Type.String({
    maxLength,
    description,
    check: (value) => (OCTETS.test(value) ? null : `${field} must contain only Latin-1 characters.`),
  });
const flag = (description: string): Typed<boolean> => Type.Boolean({ description });

const addressType = (description: string) =>
  Type.Object(
    { ton: number(0, 7, "Type of number."), npi: number(0, 31, "Numbering plan.") },
    { description: `${description} {ton, npi}.` },
  );
const certificate = (field: string, description: string): Typed<string | null> =>
  nullable(
    Type.String({
      maxLength: PEM_MAX,
      check: (pem) =>
        isCertificate(pem)
          ? null
          : `${field} must be a certificate in PEM: it begins with -----BEGIN CERTIFICATE-----.`,
    }),
    description,
  );
/** Carriers document tags in hexadecimal, which JSON numbers lack. */
const tag = Type.Union([Type.Integer({ minimum: 0, maximum: 0xffff }), Type.String({ maxLength: 6 })], {
  description: "Tag: a number, or hexadecimal such as 0x1400.",
  error: TAG_RULE,
  check: (written) => (readTag(written) === null ? TAG_RULE : null),
});
const shownTag = number(0, 0xffff, "Tag.");
const tlvType = oneOf(SMPP_TLV_TYPES, "Encoding of the value.");

const tlvsOf = <T>(tagShape: Typed<T>) =>
  Type.Array(
    Type.Object({
      tag: tagShape,
      type: tlvType,
      source: Type.Union(
        [
          ...SMPP_TLV_SOURCES.map((source) => Type.Literal(source)),
          Type.Object({ literal: Type.String({ maxLength: TEXT_MAX, description: "Constant value." }) }),
        ],
        { description: "Source of the value: an ID of the template, the hash of the chain, or {literal}." },
      ),
    }),
    { maxItems: LIST_MAX, description: "TLVs of every submit_sm, such as DLT IDs for India." },
  );
const receiptTlvsOf = <T>(tagShape: Typed<T>) =>
  Type.Array(
    Type.Object({ tag: tagShape, type: tlvType, field: oneOf(["operator", "circle"], "Property of the phone.") }),
    {
      maxItems: LIST_MAX,
      description:
        "TLVs of receipts with properties of the phone, available in delivery reports as {{operatorCircle}}.",
    },
  );

const tlsFields = {
  ca: certificate("ca", "CA certificates in PEM; null for the system's."),
  servername: nullable(text(253, ""), "Name in the carrier's certificate if it differs from the host; null otherwise."),
  cert: certificate("cert", "Client certificate in PEM, if the carrier requires one; its key is tlsKey."),
};
const addressFields = {
  alphanumeric: addressType("Alphanumeric sender. Defaults to 5, 0."),
  shortCode: addressType("Short-code sender. Defaults to 3, 0."),
  international: addressType("International number as sender. Defaults to 1, 1."),
  recipient: addressType("Recipient. Defaults to 1, 1."),
  shortCodeDigits: number(1, 15, "Maximum digits of a short code. Defaults to 6."),
  plus: flag("True writes international numbers with a plus. Defaults to false."),
};
const priorityFields = {
  OTP: number(0, 3, "For OTP. Defaults to 2."),
  TRANS: number(0, 3, "For TRANS. Defaults to 1."),
  PROMO: number(0, 3, "For PROMO. Defaults to 0."),
};
const TLS = "TLS settings; certificates are always verified. Defaults to null, no TLS.";
const ADDRESSES = "TON and NPI of senders and recipients.";
const PRIORITIES = "priority_flag by type.";

const plainFields = {
  host: Type.String({
    maxLength: 253,
    description: "Host name or IP address of the carrier, without port.",
    check: (host) => (HOST.test(host) ? null : HOST_RULE),
  }),
  port: number(1, 65_535, "Port. Defaults to 2775; 3550 is common with TLS."),
  systemId: Type.String({
    minLength: 1,
    maxLength: 15,
    description: "system_id, 1 to 15 characters.",
    error: { minLength: SYSTEM_ID_RULE },
    check: (id) => (OCTETS.test(id) ? null : "systemId must contain only Latin-1 characters."),
  }),
  systemType: octets("systemType", 12, "system_type. Defaults to empty."),
  bindAs: oneOf(
    SMPP_BINDS,
    "Bind mode. Defaults to transceiver; use separate binds if the carrier does not support it.",
  ),
  addressRange: octets("addressRange", 40, "address_range. Defaults to empty."),
  connections: number(
    1,
    100,
    "Number of binds over all nodes. Defaults to 1. Do not exceed the carrier's limit; at least one per node is best.",
  ),
  window: number(1, 1000, "Window size: submits awaiting a response per bind. Defaults to 10."),
  responseSeconds: number(1, 300, "Response timeout. Defaults to 30."),
  enquireSeconds: number(5, 600, "Idle time before an enquire_link. Defaults to 30."),
  alphabet: oneOf(
    SMPP_ALPHABETS,
    "Default alphabet of the carrier. Defaults to gsm7. A wrong one shows ¡ instead of @.",
  ),
  longMessages: oneOf(
    SMPP_LONG_MESSAGES,
    "Transport of long texts: UDH with an 8-bit (default) or 16-bit reference, sar TLVs, or message_payload.",
  ),
  flashGsm: oneOf(["0xF0", "0x10"], "data_coding of flash messages in the default alphabet. Defaults to 0xF0."),
  serviceType: octets("serviceType", 5, "service_type. Defaults to empty."),
  esmMode: Type.Union([Type.Literal(0), Type.Literal(1), Type.Literal(2), Type.Literal(3)], {
    description: "Messaging mode of esm_class: 0 (default) is the carrier's default, 3 is store and forward.",
  }),
  validity: flag("True sends the validity period of a message to the carrier. Defaults to true."),
  receipts: oneOf(["all", "failures", "none"], "Requested receipts. Defaults to all."),
  intermediateReceipts: flag("True also requests intermediate notifications. Defaults to false."),
  unmarkedReceipts: flag(
    "True treats an inbound text in receipt format as a receipt even if esm_class does not mark it. Any phone can send such a text, so use it only for carriers that never mark receipts.",
  ),
  zone: Type.String({
    maxLength: 64,
    description: "Time zone of dates in receipts, such as Asia/Kolkata. Defaults to UTC.",
    check: zoneFault,
  }),
  idForm: oneOf(
    SMPP_ID_FORMS,
    "Message-ID format in receipts. auto (default) tries all formats and learns; exact compares literally; the others name the conversion.",
  ),
  errorTexts: Type.Record(Type.String(), {
    description: "Meanings of the carrier's error codes, shown as statusDescription.",
    check: errorTextsFault,
  }),
  statusPolicy: Type.Record(oneOf(SMPP_STATUS_MEANINGS, ""), {
    description:
      "Meaning of a command_status that differs from the standard, by number such as 0x45: retry, refuse (the message fails), or carrier (try another carrier).",
    check: statusPolicyFault,
  }),
  chain: Type.Array(
    Type.String({
      maxLength: 40,
      check: (id) =>
        /^[A-Za-z0-9]+$/.test(id) ? null : "An ID must contain only letters and digits, such as 1101172974420810001.",
    }),
    {
      maxItems: LIST_MAX,
      description: "DLT IDs of the telemarketers in the chain, the delivering one last; for chainHash.",
    },
  ),
  senders: Type.Array(
    Type.String({
      check: (sender) =>
        isPlainText(sender) && sender.trim() !== "" && sender.length <= SENDER_MAX
          ? null
          : `A sender must be plain text of 1 to ${SENDER_MAX} characters, as in messages.`,
    }),
    {
      maxItems: MAP_MAX,
      description:
        "Senders that receive replies on this connection; replies to other senders are rejected. Empty accepts all.",
    },
  ),
};

/** Schema of responses. */
const smppResponseSchema = Type.Object({
  ...plainFields,
  tls: nullable(Type.Object(tlsFields), TLS),
  addresses: Type.Object(addressFields, { description: ADDRESSES }),
  priorities: Type.Object(priorityFields, { description: PRIORITIES }),
  tlvs: tlvsOf(shownTag),
  receiptTlvs: receiptTlvsOf(shownTag),
});

const requestFields = {
  ...plainFields,
  tls: nullable(Type.Partial(Type.Object(tlsFields)), TLS),
  addresses: Type.Partial(Type.Object(addressFields), { description: ADDRESSES }),
  priorities: Type.Partial(Type.Object(priorityFields), { description: PRIORITIES }),
  tlvs: tlvsOf(tag),
  receiptTlvs: receiptTlvsOf(tag),
  password: octets("password", SECRET_MAX, "SMPP password. Stored encrypted and never returned."),
  tlsKey: nullable(
    Type.String({ maxLength: PEM_MAX }),
    "Private key of the client certificate in PEM. Stored encrypted and never returned.",
  ),
};

/** Schema of requests. */
const smppRequestSchema = Type.Partial(Type.Object(requestFields));

/** Settings in requests. Omitted fields keep their value or get the default. */
type SmppFields = Infer<typeof smppRequestSchema>;

/** Converts the settings of a request and adds faults. */
function readConnection(
  fields: SmppFields,
  known: SmppConnectionSettings | null,
  faults: Fault[],
): ParsedSmppConnection {
  const { password, tlsKey, tls, addresses, priorities, tlvs, receiptTlvs, ...plain } = fields;
  const before = { ...SMPP_DEFAULTS, host: "", systemId: "", ...known };
  const connection: ParsedSmppConnection = {
    ...before,
    ...pickFields(plainFields, plain),
    tls: tls === undefined ? before.tls : tls && { ca: null, servername: null, cert: null, ...before.tls, ...tls },
    addresses: { ...before.addresses, ...addresses },
    priorities: { ...before.priorities, ...priorities },
    tlvs: tlvs ? tlvs.map((each) => ({ ...each, tag: readTag(each.tag) ?? 0 })) : before.tlvs,
    receiptTlvs: receiptTlvs
      ? receiptTlvs.map((each) => ({ ...each, tag: readTag(each.tag) ?? 0 }))
      : before.receiptTlvs,
    secrets: known?.secrets ?? { password: "", tlsKey: null },
    newSecrets: { ...(password === undefined ? {} : { password }), ...(tlsKey === undefined ? {} : { tlsKey }) },
  };
  checkNames(fields, faults);
  checkConnection(connection, faults);
  return connection;
}

/** Refuses unknown fields: a typo would otherwise be ignored. */
function checkNames(fields: object, faults: Fault[]): void {
  for (const name of unknownNames(fields, (field) => Object.hasOwn(requestFields, field)))
    faults.push({ parameter: `${PARAMETER}.${name}`, message: "A connection over SMPP has no such field." });
}

function readTag(written: number | string): number | null {
  const isNumber = typeof written === "number" || /^(0x[0-9a-f]{1,4}|\d{1,5})$/i.test(written);
  const read = isNumber ? Number(written) : -1;
  return read >= 0 && read <= 0xffff ? read : null;
}

function isCertificate(written: string): boolean {
  try {
    return new X509Certificate(written).raw.length > 0;
  } catch {
    // Parsing is the only check for a valid certificate.
    return false;
  }
}

function errorTextsFault(map: Readonly<Record<string, string>>): string | null {
  const entries = Object.entries(map);
  if (entries.length > MAP_MAX) return `errorTexts must have at most ${MAP_MAX} entries.`;
  const isRight = entries.every(
    ([code, words]) => code !== "" && code.length <= 20 && isPlainText(words) && words.length <= TEXT_MAX,
  );
  return isRight ? null : `A code must have 1 to 20 characters, and its text must be plain with at most ${TEXT_MAX}.`;
}

function statusPolicyFault(map: object): string | null {
  const codes = Object.keys(map);
  if (codes.length > MAP_MAX) return `statusPolicy must have at most ${MAP_MAX} entries.`;
  const wrong = codes.find(
    (code) => !/^(0x[0-9a-f]{1,8}|\d{1,10})$/i.test(code) || Number(code) < 1 || Number(code) > 0xffff_ffff,
  );
  return wrong === undefined
    ? null
    : `${JSON.stringify(wrong)} is not a command_status: write it like 0x45, or as a number.`;
}

/** Rules over several fields, and fields that a new connection must have. */
function checkConnection({ host, systemId, chain, tlvs }: SmppSettings, faults: Fault[]): void {
  const fault = (field: string, message: string): void =>
    void faults.push({ parameter: `${PARAMETER}.${field}`, message });
  if (host === "") fault("host", HOST_RULE);
  if (systemId === "") fault("systemId", SYSTEM_ID_RULE);
  tlvs.forEach(({ type, source }, index) => {
    const place = `tlvs[${index}].source`;
    if (source === "chainHash" && chain.length === 0) fault(place, "chainHash requires the IDs in chain.");
    if (typeof source !== "object") return;
    const { literal } = source;
    const max = { uint8: 0xff, uint16: 0xffff, uint32: 0xffff_ffff }[type as string];
    if (max !== undefined && (!/^\d{1,10}$/.test(literal) || Number(literal) > max))
      fault(place, `A ${type} must be an integer from 0 to ${max}.`);
    if (!OCTETS.test(literal)) fault(place, "literal must contain only Latin-1 characters.");
  });
}

/** Encrypts new secrets and keeps omitted ones. */
function completeConnection(
  { newSecrets: plain = {}, ...connection }: ParsedSmppConnection,
  before: SmppConnectionSettings | null,
  factory: SecretFactory,
): SmppConnectionSettings {
  const kept = before?.secrets;
  const password =
    plain.password === undefined ? kept?.password : encryptSecret(plain.password, kept?.password, factory);
  const tlsKey =
    plain.tlsKey === undefined ? kept?.tlsKey : plain.tlsKey && encryptSecret(plain.tlsKey, kept?.tlsKey, factory);
  const faults: Fault[] = [];
  if (password === undefined)
    faults.push({
      parameter: `${PARAMETER}.password`,
      message:
        "password is required for a new connection: exported files do not contain it. Use an empty one if the carrier requires none.",
    });
  else if (before && plain.password === undefined && leadsElsewhere({ ...SMPP_DEFAULTS, ...before }, connection))
    faults.push({
      parameter: `${PARAMETER}.password`,
      message: "The password is required again: it is only sent to the carrier it was given for.",
    });
  if (connection.tls?.cert && !tlsKey)
    faults.push({
      parameter: `${PARAMETER}.tlsKey`,
      message: "A client certificate requires its private key: give it as tlsKey.",
    });
  if (faults.length > 0) throw new Problem("INVALID_REQUEST", { faults });
  return { ...connection, secrets: { password: password ?? "", tlsKey: tlsKey ?? null } };
}

/** True if the credentials could reach another host, or be read on the way. */
function leadsElsewhere(before: SmppSettings, after: SmppSettings): boolean {
  if (before.host !== after.host || before.port !== after.port) return true;
  if (before.tls === null) return false;
  return before.tls.servername !== after.tls?.servername || before.tls.ca !== after.tls.ca;
}

/** Settings without secrets. Fields missing from an earlier release get their defaults. */
function showConnection(stored: SmppConnectionSettings): SmppSettings {
  const { secrets: _, ...connection } = stored;
  return { ...SMPP_DEFAULTS, ...connection };
}

export const smppConnection: ConnectionType<SmppConnectionSettings> = {
  title: "SMPP",
  channels: ["sms"],
  requestSchema: smppRequestSchema,
  responseSchema: smppResponseSchema,
  read: readConnection,
  complete: completeConnection,
  show: showConnection,
};
