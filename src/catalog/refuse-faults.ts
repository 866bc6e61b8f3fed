import { Problem, type Fault } from "../model/problem.ts";

/** All that is wrong with what somebody gave is told at once; nothing happens when nothing is. */
export function refuseFaults(faults: readonly Fault[]): void {
  if (faults.length > 0) throw new Problem("INVALID_REQUEST", { faults });
}
