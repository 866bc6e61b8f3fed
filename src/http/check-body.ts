import { isObject } from "../lib/json.ts";
import type { Schema } from "../lib/schema.ts";
import { fieldOf, shapeChecker, withDefaults } from "../lib/shape.ts";
import { refuseFaults, type Fault } from "../model/problem.ts";

/** The fields of a body that match its schema, and the names of those that do not. */
export interface CheckedFields<Body = Readonly<Record<string, unknown>>> {
  right: Partial<Body>;
  wrong: ReadonlySet<string>;
}

export type BodyFaults = readonly Fault[] | Promise<readonly Fault[]>;

interface BodyChecker {
  /** Returns the body with the defaults of its schema; throws if it does not match. */
  checkShape(body: unknown): unknown;
  /** The same, and reports the faults of rules over the other fields in the same error. */
  checkAll(body: unknown, rules: (fields: CheckedFields) => BodyFaults): Promise<unknown>;
}

export function bodyChecker(schema: Schema): BodyChecker {
  const faultsIn = shapeChecker(schema);
  const fillIn = withDefaults(schema);
  return {
    checkShape(body) {
      refuseFaults(faultsIn(body));
      return fillIn(body);
    },
    async checkAll(body, rules) {
      const faults: Fault[] = faultsIn(body);
      if (isObject(body)) {
        const wrong = new Set(faults.map(({ parameter }) => fieldOf(parameter)));
        const right = Object.fromEntries(Object.entries(body).filter(([field]) => !wrong.has(field)));
        const ruleFaults = await rules({ right, wrong });
        faults.push(...ruleFaults.filter(({ parameter }) => !wrong.has(fieldOf(parameter))));
      }
      refuseFaults(faults);
      return fillIn(body);
    },
  };
}
