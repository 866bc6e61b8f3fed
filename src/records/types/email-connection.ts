import { X509Certificate } from "node:crypto";
import { SMTP_SECURITIES } from "../../email/smtp.ts";
import { nullable, Type, type Infer } from "../../lib/schema.ts";
import { pickFields } from "../../lib/shape.ts";
import { isPlainText } from "../../lib/text.ts";
import { EMAIL_DEFAULTS, type EmailConnectionSettings, type EmailSettings } from "../../model/email-connection.ts";
import { Problem, type Fault } from "../../model/problem.ts";
import { encryptSecret, unknownNames, type SecretFactory } from "../record-type.ts";
import type { ConnectionType } from "./connections.ts";
import { oneOf } from "./shared-fields.ts";

/** Validated settings with a new password not encrypted yet. */
interface ParsedEmailConnection extends EmailConnectionSettings {
  newPassword?: string | undefined;
}

const PARAMETER = "email";
const HOST_MAX = 253;
const LOGIN_MAX = 200;
const PEM_MAX = 100_000;
const HOST = /^[A-Za-z0-9](?:[A-Za-z0-9._:-]*[A-Za-z0-9])?$/;
const HOST_RULE = "host must be a host name or IP address, such as smtp.example.com, without scheme and port.";

const settingFields = {
  host: Type.String({
    maxLength: HOST_MAX,
    description: "Host name or IP address of the mail server, without port.",
    check: (host) => (HOST.test(host) ? null : HOST_RULE),
  }),
  port: Type.Integer({
    minimum: 1,
    maximum: 65_535,
    description: "Port. Defaults to 587; 465 is common with tls, 25 with none.",
  }),
  security: oneOf(
    SMTP_SECURITIES,
    "starttls (default): a server without STARTTLS is refused. tls: TLS from the first byte. none: plain text, without a login, for a relay of your own network.",
  ),
  username: nullable(
    Type.String({
      minLength: 1,
      maxLength: LOGIN_MAX,
      check: (name) => (isPlainText(name) ? null : "username must be plain text."),
    }),
    "Login; null (default) for a server that requires none.",
  ),
  ca: nullable(
    Type.String({
      maxLength: PEM_MAX,
      check: (pem) =>
        isCertificate(pem) ? null : "ca must be a certificate in PEM: it begins with -----BEGIN CERTIFICATE-----.",
    }),
    "CA certificates in PEM; null for the system's. Certificates are always verified.",
  ),
  servername: nullable(
    Type.String({ minLength: 1, maxLength: HOST_MAX }),
    "Name in the server's certificate if it differs from the host; null otherwise.",
  ),
  connections: Type.Integer({
    minimum: 1,
    maximum: 100,
    description: "Concurrent e-mails per node, each on a connection of its own. Defaults to 10.",
  }),
  timeoutSeconds: Type.Integer({ minimum: 1, maximum: 300, description: "Time limit of one e-mail. Defaults to 30." }),
};

const requestFields = {
  ...settingFields,
  password: Type.String({ maxLength: LOGIN_MAX, description: "Password. Stored encrypted and never returned." }),
};

const requestSchema = Type.Partial(Type.Object(requestFields));

type EmailFields = Infer<typeof requestSchema>;

function isCertificate(written: string): boolean {
  try {
    return new X509Certificate(written).raw.length > 0;
  } catch {
    // Parsing is the only check for a valid certificate.
    return false;
  }
}

/** Converts the settings of a request and adds faults. */
function readConnection(
  { password, ...fields }: EmailFields,
  known: EmailConnectionSettings | null,
  faults: Fault[],
): ParsedEmailConnection {
  const fault = (field: string, message: string): void =>
    void faults.push({ parameter: `${PARAMETER}.${field}`, message });
  for (const name of unknownNames(fields, (field) => Object.hasOwn(requestFields, field)))
    fault(name, "An e-mail connection has no such field.");
  const connection: ParsedEmailConnection = {
    ...EMAIL_DEFAULTS,
    host: "",
    ...known,
    ...pickFields(settingFields, fields),
    secrets: known?.secrets ?? { password: null },
    newPassword: password,
  };
  if (connection.host === "") fault("host", HOST_RULE);
  if (connection.security === "none" && connection.username !== null)
    fault("username", "A login requires TLS: set security to starttls or tls, or username to null.");
  return connection;
}

/** Encrypts a new password and keeps an omitted one. */
function completeConnection(
  { newPassword, ...connection }: ParsedEmailConnection,
  before: EmailConnectionSettings | null,
  factory: SecretFactory,
): EmailConnectionSettings {
  const kept = before?.secrets.password ?? null;
  if (connection.username === null) return { ...connection, secrets: { password: null } };
  if (newPassword !== undefined)
    return { ...connection, secrets: { password: encryptSecret(newPassword, kept, factory) } };
  const message =
    kept === null
      ? "password is required with a username: exported files do not contain it."
      : leadsElsewhere({ ...EMAIL_DEFAULTS, ...before, host: before?.host ?? "" }, connection)
        ? "The password is required again: it is only sent to the server it was given for."
        : null;
  if (message !== null)
    throw new Problem("INVALID_REQUEST", { faults: [{ parameter: `${PARAMETER}.password`, message }] });
  return { ...connection, secrets: { password: kept } };
}

/** True if the password could reach another server. */
const leadsElsewhere = (before: EmailSettings, after: EmailSettings): boolean =>
  before.host !== after.host ||
  before.port !== after.port ||
  before.servername !== after.servername ||
  before.ca !== after.ca;

/** Settings without the password. Fields missing from an earlier release get their defaults. */
function showConnection(stored: EmailConnectionSettings): EmailSettings {
  const { secrets: _, ...connection } = stored;
  return { ...EMAIL_DEFAULTS, ...connection };
}

export const emailConnection: ConnectionType<EmailConnectionSettings> = {
  title: "SMTP",
  channels: ["email"],
  requestSchema,
  responseSchema: Type.Object(settingFields),
  read: readConnection,
  complete: completeConnection,
  show: showConnection,
};
