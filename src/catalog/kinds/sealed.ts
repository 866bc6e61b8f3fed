import type { Mint } from "../record-kind.ts";

/** A secret as it is stored. One that is given again stays as it is sealed, so that a file with it changes nothing the second time. */
export const sealed = (plain: string, kept: string | null | undefined, mint: Mint): string =>
  kept && mint.open(kept) === plain ? kept : mint.seal(plain);
