import type { OwnInputProps, Values } from "../../parts/record/field.ts";
import { presetOf } from "./http-presets.ts";

type FaultAt = OwnInputProps["faultAt"];

/** Where a placeholder can stand; the server says there that nobody gave what it stands for. */
const TEMPLATES = ["path", "body", "basicAuth.*", "headers.*"];
const GIVEN = /^(?:values|secrets)\.(\w+)$/;

const names = (fault: string, name: string): boolean => new RegExp(`\\b${name}\\b`).test(fault);

/** What is wrong at a path: what a preset asks for and nobody gave is said where it is asked for, not where it would stand. */
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
