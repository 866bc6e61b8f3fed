import { countOf } from "../../lib/text.ts";
import { Problem, type Fault } from "../../model/problem.ts";
import { withNumbers } from "../../model/template-names.ts";
import { renderTemplate, storedPattern } from "../template.ts";
import type { TextFilling } from "./read.ts";

/** The text of a template or of one of its cards, with the names of its variables if they have some. */
interface Pattern {
  body: string;
  names?: readonly string[] | undefined;
}

export const fillText = ({ body, names }: Pattern, params: readonly string[]): string =>
  renderTemplate(storedPattern(names ? withNumbers(body, names) : body), params);

/**
 * The values in the order of the variables. `template` is null where none is enforced, and `path` leads to the part with
 * the body.
 */
export function inOrder(
  { params, values }: TextFilling,
  template: { names?: readonly string[] | undefined } | null,
  path: string,
): readonly string[] {
  if (!values) return params;
  const given = Object.keys(values);
  if (!template) return given.map((name) => values[name] ?? "");
  const { names } = template;
  const at = `${path}body.values`;
  const refuse = (faults: Fault[]): never => {
    throw new Problem("PARAMS_MISMATCH", { faults });
  };
  if (!names)
    return refuse([
      { parameter: at, message: "The template's variables have no names: give the values in order, in params." },
    ]);
  const missing = names.filter((name) => !Object.hasOwn(values, name));
  const unknown = given.filter((name) => !names.includes(name));
  if (missing.length + unknown.length > 0)
    refuse([
      ...missing.map((name) => ({ parameter: `${at}.${name}`, message: `Give the value of ${name}.` })),
      ...unknown.map((name) => ({
        parameter: `${at}.${name}`,
        message: names.length === 0 ? "The template has no variables." : `The template has ${names.join(", ")}.`,
      })),
    ]);
  return names.map((name) => values[name] ?? "");
}

export function countFault(expected: number, given: number, path: string): Fault | null {
  if (expected === given) return null;
  const message = `${countOf(given, "value")}, and the template has ${countOf(expected, "variable")}: give one value for each, in order.`;
  return { parameter: `${path}body.params`, message };
}
