import { nullable, Type, type Infer, type Typed } from "../../lib/schema.ts";
import { pickFields } from "../../lib/shape.ts";
import type { Channel } from "../../model/message.ts";
import { Problem, type Fault } from "../../model/problem.ts";
import {
  isWhatsappId,
  WHATSAPP_DEFAULTS,
  type WhatsappConnectionSettings,
  type WhatsappSecrets,
  type WhatsappSettings,
} from "../../model/whatsapp-connection.ts";
import { unknownNames, encryptSecret, type SecretFactory } from "../record-type.ts";

/** Validated settings with new secrets not encrypted yet. */
interface ParsedWhatsappConnection extends WhatsappConnectionSettings {
  newSecrets?: Partial<WhatsappSecrets>;
}

const PARAMETER = "whatsapp";
const URL_MAX = 500;
const ID_MAX = 64;
const SECRET_MAX = 2000;
const SCHEME_MAX = 40;

const number = (minimum: number, maximum: number, description: string): Typed<number> =>
  Type.Integer({ minimum, maximum, description });

const id = (field: string, description: string): Typed<string | null> => {
  const rule = `${field} must be the platform's ID, 1 to ${ID_MAX} digits, not the number itself; or null.`;
  return nullable(
    Type.String({ maxLength: ID_MAX, check: (value) => (isWhatsappId(value) ? null : rule) }),
    description,
  );
};

const optionalSecret = (field: string, description: string): Typed<string | null> =>
  nullable(
    Type.String({
      maxLength: SECRET_MAX,
      check: (value) => (value === "" ? `${field} must not be empty: use null for none.` : null),
    }),
    description,
  );

const VERSION = /^v\d{1,3}\.\d{1,2}$/;
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
/** Headers that control the connection or describe the body. */
const RESERVED = /^(?:host|connection|keep-alive|te|trailer|transfer-encoding|upgrade|expect|content-.*|proxy-.*)$/i;
const VISIBLE = /^[\x21-\x7e]+$/;

const authenticationFields = {
  header: Type.String({
    maxLength: ID_MAX,
    description: "Header of the token. Defaults to Authorization.",
    check: (header) =>
      TOKEN.test(header) && !RESERVED.test(header)
        ? null
        : "header must be the name of an HTTP header, such as Authorization or D360-API-KEY.",
  }),
  scheme: Type.String({
    maxLength: SCHEME_MAX,
    description: "Scheme before the token. Defaults to Bearer; empty for none.",
    check: (scheme) =>
      scheme === "" || TOKEN.test(scheme) ? null : "scheme must be one word, such as Bearer, or empty.",
  }),
};
const AUTHENTICATION = "Authentication of requests.";

const plainFields = {
  baseUrl: Type.String({
    maxLength: URL_MAX,
    description: `Base URL of the API. Defaults to ${WHATSAPP_DEFAULTS.baseUrl}.`,
    check: (url) =>
      isBase(url) ? null : "baseUrl must be an http:// or https:// URL without user name, password, query or fragment.",
  }),
  version: nullable(
    Type.String({
      maxLength: 10,
      check: (version) =>
        VERSION.test(version)
          ? null
          : `version must be like ${WHATSAPP_DEFAULTS.version}, or null if the path has none.`,
    }),
    `API version in the path. Defaults to ${WHATSAPP_DEFAULTS.version}; null for none.`,
  ),
  phoneNumberId: id("phoneNumberId", "phone_number_id for business numbers whose record has none. Defaults to null."),
  phoneNumberInPath: Type.Boolean({
    description: "True puts that ID into the path. Defaults to true; set false for resellers that omit it.",
  }),
  businessAccountId: id(
    "businessAccountId",
    "ID of the WhatsApp Business Account, for syncing templates. Defaults to null, no sync.",
  ),
  connections: number(1, 500, "Maximum concurrent requests per node. Defaults to 20."),
  responseSeconds: number(1, 120, "Response timeout. Defaults to 30."),
};

const shown = Type.Object({
  ...plainFields,
  authentication: Type.Object(authenticationFields, { description: AUTHENTICATION }),
});

const requestFields = {
  ...plainFields,
  authentication: Type.Partial(Type.Object(authenticationFields), { description: AUTHENTICATION }),
  token: Type.String({
    maxLength: SECRET_MAX,
    description: "Access token. Stored encrypted and never returned.",
    check: (token) =>
      VISIBLE.test(token)
        ? null
        : "token must be the platform's access token: letters, digits and signs, without spaces.",
  }),
  appSecret: optionalSecret(
    "appSecret",
    "App secret that verifies the platform's webhook signatures; null rejects its webhooks. Stored encrypted and never returned.",
  ),
  verifyToken: optionalSecret(
    "verifyToken",
    "Verify token of your choice, entered at the platform with the callback URL. Stored encrypted and never returned.",
  ),
};

const requestSchema = Type.Partial(Type.Object(requestFields));

/** Settings in requests. Omitted fields keep their value or get the default. */
export type WhatsappFields = Infer<typeof requestSchema>;

/** Converts the settings of a request. Refuses unknown fields: a typo would otherwise be ignored. */
function readConnection(
  fields: WhatsappFields,
  known: WhatsappConnectionSettings | null,
  faults: Fault[],
): ParsedWhatsappConnection {
  const { token, appSecret, verifyToken, authentication, ...plain } = fields;
  const before = { ...WHATSAPP_DEFAULTS, ...known };
  const connection: ParsedWhatsappConnection = {
    ...before,
    ...pickFields(plainFields, plain),
    authentication: { ...before.authentication, ...authentication },
    secrets: known?.secrets ?? { token: "", appSecret: null, verifyToken: null },
    newSecrets: {
      ...(token === undefined ? {} : { token }),
      ...(appSecret === undefined ? {} : { appSecret }),
      ...(verifyToken === undefined ? {} : { verifyToken }),
    },
  };
  for (const name of unknownNames(fields, (field) => Object.hasOwn(requestFields, field)))
    faults.push({ parameter: `${PARAMETER}.${name}`, message: "A connection to WhatsApp has no such field." });
  return { ...connection, baseUrl: connection.baseUrl.replace(/\/+$/, "") };
}

function isBase(written: string): boolean {
  const url = URL.parse(written);
  if (!url || /[?#\s\\]/.test(written)) return false;
  return (url.protocol === "https:" || url.protocol === "http:") && url.username === "" && url.password === "";
}

/** Encrypts new secrets and keeps omitted ones. */
function completeConnection(
  { newSecrets: plain = {}, ...connection }: ParsedWhatsappConnection,
  before: WhatsappConnectionSettings | null,
  factory: SecretFactory,
): WhatsappConnectionSettings {
  const kept = before?.secrets;
  const fault = (message: string): Problem =>
    new Problem("INVALID_REQUEST", { faults: [{ parameter: `${PARAMETER}.token`, message }] });
  const sealedOrKept = (field: "appSecret" | "verifyToken"): string | null => {
    const secret = plain[field];
    if (secret === undefined) return kept?.[field] ?? null;
    return secret === null ? null : encryptSecret(secret, kept?.[field], factory);
  };
  const token = plain.token === undefined ? kept?.token : encryptSecret(plain.token, kept?.token, factory);
  if (token === undefined) throw fault("token is required for a new connection: exported files do not contain it.");
  // The other two secrets are never sent to the platform; they only verify its requests.
  if (before && plain.token === undefined && { ...WHATSAPP_DEFAULTS, ...before }.baseUrl !== connection.baseUrl)
    throw fault("The token is required again: it is only sent to the URL it was given for.");
  return {
    ...connection,
    secrets: { token, appSecret: sealedOrKept("appSecret"), verifyToken: sealedOrKept("verifyToken") },
  };
}

/** Settings without secrets. Fields missing from an earlier release get their defaults. */
function showConnection(stored: WhatsappConnectionSettings): WhatsappSettings {
  const { secrets: _, ...connection } = stored;
  return { ...WHATSAPP_DEFAULTS, ...connection };
}

const CHANNELS: readonly Channel[] = ["chatapp"];

export const whatsappConnection = {
  title: "WhatsApp",
  channels: CHANNELS,
  requestSchema,
  responseSchema: shown,
  read: readConnection,
  complete: completeConnection,
  show: showConnection,
};
