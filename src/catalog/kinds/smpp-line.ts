import { X509Certificate } from "node:crypto";
import { nullable } from "../../lib/nullable.ts";
import { isPlainText } from "../../lib/plain-text.ts";
import { Type, type Schema } from "../../lib/schema.ts";
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
  type SmppLine,
  type SmppReceiptTlv,
  type SmppSecrets,
  type SmppSettings,
  type SmppTlv,
  type SmppTls,
} from "../../model/smpp-line.ts";
import { misspelt } from "../misspelt.ts";
import type { Mint } from "../record-kind.ts";
import { isZone } from "../settings.ts";
import { sealed } from "./sealed.ts";
import type { LineKind } from "./lines.ts";
import { SENDER_MAX } from "./sender.ts";
import { oneOf } from "./words.ts";

/** A line as people give it: what is not given stays, or has its default. */
type SmppFields = Partial<
  Omit<SmppSettings, "tls" | "addresses" | "priorities" | "tlvs" | "receiptTlvs"> & {
    tls: Partial<SmppTls> | null;
    addresses: Partial<SmppSettings["addresses"]>;
    priorities: Partial<SmppSettings["priorities"]>;
    tlvs: readonly (Omit<SmppTlv, "tag"> & GivenTag)[];
    receiptTlvs: readonly (Omit<SmppReceiptTlv, "tag"> & GivenTag)[];
  } & SmppSecrets
>;

interface GivenTag {
  /** Carriers write it in hex, and JSON has no such numbers. */
  tag: number | string;
}

/** A line as it was read, with the secrets that were given and are not sealed yet. */
interface ReadLine extends SmppLine {
  given?: Partial<SmppSecrets>;
}

const LIST_MAX = 100;
const MAP_MAX = 1000;
const PEM_MAX = 100_000;
const SECRET_MAX = 64;
const TEXT_MAX = 200;
const PARAMETER = "smpp";

const number = (minimum: number, maximum: number, description: string): Schema =>
  Type.Integer({ minimum, maximum, description });
const text = (maxLength: number, description: string): Schema => Type.String({ maxLength, description });
const flag = (description: string): Schema => Type.Boolean({ description });

const addressType = (description: string): Schema =>
  Type.Object(
    { ton: number(0, 7, "Type of number."), npi: number(0, 31, "Numbering plan.") },
    { description: `${description} {ton, npi}.` },
  );
const pem = (description: string): Schema => nullable(Type.String({ maxLength: PEM_MAX }), description);
const tag = Type.Union([Type.Integer({ minimum: 0, maximum: 0xffff }), Type.String({ maxLength: 6 })], {
  description: "Its tag: a number, or like 0x1400.",
});
const shownTag = number(0, 0xffff, "Its tag.");
const tlvType = oneOf(SMPP_TLV_TYPES, "How its value is written.");

const tlvsOf = (tagShape: Schema): Schema =>
  Type.Array(
    Type.Object({
      tag: tagShape,
      type: tlvType,
      source: Type.Union(
        [
          ...SMPP_TLV_SOURCES.map((source) => Type.Literal(source)),
          Type.Object({ literal: Type.String({ maxLength: TEXT_MAX, description: "The same every time." }) }),
        ],
        { description: "Where its value comes from: an id of the template, the hash of the chain, or {literal}." },
      ),
    }),
    { maxItems: LIST_MAX, description: "Parameters that go with every submit, like those of India's registers." },
  );
const receiptTlvsOf = (tagShape: Schema): Schema =>
  Type.Array(
    Type.Object({ tag: tagShape, type: tlvType, field: oneOf(["operator", "circle"], "What it tells of the phone.") }),
    {
      maxItems: LIST_MAX,
      description: "Parameters of receipts that tell of the phone: delivery reports have it as {{operatorCircle}}.",
    },
  );

const tlsFields = {
  ca: pem("Certificates to trust instead of the usual ones, in PEM; null for the usual ones."),
  servername: nullable(
    text(253, ""),
    "The name in the carrier's certificate where it is not the host; null where it is.",
  ),
  cert: pem("Our certificate in PEM, where the carrier asks for one; its key is tlsKey."),
};
const addressFields = {
  alphanumeric: addressType("A sender with letters; 5, 0 unless given."),
  shortCode: addressType("A sender that is a short number; 3, 0 unless given."),
  international: addressType("A sender that is an international number; 1, 1 unless given."),
  recipient: addressType("The recipient; 1, 1 unless given."),
  shortCodeDigits: number(1, 15, "A sender of at most so many digits is a short number; 6 unless given."),
  plus: flag("Whether international numbers are written with a plus; false unless given."),
};
const priorityFields = {
  OTP: number(0, 3, "Of one-time passwords; 2 unless given."),
  TRANS: number(0, 3, "Of TRANS; 1 unless given."),
  PROMO: number(0, 3, "Of promotions; 0 unless given."),
};
const TLS = "TLS, with certificates verified always; null, which it is unless given, speaks in the clear.";
const ADDRESSES = "How senders and recipients are marked.";
const PRIORITIES = "priority_flag by type.";

const plainFields = {
  host: text(253, "The carrier's host: a name or an address, without a port."),
  port: number(1, 65_535, "2775 unless given; 3550 is usual with TLS."),
  systemId: text(15, "Our name with the carrier, 1 to 15 characters."),
  systemType: text(12, "What the carrier asks for as system_type; empty unless given."),
  bindAs: oneOf(SMPP_BINDS, "transceiver, which it is unless given, or two binds where the carrier has no such thing."),
  addressRange: text(40, "What the carrier asks for as address_range; empty unless given."),
  connections: number(
    1,
    100,
    "Binds over all nodes together, 1 unless given: no more than the carrier allows, and best at least one for each node.",
  ),
  window: number(1, 1000, "Submits that wait for their answer at a time, on each bind; 10 unless given."),
  responseSeconds: number(1, 300, "How long an answer is waited for; 30 unless given."),
  enquireSeconds: number(5, 600, "How long nothing may be heard before we ask; 30 unless given."),
  alphabet: oneOf(SMPP_ALPHABETS, "The carrier's default alphabet, gsm7 unless given. A wrong one shows as ¡ for @."),
  longMessages: oneOf(
    SMPP_LONG_MESSAGES,
    "How long texts go: with a header of 8 or 16 bits, which it is with 8 unless given, in sar parameters, or whole as payload.",
  ),
  flashGsm: oneOf(["0xF0", "0x10"], "data_coding of flash messages in the default alphabet; 0xF0 unless given."),
  serviceType: text(5, "What the carrier asks for as service_type; empty unless given."),
  esmMode: number(0, 3, "Messaging mode: 0, which it is unless given, is the carrier's own; 3 is store and forward."),
  validity: flag("Whether the carrier is told how long a message is worth delivering; true unless given."),
  receipts: oneOf(["all", "failures", "none"], "Which ends the carrier reports; all unless given."),
  intermediateReceipts: flag("Whether it reports on the way too; false unless given."),
  unmarkedReceipts: flag(
    "Whether a text that looks like a receipt is one though it is not marked. Anybody's phone can send such a text: only for a carrier that never marks them.",
  ),
  zone: text(64, "Time zone of the dates in receipts, like Asia/Kolkata; UTC unless given."),
  idForm: oneOf(
    SMPP_ID_FORMS,
    "How receipts spell ids. auto, which it is unless given, tries every spelling and learns; exact takes them as they are; the others say what is made of a receipt's id.",
  ),
  errorTexts: Type.Record(Type.String(), {
    description: "What the carrier's error codes mean, by code: shown as statusDescription.",
  }),
  statusPolicy: Type.Record(oneOf(SMPP_STATUS_MEANINGS, ""), {
    description:
      "What a command_status means here where it means something else, by its number, like 0x45: retry, refuse (the message's fault), or carrier (another carrier is tried).",
  }),
  chain: Type.Array(Type.String({ maxLength: 40 }), {
    maxItems: LIST_MAX,
    description: "Ids of the telemarketers that messages go through, the one that delivers them last; for chainHash.",
  }),
  senders: Type.Array(Type.String(), {
    maxItems: MAP_MAX,
    description: "Our senders that phones answer on this line; what comes for another is not taken. Empty takes all.",
  }),
};

/** What an answer shows of a line. */
const smppShown = Type.Object({
  ...plainFields,
  tls: nullable(Type.Object(tlsFields), TLS),
  addresses: Type.Object(addressFields, { description: ADDRESSES }),
  priorities: Type.Object(priorityFields, { description: PRIORITIES }),
  tlvs: tlvsOf(shownTag),
  receiptTlvs: receiptTlvsOf(shownTag),
});

const given = {
  ...plainFields,
  tls: nullable(Type.Partial(Type.Object(tlsFields)), TLS),
  addresses: Type.Partial(Type.Object(addressFields), { description: ADDRESSES }),
  priorities: Type.Partial(Type.Object(priorityFields), { description: PRIORITIES }),
  tlvs: tlvsOf(tag),
  receiptTlvs: receiptTlvsOf(tag),
  password: text(SECRET_MAX, "The carrier's password for us. It is sealed, and never shown."),
  tlsKey: nullable(
    Type.String({ maxLength: PEM_MAX }),
    "The key of our certificate in PEM. It is sealed, and never shown.",
  ),
};

/** What people give of a line. */
const smppGiven = Type.Partial(Type.Object(given));

/** The line that somebody asks for; what is wrong with it goes to `faults`. */
function readLine(fields: SmppFields, known: SmppLine | null, faults: Fault[]): ReadLine {
  const { password, tlsKey, tls, addresses, priorities, tlvs, receiptTlvs, ...plain } = fields;
  const before = { ...SMPP_DEFAULTS, host: "", systemId: "", ...known };
  const line: ReadLine = {
    ...before,
    ...pick(plain),
    tls: tls === undefined ? before.tls : tls && { ca: null, servername: null, cert: null, ...before.tls, ...tls },
    addresses: { ...before.addresses, ...addresses },
    priorities: { ...before.priorities, ...priorities },
    tlvs: tlvs ? tlvs.map((each, index) => ({ ...each, tag: readTag(each, `tlvs[${index}]`, faults) })) : before.tlvs,
    receiptTlvs: receiptTlvs
      ? receiptTlvs.map((each, index) => ({ ...each, tag: readTag(each, `receiptTlvs[${index}]`, faults) }))
      : before.receiptTlvs,
    secrets: known?.secrets ?? { password: "", tlsKey: null },
    given: { ...(password === undefined ? {} : { password }), ...(tlsKey === undefined ? {} : { tlsKey }) },
  };
  checkNames(fields, faults);
  checkLine(line, faults);
  return line;
}

const pick = (fields: object): object =>
  Object.fromEntries(Object.entries(fields).filter(([name]) => Object.hasOwn(plainFields, name)));

/** A field that is misspelt would leave the line as it is without a word, and somebody in search of the reason. */
function checkNames(fields: object, faults: Fault[]): void {
  for (const name of misspelt(fields, (field) => Object.hasOwn(given, field)))
    faults.push({ parameter: `${PARAMETER}.${name}`, message: "A line over SMPP has no such field." });
}

function readTag({ tag: written }: GivenTag, place: string, faults: Fault[]): number {
  const read =
    typeof written === "number" ? written : /^(0x[0-9a-f]{1,4}|\d{1,5})$/i.test(written) ? Number(written) : -1;
  if (read >= 0 && read <= 0xffff) return read;
  faults.push({ parameter: `${PARAMETER}.${place}.tag`, message: "tag is a number from 0 to 65535, or like 0x1400." });
  return 0;
}

const HOST = /^[A-Za-z0-9](?:[A-Za-z0-9._:-]*[A-Za-z0-9])?$/;
/** What the fields of SMPP can hold: one octet for each character, and none that ends them. */
const OCTETS = /^[\x20-\x7e\xa0-\xff]*$/;

function checkLine(line: ReadLine, faults: Fault[]): void {
  const fault = (field: string, message: string): void =>
    void faults.push({ parameter: `${PARAMETER}.${field}`, message });
  if (!HOST.test(line.host))
    fault("host", "host is a name or an address, like smpp.carrier.example, without a scheme and without a port.");
  if (line.systemId === "")
    fault("systemId", "systemId is our name with the carrier, which gives it with the password.");
  for (const field of ["systemId", "systemType", "addressRange", "serviceType"] as const)
    if (!OCTETS.test(line[field])) fault(field, `${field} has letters, digits and signs of Latin-1 only.`);
  if (line.given?.password !== undefined && !OCTETS.test(line.given.password))
    fault("password", "password has letters, digits and signs of Latin-1 only.");
  if (!isZone(line.zone)) fault("zone", "zone is the name of a time zone, like Asia/Kolkata or UTC.");
  for (const field of ["ca", "cert"] as const)
    if (line.tls && !isCertificate(line.tls[field]))
      fault(`tls.${field}`, `${field} is a certificate in PEM: it begins with -----BEGIN CERTIFICATE-----.`);
  checkMaps(line, fault);
  checkLists(line, fault);
}

function isCertificate(written: string | null): boolean {
  if (written === null) return true;
  try {
    return new X509Certificate(written).raw.length > 0;
  } catch {
    // There is no other way to ask whether it is one.
    return false;
  }
}

type Tell = (field: string, message: string) => void;

function checkMaps({ errorTexts, statusPolicy }: SmppSettings, fault: Tell): void {
  for (const [field, map] of Object.entries({ errorTexts, statusPolicy }))
    if (Object.keys(map).length > MAP_MAX) fault(field, `${field} has at most ${MAP_MAX} entries.`);
  for (const [code, words] of Object.entries(errorTexts))
    if (code === "" || code.length > 20 || !isPlainText(words) || words.length > TEXT_MAX)
      fault("errorTexts", `A code has 1 to 20 characters, and its text is plain and has at most ${TEXT_MAX}.`);
  for (const code of Object.keys(statusPolicy))
    if (!/^(0x[0-9a-f]{1,8}|\d{1,10})$/i.test(code) || Number(code) < 1 || Number(code) > 0xffff_ffff)
      fault("statusPolicy", `${JSON.stringify(code)} is no command_status: write it like 0x45, or as a number.`);
}

function checkLists({ senders, chain, tlvs }: SmppSettings, fault: Tell): void {
  senders.forEach((sender, index) => {
    if (!isPlainText(sender) || sender.trim() === "" || sender.length > SENDER_MAX)
      fault(`senders[${index}]`, `A sender is plain text of 1 to ${SENDER_MAX} characters, as messages have it.`);
  });
  chain.forEach((id, index) => {
    if (!/^[A-Za-z0-9]+$/.test(id))
      fault(`chain[${index}]`, "An id has letters and digits only, like 1101172974420810001.");
  });
  tlvs.forEach(({ type, source }, index) => {
    const place = `tlvs[${index}].source`;
    if (source === "chainHash" && chain.length === 0) fault(place, "The hash needs a chain: give the ids in chain.");
    if (typeof source !== "object") return;
    const { literal } = source;
    const max = { uint8: 0xff, uint16: 0xffff, uint32: 0xffff_ffff }[type as string];
    if (max !== undefined && (!/^\d{1,10}$/.test(literal) || Number(literal) > max))
      fault(place, `A ${type} is a whole number from 0 to ${max}.`);
    if (!OCTETS.test(literal)) fault(place, "literal has letters, digits and signs of Latin-1 only.");
  });
}

/** Seals what was given, and keeps what was not. */
function completeLine({ given: plain = {}, ...line }: ReadLine, before: SmppLine | null, mint: Mint): SmppLine {
  const kept = before?.secrets;
  const password = plain.password === undefined ? kept?.password : sealed(plain.password, kept?.password, mint);
  const tlsKey = plain.tlsKey === undefined ? kept?.tlsKey : plain.tlsKey && sealed(plain.tlsKey, kept?.tlsKey, mint);
  const faults: Fault[] = [];
  if (password === undefined)
    faults.push({
      parameter: `${PARAMETER}.password`,
      message:
        "password is required for a new line: exported files do not have it. Give an empty one if the carrier asks for none.",
    });
  else if (before && plain.password === undefined && leadsElsewhere({ ...SMPP_DEFAULTS, ...before }, line))
    faults.push({
      parameter: `${PARAMETER}.password`,
      message: "give the password again: it is only ever sent to the carrier it was given for.",
    });
  if (line.tls?.cert && !tlsKey)
    faults.push({ parameter: `${PARAMETER}.tlsKey`, message: "A certificate needs its key: give it as tlsKey." });
  if (faults.length > 0) throw new Problem("INVALID_REQUEST", { faults });
  return { ...line, secrets: { password: password ?? "", tlsKey: tlsKey ?? null } };
}

/** Whether somebody else may be at the other end of it, or listen on the way. */
function leadsElsewhere(before: SmppSettings, after: SmppSettings): boolean {
  if (before.host !== after.host || before.port !== after.port) return true;
  if (before.tls === null) return false;
  return before.tls.servername !== after.tls?.servername || before.tls.ca !== after.tls.ca;
}

/** A line without its secrets; one that an earlier release stored has the defaults of what it could not know. */
function showLine(stored: SmppLine): SmppSettings {
  const { secrets: _, ...line } = stored;
  return { ...SMPP_DEFAULTS, ...line };
}

/** Text messages alone go over SMPP. */
export const smppLine: LineKind<SmppLine> = {
  title: "SMPP",
  channels: ["sms"],
  given: smppGiven,
  shown: smppShown,
  read: readLine,
  complete: completeLine,
  show: showLine,
};
