import type { OwnInputProps, Values } from "../../parts/record/field.ts";
import { presetOf } from "./http-presets.ts";

type FaultAt = OwnInputProps["faultAt"];

/** Fields with placeholders. The server reports a missing value at the field that uses it. */
const TEMPLATES = ["path", "body", "basicAuth.*", "headers.*"];
const GIVEN = /^(?:values|secrets)\.(\w+)$/;

const names = (fault: string, name: string): boolean => new RegExp(`\\b${name}\\b`).test(fault);

/** The error for a path. A missing value of a preset is shown at its input, not at the template that uses it. */
export function httpFault(line: Values, path: string, faultAt: FaultAt): string | undefined {
  const fault = faultAt(path);
  const name = GIVEN.exec(path)?.[1];
  if (name !== undefined)
    return fault ?? TEMPLATES.map(faultAt).find((other) => other !== undefined && names(other, name));
  const preset = presetOf(line["preset"]);
  const isTemplate = TEMPLATES.some((each) => path === each || path.startsWith(each.replace("*", "")));
  if (fault === undefined || !preset || !isTemplate) return fault;
  const asked = Object.keys({ ...preset.values, ...preset.secrets });
  return asked.some((each) => names(fault, each)) ? undefined : fault;
}
