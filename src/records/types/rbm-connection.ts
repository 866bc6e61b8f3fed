import { nullable, Type, type Infer, type Schema, type Typed } from "../../lib/schema.ts";
import { pickFields } from "../../lib/shape.ts";
import type { RouteClass } from "../../model/message.ts";
import { Problem, type Fault } from "../../model/problem.ts";
import {
  RBM_DEFAULTS,
  readServiceAccount,
  type RbmConnectionSettings,
  type RbmSecrets,
  type RbmSettings,
} from "../../model/rbm-connection.ts";
import { unknownNames, encryptSecret, type SecretFactory } from "../record-type.ts";
import type { ConnectionType } from "./connections.ts";

/** Validated settings with new secrets not encrypted yet. */
export interface ParsedRbmConnection extends RbmConnectionSettings {
  newSecrets?: Partial<RbmSecrets>;
}

const PARAMETER = "rbm";
const URL_MAX = 500;
const KEY_FILE_MAX = 20_000;
const CLIENT_TOKEN_MAX = 500;
const TTL_MAX_SECONDS = 2_592_000;
const EMAIL_MAX = 401;

const number = (minimum: number, maximum: number, description: string): Typed<number> =>
  Type.Integer({ minimum, maximum, description });

const URL_RULE = "must be a URL that begins with https://, without user name, query or fragment";

const plainFields = {
  baseUrl: Type.String({
    maxLength: URL_MAX,
    description: `Base URL of the API. Defaults to ${RBM_DEFAULTS.baseUrl}. Regions have their own.`,
    check: (url) => (isBase(url) ? null : `baseUrl ${URL_RULE}, such as ${RBM_DEFAULTS.baseUrl}.`),
  }),
  tokenUrl: nullable(
    Type.String({
      maxLength: URL_MAX,
      check: (url) => (isBase(url) ? null : `tokenUrl ${URL_RULE}, or null to use the URL in the key.`),
    }),
    "Token URL of the service account. Defaults to null, which uses the URL in the key.",
  ),
  clientEmail: Type.String({
    maxLength: EMAIL_MAX,
    description: "Email address of the service account, taken from serviceAccount.",
  }),
  capabilityCheck: Type.Boolean({
    description:
      "True checks whether the phone supports RCS before sending, so that a fallback text can be sent at once. Defaults to true.",
  }),
  capabilityHours: number(1, 720, "Hours for which the result of that check is cached. Defaults to 24."),
  trafficTypes: Type.Boolean({
    description: "True sends the traffic type of a message to the platform. Defaults to true.",
  }),
  uploadFiles: Type.Boolean({
    description:
      "True lets the platform fetch each image or video of a card once and keep it for weeks, instead of once per message. Defaults to false.",
  }),
  connections: number(1, 500, "Maximum concurrent requests per node. Defaults to 50."),
  responseSeconds: number(1, 120, "Response timeout. Defaults to 30."),
};

const ttlFields = {
  OTP: number(1, TTL_MAX_SECONDS, "For OTP. Defaults to 60."),
  TRANS: number(1, TTL_MAX_SECONDS, "For TRANS. Defaults to 86400."),
  PROMO: number(1, TTL_MAX_SECONDS, "For PROMO. Defaults to 86400."),
} satisfies Record<RouteClass, Schema>;
const TTL =
  "Maximum delivery time at the platform, by type. Limited by the validity of the message and the wait of its fallback.";

/** Schema of responses. */
export const rbmResponseSchema = Type.Object({
  ...plainFields,
  ttlSeconds: Type.Object(ttlFields, { description: TTL }),
});

const requestFields = {
  ...plainFields,
  ttlSeconds: Type.Partial(Type.Object(ttlFields), { description: TTL }),
  serviceAccount: Type.String({
    maxLength: KEY_FILE_MAX,
    description:
      "Key file of the service account from the cloud console: the whole JSON as text. Stored encrypted and never returned.",
    check: (written) => {
      const account = readServiceAccount(written);
      return "fault" in account ? `serviceAccount must be the key file of a service account: ${account.fault}.` : null;
    },
  }),
  clientToken: Type.String({
    maxLength: CLIENT_TOKEN_MAX,
    description:
      "Client token of the webhook, as entered in the platform's console. Stored encrypted and never returned.",
    check: (token) =>
      /^[\x21-\x7e]{8,}$/.test(token)
        ? null
        : "clientToken must have at least 8 characters without spaces: choose a long random one.",
  }),
};

/** Schema of requests. */
export const rbmRequestSchema = Type.Partial(Type.Object(requestFields));

/** Settings in requests. Omitted fields keep their value or get the default. */
export type RbmFields = Infer<typeof rbmRequestSchema>;

/** Converts the settings of a request and adds faults. */
export function parseRbmConnection(
  fields: RbmFields,
  known: RbmConnectionSettings | null,
  faults: Fault[],
  stored: RbmConnectionSettings | null = known,
): ParsedRbmConnection {
  const { serviceAccount, clientToken, ttlSeconds, ...plain } = fields;
  // The address belongs to the key, which an imported file leaves as it is stored.
  const before = { ...RBM_DEFAULTS, ...known, clientEmail: stored?.clientEmail ?? "" };
  const connection: ParsedRbmConnection = {
    ...before,
    ...pickFields(plainFields, plain),
    clientEmail: before.clientEmail,
    ttlSeconds: { ...before.ttlSeconds, ...pickFields(ttlFields, ttlSeconds ?? {}) },
    secrets: known?.secrets ?? { serviceAccount: "", clientToken: "" },
    newSecrets: {
      ...(serviceAccount === undefined ? {} : { serviceAccount }),
      ...(clientToken === undefined ? {} : { clientToken }),
    },
  };
  const fault = (field: string, message: string): void =>
    void faults.push({ parameter: `${PARAMETER}.${field}`, message });
  checkNames(fields, fault);
  return { ...connection, clientEmail: readEmail(fields, before.clientEmail, fault) };
}

type ReportFault = (field: string, message: string) => void;

/** Refuses unknown fields: a typo would otherwise be ignored. */
function checkNames(fields: RbmFields, fault: ReportFault): void {
  for (const name of unknownNames(fields, (field) => Object.hasOwn(requestFields, field)))
    fault(name, "A connection to RCS for Business has no such field.");
  for (const name of unknownNames(fields.ttlSeconds ?? {}, (field) => Object.hasOwn(ttlFields, field)))
    fault(`ttlSeconds.${name}`, "ttlSeconds must have OTP, TRANS and PROMO.");
}

function isBase(written: string): boolean {
  // The URL parser drops line ends and surrounding spaces, but the stored URL must be the one that is called.
  const address = /[\s\p{Cc}?#]/u.test(written) ? null : URL.parse(written);
  return /^https?:$/.test(address?.protocol ?? "") && address?.username === "" && address.password === "";
}

/** The email address always comes from the key; an exported file has it without the key. */
function readEmail({ serviceAccount, clientEmail }: RbmFields, before: string, fault: ReportFault): string {
  const account = serviceAccount === undefined ? null : readServiceAccount(serviceAccount);
  const email = account && "clientEmail" in account ? account.clientEmail : before;
  if (clientEmail !== undefined && email !== "" && clientEmail !== email)
    fault("clientEmail", "clientEmail must match the key: omit it, or give the serviceAccount of the other account.");
  return email;
}

/** Encrypts new secrets and keeps omitted ones. */
export function completeRbmConnection(
  { newSecrets: plain = {}, ...connection }: ParsedRbmConnection,
  before: RbmConnectionSettings | null,
  factory: SecretFactory,
): RbmConnectionSettings {
  const kept = before?.secrets;
  const faults: Fault[] = [];
  const secretOf = (name: keyof RbmSecrets): string => {
    const secret = plain[name] === undefined ? kept?.[name] : encryptSecret(plain[name], kept?.[name], factory);
    if (secret === undefined)
      faults.push({
        parameter: `${PARAMETER}.${name}`,
        message: `${name} is required for a new connection: exported files do not contain it.`,
      });
    return secret ?? "";
  };
  const secrets: RbmSecrets = { serviceAccount: secretOf("serviceAccount"), clientToken: secretOf("clientToken") };
  if (before && plain.serviceAccount === undefined && leadsElsewhere({ ...RBM_DEFAULTS, ...before }, connection))
    faults.push({
      parameter: `${PARAMETER}.serviceAccount`,
      message: "The serviceAccount is required again: credentials are only sent to the platform they were given for.",
    });
  if (faults.length > 0) throw new Problem("INVALID_REQUEST", { faults });
  return { ...connection, secrets };
}

/** True if the token would be sent to another host. The client token is never sent, so it is kept. */
const leadsElsewhere = (before: RbmSettings, after: RbmSettings): boolean =>
  before.baseUrl !== after.baseUrl || before.tokenUrl !== after.tokenUrl;

/** Settings without secrets. Fields missing from an earlier release get their defaults. */
export function showRbmConnection(stored: RbmConnectionSettings): RbmSettings {
  const { secrets: _, ...connection } = stored;
  return { ...RBM_DEFAULTS, ...connection };
}

export const rbmConnection: ConnectionType<RbmConnectionSettings> = {
  title: "RCS for Business",
  channels: ["rcs"],
  requestSchema: rbmRequestSchema,
  responseSchema: rbmResponseSchema,
  read: parseRbmConnection,
  complete: completeRbmConnection,
  show: showRbmConnection,
};
