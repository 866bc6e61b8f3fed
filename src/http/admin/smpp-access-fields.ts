import { Type } from "../../lib/schema.ts";
import { pickFields } from "../../lib/shape.ts";
import type { CredentialKind, StoredCredential } from "../../model/credential.ts";
import { smppAccessFields, smppAccessOf, type SmppAccess } from "../../model/smpp-access.ts";
import type { Fault } from "../../model/problem.ts";

/** The fields of a credential that only the kind `smpp` has. */
export const SMPP_FIELDS = Type.Partial(Type.Object(smppAccessFields)).properties;

const NAMES = Object.keys(smppAccessFields);

/** The given settings of a system id; an empty object for other kinds. */
export const smppSettingsIn = (body: Readonly<Record<string, unknown>>): Partial<SmppAccess> =>
  pickFields(smppAccessFields, body);

/** The settings as a credential shows them. */
export const smppView = ({ kind, settings }: Pick<StoredCredential, "kind" | "settings">): object =>
  kind === "smpp" ? smppAccessOf(settings) : {};

/** The faults of fields that a kind does not have. */
export function smppFieldFaults(kind: CredentialKind | undefined, given: Readonly<Record<string, unknown>>): Fault[] {
  if (kind === undefined) return [];
  if (kind === "smpp")
    return typeof given["requestsPerSecond"] === "number"
      ? [
          {
            parameter: "requestsPerSecond",
            message: "A credential of the kind smpp has messagesPerSecond in its place.",
          },
        ]
      : [];
  return NAMES.filter((name) => given[name] !== undefined).map((parameter) => ({
    parameter,
    message: `Only a credential of the kind smpp has ${parameter}.`,
  }));
}
