import type { CredentialKind } from "../../src/model/credential.ts";
import type { Login } from "../support/credential.ts";
import { FACADE_ROUTES, facadeRequest, type NamedFacadeRoute } from "../support/facade-routes.ts";
import { number, oddString } from "./json.ts";
import type { Random } from "./random.ts";

export interface FacadeFuzzRequest {
  method: string;
  path: string;
  headers: string[];
  body: Buffer | null;
  route: NamedFacadeRoute;
}

/** Logins, and values from earlier responses. */
export interface KnownToFacades {
  logins: Partial<Record<CredentialKind, Login>>;
  sids: string[];
  serviceSid: string;
}

const KANNEL = ["from", "to", "text", "charset", "coding", "mclass", "udh", "mwi", "pid", "compress", "alt-dcs", "rpi", "validity", "deferred", "priority", "account", "binfo", "dlr-mask", "dlr-url", "smsc", "meta-data"]; // prettier-ignore
const JASMIN = ["to", "from", "coding", "priority", "sdt", "validity-period", "dlr", "dlr-url", "dlr-level", "dlr-method", "tags", "content", "hex-content", "custom_tlvs"]; // prettier-ignore
const TWILIO = ["To", "From", "Body", "MessagingServiceSid", "MediaUrl", "StatusCallback", "ValidityPeriod", "ScheduleType", "SendAt", "ContentSid", "ContentVariables", "Status", "Channel", "CustomCode", "Code", "VerificationSid", "DateSent", "DateSent>", "PageSize", "PageToken"]; // prettier-ignore
const NAMES: Record<CredentialKind, readonly string[]> = { kannel: KANNEL, jasmin: JASMIN, twilio: TWILIO, smpp: [] };
/** With these a request is complete. */
const NEEDED = new Set(["from", "to", "text", "content", "To", "From", "Body", "Channel"]);

/** A request to an API of another product, valid or nearly so. */
export function generateFacadeRequest(random: Random, known: KnownToFacades): FacadeFuzzRequest {
  const route = random.pick(FACADE_ROUTES);
  const login = known.logins[route.kind];
  const fields = Object.fromEntries(
    NAMES[route.kind]
      .filter((name) => random.chance(NEEDED.has(name) ? 0.93 : 0.12))
      .map((name) => [name, valueOf(random, name, known)]),
  );
  if (random.chance(0.03)) fields[oddString(random).slice(0, 50)] = oddString(random);
  const params = {
    accountSid: random.chance(0.95) ? (login?.username ?? "") : oddString(random).slice(0, 60).toWellFormed(),
    serviceSid: random.chance(0.95) ? known.serviceSid : "VA00",
    sid: random.pick([
      ...known.sids.slice(-20),
      `SM${"0".repeat(32)}`,
      "x",
      oddString(random).slice(0, 60).toWellFormed(),
    ]),
  };
  const isRest = route.path.startsWith("/secure/") && route.method === "POST";
  const json = isRest ? restBody(random, route.path, fields) : undefined;
  const wrong = random.chance(0.02)
    ? { username: login?.username ?? "", password: oddString(random).slice(0, 40) }
    : login;
  const made = facadeRequest(route, { params, fields: wellFormed(fields), json }, header(wrong));
  const headers = Object.entries(made.headers).flat();
  const bytes = made.body === null ? null : Buffer.from(made.body);
  if (random.chance(0.05)) return { ...made, headers, body: bytes && spoilt(random, bytes), route };
  if (bytes && random.chance(0.02))
    return { ...made, headers: [...headers.slice(0, -1), "text/xml"], body: bytes, route };
  return { ...made, headers, body: bytes, route };
}

/** A login that fits into a header. */
const header = (login: Pick<Login, "username" | "password"> | undefined) =>
  login ? { username: login.username, password: login.password.replaceAll(/[^\x21-\x7e]/g, "_") } : null;

const wellFormed = (fields: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [name.toWellFormed(), value.toWellFormed()]));

function spoilt(random: Random, bytes: Buffer): Buffer {
  const copy = Buffer.from(bytes);
  for (let times = 0; times < 3 && copy.length > 0; times += 1) copy[random.below(copy.length)] = random.below(256);
  return copy;
}

function restBody(random: Random, path: string, fields: Record<string, string>): unknown {
  const odd = [null, 1, "x", [], {}, [[[[]]]]];
  if (random.chance(0.05)) return random.pick(odd);
  if (!path.endsWith("/sendbatch")) return fields;
  const messages = Array.from({ length: random.below(4) }, () =>
    random.chance(0.05)
      ? random.pick(odd)
      : { ...fields, to: random.chance(0.5) ? [number(random), number(random)] : number(random) },
  );
  return { messages, ...(random.chance(0.3) && { globals: { from: "ACME" } }), ...(random.chance(0.2) && { batch_config: { schedule_at: random.pick(["60s", "2099-01-01 00:00:00", "x", 5]) } }) }; // prettier-ignore
}

function valueOf(random: Random, name: string, { sids }: KnownToFacades): string {
  if (random.chance(0.1)) return oddString(random).slice(0, 3000);
  switch (name.toLowerCase()) {
    case "to":
      return random.chance(0.2) ? `${number(random)} ${number(random)}` : number(random);
    case "from":
      return random.pick(["ACME", "+15550100199", "15550100199", "whatsapp:+15550100199", "rcs:bot"]);
    case "dlr-url":
    case "statuscallback":
    case "mediaurl":
      return random.pick([
        "http://127.0.0.1:9/x?a=%d&b=%A",
        "http://a:b@127.0.0.1:9/",
        "ftp://x",
        "http://",
        "http://x/%zz",
      ]);
    case "channel":
      return random.pick(["sms", "sms", "rcs", "whatsapp", "call", ""]);
    case "status":
      return random.pick(["canceled", "approved", "x"]);
    case "verificationsid":
      return random.pick([...sids.slice(-10), "VE0"]);
    case "sdt":
      return random.pick(["000000000100000R", "991231235959000+", "260101000000000-", "x"]);
    case "hex-content":
      return random.pick(["0633", "06", "zz", ""]);
    case "custom_tlvs":
      return random.pick(['[[5120,null,"COctetString","1101"]]', "[[1]]", "{}", "[", "[[5120,0,0,null]]"]);
    case "meta-data":
      return random.pick(["?smpp?PE_ID=1101&", "?smpp", "??", "?smpp?%zz=%"]);
    case "charset":
      return random.pick(["UTF-8", "utf-16be", "iso-8859-1", "no-such", ""]);
    case "body":
    case "text":
    case "content":
      return random.pick(["Hello", "नमस्ते ✓", "x".repeat(400), "\u0000", "€".repeat(100)]);
    default:
      return random.pick([
        "0",
        "1",
        "2",
        "3",
        "8",
        "60",
        "-1",
        "x",
        "yes",
        "no",
        "99999999999",
        "2026-01-31T18:00:00Z",
      ]);
  }
}

/** The most messages that a request can store. */
export const MOST_MESSAGES = 12;

/** Faults of a response: it is no fault of the server's and has the form of the API. */
export function facadeFaults(
  { route, method }: FacadeFuzzRequest,
  { status, headers, body }: { status: number; headers: Readonly<Record<string, unknown>>; body: string },
): string[] {
  // Kannel has this answer for a rate, here that of failed logins.
  if (route.kind === "kannel" && status === 503 && body.startsWith("Temporal failure")) return [];
  if (status >= 500) return [`a ${status}`];
  if (status === 431 || (status === 400 && body === "")) return [];
  const type = String(headers["content-type"]);
  const isJson =
    route.kind === "twilio" || route.path.startsWith("/secure/") || /^\/(?:rate|balance|ping)/.test(route.path);
  // A deletion has no body, and Jasmin's HTTP API refuses in plain words.
  if (status === 204 || (status >= 400 && /^\/(?:rate|balance)/.test(route.path))) return [];
  if (!isJson) return type.startsWith("text/") ? [] : [`an answer of the type ${type}`];
  const value = parse(body);
  if (typeof value !== "object" || value === null) return [`an answer to ${method} ${route.path} that is no JSON`];
  if (status < 400) return [];
  const fields = Object.keys(value);
  const due = route.kind === "twilio" ? ["code", "message", "more_info", "status"] : ["message"];
  return due.every((name) => fields.includes(name)) ? [] : [`a refusal with the fields ${fields.join()}`];
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // No JSON is the fault that the caller names.
    return null;
  }
}
