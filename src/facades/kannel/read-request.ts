import type { FacadeCall } from "../../http/facade.ts";
import { Problem } from "../../model/problem.ts";
import { decodeText, percentDecode, queryOf, readForm, type Parameters } from "../parameters.ts";
import { readXmlTexts } from "./xml.ts";

/** Kannel's parameters that a POST gives as headers, by the part of the name after `x-kannel-`. */
const HEADERS: Readonly<Record<string, string>> = {
  username: "username",
  password: "password",
  from: "from",
  to: "to",
  "dlr-mask": "dlr-mask",
  "dlr-url": "dlr-url",
  smsc: "smsc",
  udh: "udh",
  mclass: "mclass",
  mwi: "mwi",
  coding: "coding",
  compress: "compress",
  pid: "pid",
  rpi: "rpi",
  "alt-dcs": "alt-dcs",
  validity: "validity",
  deferred: "deferred",
  priority: "priority",
  account: "account",
  binfo: "binfo",
  "meta-data": "meta-data",
};

/** Elements of a POST in XML, under `message/submit`. Kannel has two names for some. */
const ELEMENTS: Readonly<Record<string, string>> = {
  "da/number": "to",
  "oa/number": "from",
  ud: "text",
  udh: "udh",
  "meta-data": "meta-data",
  "dcs/mclass": "mclass",
  "dcs/mwi": "mwi",
  "dcs/coding": "coding",
  "dcs/compress": "compress",
  "dcs/alt-dcs": "alt-dcs",
  pid: "pid",
  rpi: "rpi",
  "vp/delay": "validity",
  "timing/delay": "deferred",
  priority: "priority",
  "statusrequest/dlr-mask": "dlr-mask",
  "statusrequest/dlr-url": "dlr-url",
  "from/user": "username",
  "from/username": "username",
  "from/pass": "password",
  "from/password": "password",
  "from/account": "account",
  "from/binfo": "binfo",
  smsc: "smsc",
  to: "smsc",
};

/** The short names that Kannel also takes. */
const ALIASES = [
  ["user", "username"],
  ["pass", "password"],
  ["dlrmask", "dlr-mask"],
  ["dlrurl", "dlr-url"],
] as const;

/** Reads a sendsms request in any of its forms: query, form, headers with a text, or XML. */
export function readRequest({
  method,
  url,
  requestHeaders,
  body,
}: Pick<FacadeCall, "method" | "url" | "requestHeaders" | "body">): Parameters {
  if (method === "GET") return withAliases(readForm(queryOf(url)));
  const [type = "", ...attributes] = (requestHeaders["content-type"] ?? "").split(";").map((part) => part.trim());
  const charset = /^charset="?([^"]+)"?$/i.exec(attributes.find((each) => /^charset=/i.test(each)) ?? "")?.[1];
  switch (type.toLowerCase()) {
    case "text/xml":
    case "application/xml":
      return readXml(body, charset ?? "utf-8");
    case "application/x-www-form-urlencoded":
      return withAliases(new Map([...readForm(queryOf(url)), ...readForm(body.toString("utf8"))]));
    case "text/plain":
    case "text/html":
    case "application/octet-stream":
      return readHeaders(requestHeaders, body, type.toLowerCase(), charset);
    default:
      throw new Problem("UNSUPPORTED_MEDIA_TYPE");
  }
}

function withAliases(given: Parameters): Parameters {
  const values = new Map(given);
  for (const [alias, name] of ALIASES) {
    const value = values.get(alias);
    if (value !== undefined && !values.has(name)) values.set(name, value);
  }
  return values;
}

function readHeaders(
  headers: FacadeCall["requestHeaders"],
  body: Buffer,
  type: string,
  charset: string | undefined,
): Parameters {
  const values = new Map<string, Buffer>();
  for (const [header, name] of Object.entries(HEADERS)) {
    const value = headers[`x-kannel-${header}`];
    if (typeof value === "string") values.set(name, Buffer.from(value, "latin1"));
  }
  hexOrEscaped(values, "udh");
  values.set("text", body);
  if (charset !== undefined) values.set("charset", Buffer.from(charset));
  // Kannel takes a body of bytes as 8-bit data unless a coding is given.
  if (type === "application/octet-stream" && !values.has("coding")) values.set("coding", Buffer.from("1"));
  return values;
}

function readXml(body: Buffer, charset: string): Parameters {
  const document = decodeText(body, charset);
  const texts = document === null ? null : readXmlTexts(document);
  const values = new Map<string, Buffer>();
  for (const [element, name] of Object.entries(ELEMENTS)) {
    const found = texts?.get(`message/submit/${element}`);
    if (found && !values.has(name)) values.set(name, Buffer.from(found.join(" ")));
  }
  hexOrEscaped(values, "udh");
  const coding = values.get("coding")?.toString("latin1") ?? (values.has("udh") ? "1" : "0");
  if (coding === "1") hexOrEscaped(values, "text");
  // The document has one charset, whatever the message's coding is.
  values.set("charset", Buffer.from("utf-8"));
  return values;
}

/** Headers and documents have octets in hexadecimal, or with percent escapes. */
function hexOrEscaped(values: Map<string, Buffer>, name: string): void {
  const written = values.get(name)?.toString("latin1").trim();
  if (written === undefined) return;
  values.set(name, /^(?:[0-9a-fA-F]{2})+$/.test(written) ? Buffer.from(written, "hex") : percentDecode(written));
}
