import { isObject } from "../../lib/json.ts";
import { PART_TYPES } from "../../model/chat-session.ts";
import { HEADER_TYPES, type TEMPLATE_HEADER_TYPES } from "../../model/chatapp.ts";
import type { Fault } from "../../model/problem.ts";
import { sourceFaults } from "../media-source.ts";
import { HEADER_RULES } from "./body.ts";

/** A header has the part that its type names, and no other. `at` is the header's path. */
export function headerPartFaults(
  header: unknown,
  at: string,
  types: readonly (typeof TEMPLATE_HEADER_TYPES)[number][] = HEADER_TYPES,
): Fault[] {
  if (!isObject(header)) return [];
  const type = types.find((each) => each === header.type);
  if (!type) return [];
  const faults: Fault[] = [];
  if (type !== "text" && type !== "location")
    faults.push(...sourceFaults(header[type], `${at}.${type}`, HEADER_RULES[type]));
  if (header[type] === undefined) faults.push({ parameter: `${at}.${type}`, message: HEADER_RULES[type] });
  for (const other of types)
    if (other !== type && header[other] !== undefined)
      faults.push({
        parameter: `${at}.${other}`,
        message: `The header's type is ${type}: leave ${other} out, or change the type.`,
      });
  return faults;
}

/** Contents of other types, which would be lost without notice. */
export function otherContentFaults(given: Readonly<Record<string, unknown>>, type: string): Fault[] {
  const others: readonly string[] = type === "template" ? [...PART_TYPES, "context"] : [...PART_TYPES, "text"];
  return others.flatMap((field) =>
    field === type || (given[field] ?? null) === null
      ? []
      : [{ parameter: field, message: `The message has the type ${type}: leave ${field} out, or change the type.` }],
  );
}
