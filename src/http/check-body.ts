import type { Schema } from "../lib/schema.ts";
import { shapeChecker } from "../lib/shape.ts";
import { Problem } from "../model/problem.ts";

/** Makes a check of bodies against a schema; its faults are reported at once. */
export function bodyChecker(schema: Schema): (body: unknown) => void {
  const faultsIn = shapeChecker(schema);
  return (body) => {
    const faults = faultsIn(body);
    if (faults.length > 0) throw new Problem("INVALID_REQUEST", { faults });
  };
}
