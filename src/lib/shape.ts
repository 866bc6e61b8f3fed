import type { TSchema } from "typebox";
import { Compile, type Validator } from "typebox/compile";

/** One place where a value is not as its schema has it. */
interface ShapeFault {
  /** As callers write it: `cards[1].title`. */
  parameter: string;
  message: string;
}

/** Makes a check of values against a schema; it tells every fault at once, and nothing when there is none. */
export function shapeChecker(schema: TSchema): (value: unknown) => ShapeFault[] {
  // Compiling takes longer than checking: what nobody asks for is not compiled.
  let validator: Validator | null = null;
  return (value) => {
    validator ??= Compile(schema) as Validator;
    return validator.Check(value) ? [] : faultsOf(validator.Errors(value));
  };
}

interface SchemaError {
  keyword: string;
  instancePath: string;
  params: object;
  message: string;
}

function faultsOf(errors: readonly SchemaError[]): ShapeFault[] {
  const faults = new Map<string, string[]>();
  const add = (parameter: string, message: string): void => {
    faults.set(parameter, [...(faults.get(parameter) ?? []), message]);
  };
  for (const error of errors) {
    if (isOtherBranch(error, errors)) continue;
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

/** That an object is not null, the other branch of a union, is no news where the object itself has faults. */
const isOtherBranch = ({ keyword, instancePath }: SchemaError, errors: readonly SchemaError[]): boolean =>
  (keyword === "type" || keyword === "const") &&
  errors.some((other) => other.instancePath.startsWith(`${instancePath}/`) || isMissing(other, instancePath));

const isMissing = ({ keyword, instancePath }: SchemaError, path: string): boolean =>
  keyword === "required" && instancePath === path;

/** `/scopes/0` as callers write it: `scopes[0]`. */
const parameterOf = (pointer: string): string =>
  pointer
    .split("/")
    .slice(1)
    .map((part, index) => (/^\d+$/.test(part) ? `[${part}]` : index === 0 ? part : `.${part}`))
    .join("");
