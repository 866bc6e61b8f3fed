import { nullable } from "../../lib/nullable.ts";
import { Type, type Schema } from "../../lib/schema.ts";
import type { Channel } from "../../model/message.ts";
import { Problem, type Fault } from "../../model/problem.ts";
import {
  isWhatsappId,
  WHATSAPP_DEFAULTS,
  type WhatsappLine,
  type WhatsappSecrets,
  type WhatsappSettings,
} from "../../model/whatsapp-line.ts";
import { misspelt } from "../misspelt.ts";
import type { Mint } from "../record-kind.ts";
import { sealed } from "./sealed.ts";

/** A line as people give it: what is not given stays, or has its default. */
export type WhatsappFields = Partial<
  Omit<WhatsappSettings, "authentication"> & {
    authentication: Partial<WhatsappSettings["authentication"]>;
  } & WhatsappSecrets
>;

/** A line as it was read, with the secrets that were given and are not sealed yet. */
interface ReadWhatsapp extends WhatsappLine {
  given?: Partial<WhatsappSecrets>;
}

const PARAMETER = "whatsapp";
const URL_MAX = 500;
const ID_MAX = 64;
const SECRET_MAX = 2000;
const SCHEME_MAX = 40;

const number = (minimum: number, maximum: number, description: string): Schema =>
  Type.Integer({ minimum, maximum, description });
const text = (maxLength: number, description: string): Schema => Type.String({ maxLength, description });
const id = (description: string): Schema => nullable(text(ID_MAX, ""), description);

const authenticationFields = {
  header: text(ID_MAX, "The header that the token goes in; Authorization unless given."),
  scheme: text(SCHEME_MAX, "What stands in front of the token; Bearer unless given, empty for nothing."),
};
const AUTHENTICATION = "How requests prove who we are.";

const plainFields = {
  baseUrl: text(URL_MAX, `Where the API is; ${WHATSAPP_DEFAULTS.baseUrl} unless given.`),
  version: nullable(
    text(10, ""),
    `Version of the API in the path, like ${WHATSAPP_DEFAULTS.version}, which it is unless given; null for none.`,
  ),
  phoneNumberId: id(
    "The platform's id (phone_number_id) of every business number whose own record has none; null unless given.",
  ),
  phoneNumberInPath: Type.Boolean({
    description: "Whether that id stands in the path, which it does unless given; false for sellers without it.",
  }),
  businessAccountId: id(
    "The platform's id of the WhatsApp Business Account, to keep templates in step with it; null, which it is unless given, leaves them alone.",
  ),
  connections: number(1, 500, "Requests at once, on each node; 20 unless given."),
  responseSeconds: number(1, 120, "How long an answer is waited for; 30 unless given."),
};

const shown = Type.Object({
  ...plainFields,
  authentication: Type.Object(authenticationFields, { description: AUTHENTICATION }),
});

const given = {
  ...plainFields,
  authentication: Type.Partial(Type.Object(authenticationFields), { description: AUTHENTICATION }),
  token: text(SECRET_MAX, "The access token. It is sealed, and never shown."),
  appSecret: nullable(
    Type.String({ maxLength: SECRET_MAX }),
    "The app secret, which the platform signs its calls with; null takes none of them. It is sealed, and never shown.",
  ),
  verifyToken: nullable(
    Type.String({ maxLength: SECRET_MAX }),
    "A word of your own, given to the platform together with the callback address. It is sealed, and never shown.",
  ),
};

/** The line that somebody asks for; what is wrong with it goes to `faults`. */
function readLine(fields: WhatsappFields, known: WhatsappLine | null, faults: Fault[]): ReadWhatsapp {
  const { token, appSecret, verifyToken, authentication, ...plain } = fields;
  const before = { ...WHATSAPP_DEFAULTS, ...known };
  const picked = Object.entries(plain).filter(([name]) => Object.hasOwn(plainFields, name));
  const line: ReadWhatsapp = {
    ...before,
    ...Object.fromEntries(picked),
    authentication: { ...before.authentication, ...authentication },
    secrets: known?.secrets ?? { token: "", appSecret: null, verifyToken: null },
    given: {
      ...(token === undefined ? {} : { token }),
      ...(appSecret === undefined ? {} : { appSecret }),
      ...(verifyToken === undefined ? {} : { verifyToken }),
    },
  };
  for (const name of misspelt(fields, (field) => Object.hasOwn(given, field)))
    faults.push({ parameter: `${PARAMETER}.${name}`, message: "A line to WhatsApp has no such field." });
  const fault: Tell = (field, message) => void faults.push({ parameter: `${PARAMETER}.${field}`, message });
  checkWay(line, fault);
  checkAuthentication(line, fault);
  return { ...line, baseUrl: line.baseUrl.replace(/\/+$/, "") };
}

type Tell = (field: string, message: string) => void;

const VERSION = /^v\d{1,3}\.\d{1,2}$/;

function checkWay({ baseUrl, version, phoneNumberId, businessAccountId }: WhatsappSettings, fault: Tell): void {
  if (!isBase(baseUrl)) fault("baseUrl", "baseUrl is an http:// or https:// address without name, password, ? and #.");
  if (version !== null && !VERSION.test(version))
    fault("version", `version is like ${WHATSAPP_DEFAULTS.version}, or null where the path has none.`);
  for (const [field, value] of Object.entries({ phoneNumberId, businessAccountId }))
    if (value !== null && !isWhatsappId(value))
      fault(field, `${field} is the platform's id, 1 to ${ID_MAX} digits, not the number itself; or null.`);
}

function isBase(written: string): boolean {
  const url = URL.parse(written);
  if (!url || /[?#\s\\]/.test(written)) return false;
  return (url.protocol === "https:" || url.protocol === "http:") && url.username === "" && url.password === "";
}

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
/** Headers that steer the connection or describe the body. */
const RESERVED = /^(?:host|connection|keep-alive|te|trailer|transfer-encoding|upgrade|expect|content-.*|proxy-.*)$/i;
const VISIBLE = /^[\x21-\x7e]+$/;

function checkAuthentication(
  { authentication: { header, scheme }, given: plain = {} }: ReadWhatsapp,
  fault: Tell,
): void {
  if (!TOKEN.test(header) || RESERVED.test(header))
    fault("authentication.header", "header is the name of an HTTP header, like Authorization or D360-API-KEY.");
  if (scheme !== "" && !TOKEN.test(scheme))
    fault("authentication.scheme", "scheme is one word, like Bearer, or empty.");
  if (plain.token !== undefined && !VISIBLE.test(plain.token))
    fault("token", "token is what the platform shows as access token: letters, digits and signs, without spaces.");
  for (const field of ["appSecret", "verifyToken"] as const)
    if (plain[field] === "") fault(field, `${field} is not empty: give null for none.`);
}

/** Seals what was given, and keeps what was not. */
function completeLine(
  { given: plain = {}, ...line }: ReadWhatsapp,
  before: WhatsappLine | null,
  mint: Mint,
): WhatsappLine {
  const kept = before?.secrets;
  const fault = (message: string): Problem =>
    new Problem("INVALID_REQUEST", { faults: [{ parameter: `${PARAMETER}.token`, message }] });
  const sealedOrKept = (field: "appSecret" | "verifyToken"): string | null => {
    const secret = plain[field];
    if (secret === undefined) return kept?.[field] ?? null;
    return secret === null ? null : sealed(secret, kept?.[field], mint);
  };
  const token = plain.token === undefined ? kept?.token : sealed(plain.token, kept?.token, mint);
  if (token === undefined) throw fault("token is required for a new line: exported files do not have it.");
  // The other two never go to the platform: they only judge what comes from it.
  if (before && plain.token === undefined && { ...WHATSAPP_DEFAULTS, ...before }.baseUrl !== line.baseUrl)
    throw fault("give the token again: it is only ever sent to the address it was given for.");
  return {
    ...line,
    secrets: { token, appSecret: sealedOrKept("appSecret"), verifyToken: sealedOrKept("verifyToken") },
  };
}

/** A line without its secrets; one that an earlier release stored has the defaults of what it could not know. */
function showLine(stored: WhatsappLine): WhatsappSettings {
  const { secrets: _, ...line } = stored;
  return { ...WHATSAPP_DEFAULTS, ...line };
}

const CHANNELS: readonly Channel[] = ["chatapp"];

/** Chat-app messages alone go to WhatsApp. */
export const whatsappLine = {
  title: "WhatsApp",
  channels: CHANNELS,
  given: Type.Partial(Type.Object(given)),
  shown,
  read: readLine,
  complete: completeLine,
  show: showLine,
};
