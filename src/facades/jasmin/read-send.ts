import type { Credential } from "../../accounts/secret-index.ts";
import type { Services } from "../../http/route.ts";
import { derivedId } from "../../lib/ids.ts";
import type { MessageCallback } from "../../model/callback.ts";
import type { RouteClass, State } from "../../model/message.ts";
import type { StoredCredential } from "../../model/credential.ts";
import { tlvOctets, type Tlv, type TlvForm } from "../../smpp/tlv.ts";
import { isClientTag, readClientTlvs, type ClientTlvs } from "../client-tlvs.ts";
import { decodeText } from "../parameters.ts";
import type { SmsExtras } from "../sms-with.ts";
import { classSetting } from "../setting-fields.ts";
import { refused, textOf, type Arguments } from "./arguments.ts";
import { readScheduledTime } from "./scheduled-time.ts";

/** A send as `/v1/sms` takes it, with what its body cannot say. */
export interface JasminSend extends SmsExtras {
  body: object;
  validForMs: number | undefined;
  callback: MessageCallback | undefined;
}

export interface Subject {
  accountId: number;
  credentialId: string;
  routeClass: RouteClass;
  now: number;
  /** The recipients, where the caller has read them. */
  to?: readonly string[];
}

/** The subject of a request with this login. */
export const subjectOf = (
  { account, key }: Credential<StoredCredential>,
  { clock }: Pick<Services, "clock">,
): Subject => ({
  accountId: account.id,
  credentialId: key.id,
  routeClass: classSetting(key),
  now: clock.now(),
});

/** The arguments of `/send` and the values that they may have. */
const PATTERNS: Readonly<Record<string, RegExp>> = {
  to: /^\+?\d+$/,
  from: /^/,
  coding: /^(?:0|1|2|3|4|5|6|7|8|9|10|13|14)$/,
  username: /^/,
  password: /^/,
  priority: /^[0-3]$/,
  sdt: /^\d{13}\d{2}[+\-R]$/,
  "validity-period": /^\d{1,6}$/,
  dlr: /^(?:yes|no)$/,
  "dlr-url": /^https?:\/\/.*$/,
  "dlr-level": /^[1-3]$/,
  "dlr-method": /^(?:get|post)$/i,
  tags: /^[-a-zA-Z0-9,]*$/,
  content: /^/,
  "hex-content": /^(?:[0-9a-fA-F]{2})*$/,
  custom_tlvs: /^/,
};

/** Charsets of the data codings that carry text. */
const CHARSETS: Readonly<Record<string, string>> = {
  "0": "utf-8",
  "1": "us-ascii",
  "3": "iso-8859-1",
  "5": "shift_jis",
  "6": "iso-8859-5",
  "7": "iso-8859-8",
  "8": "utf-16be",
  "10": "iso-2022-jp",
  "14": "euc-kr",
};

/** Data codings of octets. */
const BINARY: ReadonlySet<string> = new Set(["2", "4"]);

const URL_MAX = 2000;
/** Longest argument. The content has a limit of its own. A batch repeats its globals in every entry. */
const VALUE_MAX = 10_000;
const MINUTE_MS = 60_000;

/** Reads the arguments of a send whose login was right. */
export function readSend(given: Arguments, subject: Subject): JasminSend {
  checkArguments(given, subject.to !== undefined);
  const text = (name: string): string => textOf(given, name) ?? "";
  const coding = text("coding") || "0";
  const sdt = textOf(given, "sdt");
  const sendAt = sdt === null ? null : readScheduledTime(sdt, subject.now);
  if (sdt !== null && sendAt === null) throw invalid("sdt", sdt);
  const validity = Number(text("validity-period") || "0");
  return {
    body: {
      sender: text("from"),
      type: subject.routeClass,
      to: subject.to ?? [text("to")],
      text: contentOf(given, coding),
      ...(coding === "8" && { unicode: 1 }),
      ...(sendAt !== null && { sendAt }),
    },
    validForMs: validity > 0 ? validity * MINUTE_MS : undefined,
    callback: callbackOf(given, subject),
    tlvs: readTlvs(textOf(given, "custom_tlvs")),
    userData: BINARY.has(coding) ? { udh: "", dataCoding: Number(coding) } : null,
  };
}

/** Checks names and values as Jasmin does. A batch has read the recipients itself. */
export function checkArguments(given: Arguments, hasRecipients: boolean, patterns = PATTERNS): void {
  if (!hasRecipients && !given.has("to")) throw refused("Mandatory argument [to] is not found.", "to");
  for (const name of given.keys()) {
    const pattern = patterns[name];
    if (!pattern) throw refused(`Argument [${name.slice(0, 100)}] is unknown.`, name);
    // The charset of the content depends on the coding.
    if (name === "content" || (name === "to" && hasRecipients)) continue;
    const value = textOf(given, name) ?? "";
    if (value.length > VALUE_MAX || !pattern.test(value)) throw invalid(name, value);
  }
}

const invalid = (name: string, value: string): Error =>
  refused(`Argument [${name}] has an invalid value: [${value.slice(0, 100)}].`, name);

function contentOf(given: Arguments, coding: string): string {
  const hex = textOf(given, "hex-content");
  const content = given.get("content");
  if (hex === null && content === undefined) throw refused("content or hex-content not present.", "content");
  if (hex !== null && content !== undefined)
    throw refused("content and hex-content cannot be used both in same request.", "content");
  if (BINARY.has(coding)) return octetsIn(hex, content).toString("hex");
  // JSON has characters, whatever the coding.
  if (typeof content === "string") return content;
  const charset = CHARSETS[coding];
  if (charset === undefined)
    throw refused(`Argument [coding] has an invalid value: [${coding}], which is not supported.`, "coding");
  const text = decodeText(hex === null ? (content ?? Buffer.alloc(0)) : Buffer.from(hex, "hex"), charset);
  if (text === null) throw refused(`Argument [content] has an invalid value: it is not ${charset}.`, "content");
  return text;
}

/** The octets of a binary message. Characters of JSON are octets if they are below 256. */
function octetsIn(hex: string | null, content: Buffer | string | undefined): Buffer {
  if (hex !== null) return Buffer.from(hex, "hex");
  if (typeof content !== "string") return Buffer.isBuffer(content) ? content : Buffer.alloc(0);
  if (LATIN_1.test(content)) return Buffer.from(content, "latin1");
  throw refused("Argument [content] has an invalid value: a binary message has hex-content.", "content");
}

function callbackOf(given: Arguments, { accountId, credentialId, to }: Subject): MessageCallback | undefined {
  const url = textOf(given, "dlr-url");
  // Without an address Jasmin takes `yes` as `no`.
  if (textOf(given, "dlr") !== "yes" || url === null) return undefined;
  if (url.length > URL_MAX || !URL.canParse(url)) throw invalid("dlr-url", url);
  const level = Number(textOf(given, "dlr-level") ?? "1");
  const method = (textOf(given, "dlr-method") ?? "POST").toUpperCase() === "GET" ? "GET" : "POST";
  return {
    endpointId: derivedId(JSON.stringify(["jasmin", accountId, new URL(url).origin])),
    kind: "jasmin",
    credentialId,
    states: statesOf(level),
    url,
    method,
    options: { level, single: to === undefined },
  };
}

const BEFORE_SUBMIT = ["rejected", "cancelled", "expired"] as const satisfies readonly State[];

const statesOf = (level: number): State[] =>
  level === 1
    ? ["submitted", ...BEFORE_SUBMIT]
    : [...(level === 3 ? (["submitted"] as const) : []), "delivered", "undelivered", "unknown", ...BEFORE_SUBMIT];

/** Types of the values, as the library of Jasmin names them. */
const TLV_FORMS: Readonly<Record<string, TlvForm>> = {
  Int1: "uint8",
  Int2: "uint16",
  Int4: "uint32",
  OctetString: "octets",
  COctetString: "cstring",
};
const LATIN_1 = /^[\0-\xff]*$/;

/** TLVs as `[[tag, length, type, value], …]`. */
function readTlvs(written: string | null): ClientTlvs {
  const given = (written === null || written === "" ? [] : listIn(written)).map((each): Tlv => {
    const [tag, length, type, value]: unknown[] = Array.isArray(each) ? each : [];
    const form = TLV_FORMS[String(type)];
    const isText = typeof value === "string" || typeof value === "number";
    const octets = form !== undefined && isText && LATIN_1.test(String(value)) ? tlvOctets(form, String(value)) : null;
    const hasLength = typeof length !== "number" || octets?.length === length;
    if (octets === null || !hasLength || !isClientTag(Number(tag))) throw invalid("custom_tlvs", written ?? "");
    return { tag: Number(tag), value: octets };
  });
  const read = readClientTlvs(given);
  if ("fault" in read) throw refused(`Argument [custom_tlvs] has an invalid value: ${read.fault}`, "custom_tlvs");
  return read;
}

function listIn(written: string): readonly unknown[] {
  try {
    const value: unknown = JSON.parse(written);
    if (Array.isArray(value)) return value;
  } catch {
    // Refused below.
  }
  throw invalid("custom_tlvs", written);
}
