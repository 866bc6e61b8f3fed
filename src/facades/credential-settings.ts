import { Type, type Schema } from "../lib/schema.ts";
import { shapeChecker } from "../lib/shape.ts";
import type { CredentialKind } from "../model/credential.ts";
import type { Fault } from "../model/problem.ts";
import { JASMIN_SETTINGS } from "./jasmin/settings.ts";
import { KANNEL_SETTINGS } from "./kannel/settings.ts";
import { TWILIO_SETTINGS } from "./twilio/settings.ts";

/** The settings of each kind of credential. Each can be left out, and null removes it. */
const SETTINGS: Readonly<Record<CredentialKind, Readonly<Record<string, Schema>>>> = {
  twilio: TWILIO_SETTINGS,
  kannel: KANNEL_SETTINGS,
  jasmin: JASMIN_SETTINGS,
  // The settings of a system id are fields of the credential itself.
  smpp: {},
};

type Settings = Readonly<Record<string, unknown>>;

/** The faults of settings for a kind; names that it does not have are refused, because a typo would be noticed too late. */
export function settingsFaults(kind: CredentialKind, given: Settings): Fault[] {
  const fields = SETTINGS[kind];
  const names = Object.keys(fields);
  const unknown = Object.keys(given).filter((name) => !Object.hasOwn(fields, name));
  const known = Object.fromEntries(
    Object.entries(given).filter(([name, value]) => Object.hasOwn(fields, name) && value !== null),
  );
  const faults = shapeChecker(Type.Partial(Type.Object(fields)))(known);
  return [
    ...faults.map(({ parameter, message }) => ({ parameter: `settings.${parameter}`, message })),
    ...unknown.map((name) => ({
      parameter: `settings.${name}`,
      message:
        names.length === 0
          ? `A credential of the kind ${kind} has no settings.`
          : `A credential of the kind ${kind} has no such setting; it has ${names.join(", ")}.`,
    })),
  ];
}

/** The stored settings with those of a request in their place. */
export const changedSettings = (before: Settings, given: Settings): Settings =>
  Object.fromEntries(Object.entries({ ...before, ...given }).filter(([, value]) => value !== null));
