import { Type } from "../../lib/schema.ts";
import { pickFields, shapeChecker, withDefaults } from "../../lib/shape.ts";
import { CREDENTIAL_SCOPES, SCOPES_OF_KIND, type StoredCredential } from "../../model/credential.ts";
import { KEY_CHOICES } from "../../model/key-choices.ts";
import { smppAccessFields, smppAccessOf } from "../../model/smpp-access.ts";
import { oneOf } from "./shared-fields.ts";

/** Name of the part in the configuration file. */
export const SYSTEM_IDS = "system-ids";

/** A system_id has 16 octets with its NUL. */
const SYSTEM_ID_MAX = 15;
const PASSWORD_MIN = 6;
const PASSWORD_MAX = 64;
/** ASCII without control characters and spaces: other octets reach the server in the alphabet of each client. */
const PRINTABLE = /^[!-~]+$/;

const BAD_SYSTEM_ID = `systemId must have 1 to ${SYSTEM_ID_MAX} printable ASCII characters without spaces, such as reseller1.`;
const BAD_PASSWORD = `password must have ${PASSWORD_MIN} to ${PASSWORD_MAX} printable ASCII characters without spaces. Many clients send only 8.`;
const NO_TEXT = `password must be a string. Only the command line reads references, such as {"$env": "SMPP_PASSWORD"}.`;

/** A system id in the configuration file: the fields of its credential under the names of `/api/credentials`. */
const systemIdFields = {
  systemId: Type.String({
    minLength: 1,
    maxLength: SYSTEM_ID_MAX,
    description: "The system id of binds. It is unique on the server and cannot be changed.",
    error: { minLength: BAD_SYSTEM_ID, maxLength: BAD_SYSTEM_ID },
    check: (written) => (PRINTABLE.test(written) ? null : BAD_SYSTEM_ID),
  }),
  password: Type.Optional(
    Type.String({
      minLength: PASSWORD_MIN,
      maxLength: PASSWORD_MAX,
      description:
        "Required for a new or revoked system id; otherwise the stored one stays. Never exported. A new password is needed from the next bind on.",
      error: { minLength: BAD_PASSWORD, maxLength: BAD_PASSWORD, type: NO_TEXT },
      check: (written) => (PRINTABLE.test(written) ? null : BAD_PASSWORD),
    }),
  ),
  name: Type.Optional({ ...KEY_CHOICES.name, description: "Name for your reference. Defaults to the system id." }),
  mode: Type.Default(
    oneOf(["live", "test"], "Messages of a test system id always go to the simulator. It cannot be changed."),
    "live",
  ),
  scopes: Type.Default(
    Type.Array(oneOf(CREDENTIAL_SCOPES, "A permission."), {
      minItems: 1,
      description: "Permissions: submits and cancel_sm need sms, query_sm needs read.",
    }),
    SCOPES_OF_KIND.smpp as readonly (typeof CREDENTIAL_SCOPES)[number][],
  ),
  allowedIps: Type.Default(
    { ...KEY_CHOICES.allowedIps, description: "Networks from which the system id may bind; empty allows all." },
    [],
  ),
  expiresAt: Type.Default(KEY_CHOICES.expiresAt, null),
  ...smppAccessFields,
};

export const systemIdShape = Type.Object(systemIdFields, { title: "SystemId" });

export const systemIdFaults = shapeChecker(systemIdShape);
export const withSystemIdDefaults = withDefaults(systemIdShape);
export const isSystemIdField = (name: string): boolean => Object.hasOwn(systemIdFields, name);

/** A stored system id as the file has it, without its password. */
export function toFileSystemId({
  username,
  settings,
  ...columns
}: Pick<StoredCredential, "username" | "name" | "mode" | "scopes" | "allowedIps" | "expiresAt" | "settings">): Readonly<
  Record<string, unknown>
> {
  const all: Readonly<Record<string, unknown>> = { systemId: username, ...columns, ...smppAccessOf(settings) };
  return pickFields(systemIdFields, all);
}
