import { isObject } from "../lib/json.ts";
import type { Infer, ObjectSchema } from "../lib/schema.ts";
import { fieldOf, shapeChecker, withDefaults } from "../lib/shape.ts";
import { Problem, type Fault } from "../model/problem.ts";
import { misplacedFaults } from "./misplaced-fields.ts";

/** A body that has been checked against its schema. Rules over several fields add their faults. */
export interface CheckedBody<T> {
  /** The fields that are right, with defaults filled in; all of them when there are no faults. */
  readonly fields: Partial<T>;
  /** The body as it was sent. */
  readonly given: Readonly<Record<string, unknown>>;
  readonly faults: Fault[];
}

interface CompleteBody<T> extends CheckedBody<T> {
  readonly fields: Partial<T> & T;
}

export const hasNoFaults = <T>(body: CheckedBody<T>): body is CompleteBody<T> => body.faults.length === 0;

/**
 * Compiles the check of a request body. It reports all faults of the schema at once, after fields that belong to other
 * operations. `known` are the fields that do not; those of the schema unless given.
 */
export function bodyChecker<S extends ObjectSchema>(
  schema: S,
  known: readonly string[] = Object.keys(schema.properties),
): (body: unknown) => CheckedBody<Infer<S>> {
  const findMisplaced = misplacedFaults(known);
  const findFaults = shapeChecker(schema);
  const fillIn = withDefaults(schema);
  return (body) => {
    if (!isObject(body))
      throw new Problem("INVALID_REQUEST", { faults: [{ parameter: "", message: "The body must be a JSON object." }] });
    const faults = findMisplaced(body);
    const shapeFaults = findFaults(body);
    if (shapeFaults.length === 0) return { fields: fillIn(body) as Partial<Infer<S>>, given: body, faults };
    faults.push(...shapeFaults);
    const wrong = new Set(shapeFaults.map(({ parameter }) => fieldOf(parameter)));
    const right = Object.fromEntries(Object.entries(body).filter(([field]) => !wrong.has(field)));
    return { fields: fillIn(right) as Partial<Infer<S>>, given: body, faults };
  };
}
