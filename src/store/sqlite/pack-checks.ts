import type { CheckResult, CodeCheck } from "../verify-store.ts";

/** A try on its way to the writer, without names, as an acceptance is. */
export type PackedCheck = readonly [accountId: number, mode: CodeCheck["mode"], id: string, digest: string, at: number];

export const packCheck = ({ accountId, mode, id, digest, at }: CodeCheck): PackedCheck => [
  accountId,
  mode,
  id,
  digest,
  at,
];

export const unpackCheck = ([accountId, mode, id, digest, at]: PackedCheck): CodeCheck => ({
  accountId,
  mode,
  id,
  digest,
  at,
});

/**
 * What came of most tries crosses back without names too: `true` of a right one, of a wrong one how many remain. Nothing is
 * never said of a right one, because it is what any mistake would cross as.
 */
export type PackedResult = CheckResult | number | true;

export const packResult = (result: CheckResult): PackedResult => {
  if (result.kind === "verified") return true;
  return result.kind === "incorrect" ? result.remaining : result;
};

export const unpackResult = <T extends object>(result: T | number | true): T | CheckResult => {
  if (result === true) return { kind: "verified" };
  return typeof result === "number" ? { kind: "incorrect", remaining: result } : result;
};
