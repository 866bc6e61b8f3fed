import { Compile, type Validator } from "typebox/compile";
import type { TSchema } from "typebox";
import { Problem, type Fault } from "../model/problem.ts";

/** Makes a check of bodies against a schema; all faults are reported at once. */
export function bodyChecker(schema: TSchema): (body: unknown) => void {
  const validator: Validator = Compile(schema);
  return (body) => {
    if (validator.Check(body)) return;
    throw new Problem("INVALID_REQUEST", { faults: faultsOf(validator.Errors(body)) });
  };
}

interface SchemaError {
  keyword: string;
  instancePath: string;
  params: object;
  message: string;
}

function faultsOf(errors: readonly SchemaError[]): Fault[] {
  const faults = new Map<string, string[]>();
  const add = (parameter: string, message: string): void => {
    faults.set(parameter, [...(faults.get(parameter) ?? []), message]);
  };
  for (const error of errors) {
    const parameter = parameterOf(error.instancePath);
    const { requiredProperties, allowedValue } = error.params as {
      requiredProperties?: string[];
      allowedValue?: unknown;
    };
    if (requiredProperties)
      for (const name of requiredProperties) add(parameter ? `${parameter}.${name}` : name, "is required");
    else if (error.keyword === "const") add(parameter, `may be ${JSON.stringify(allowedValue)}`);
    else if (error.keyword !== "anyOf") add(parameter, error.message);
  }
  return [...faults].map(([parameter, messages]) => ({
    parameter,
    message: `${parameter || "The body"} ${messages.join(", or ")}.`,
  }));
}

/** `/scopes/0` as callers write it: `scopes[0]`. */
const parameterOf = (pointer: string): string =>
  pointer
    .split("/")
    .slice(1)
    .map((part, index) => (/^\d+$/.test(part) ? `[${part}]` : index === 0 ? part : `.${part}`))
    .join("");
