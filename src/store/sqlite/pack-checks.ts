import type { CheckResult, CodeCheck } from "../verifications.ts";

/** A code check on its way to the writer, as a tuple like an acceptance. */
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
 * Most results cross back packed: `true` for a correct code, or the number of remaining attempts for a wrong one. Null never
 * means success, because a bug may also serialize as null.
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
