import { expect } from "vitest";

/** Checks one rule on many cases within one test. Fails with every case that breaks it. */
export async function onEach<Case extends readonly [string, ...unknown[]]>(
  cases: readonly Case[],
  check: (given: Case) => Promise<void>,
): Promise<void> {
  const faults: string[] = [];
  for (const given of cases) await check(given).catch((error: unknown) => faults.push(`${given[0]}: ${String(error)}`));
  expect(faults).toEqual([]);
}
