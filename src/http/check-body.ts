import type { TSchema } from "typebox";
import { shapeChecker } from "../lib/shape.ts";
import { Problem } from "../model/problem.ts";

/** Makes a check of bodies against a schema; all faults are reported at once. */
export function bodyChecker(schema: TSchema): (body: unknown) => void {
  const faultsIn = shapeChecker(schema);
  return (body) => {
    const faults = faultsIn(body);
    if (faults.length > 0) throw new Problem("INVALID_REQUEST", { faults });
  };
}
