import type { Seal } from "../lib/seal.ts";
import { newSecret } from "./sign.ts";

/** Makes secrets that whoever has only the store cannot read. */
export const createMint = ({ seal, open }: Seal): Seal & { make(): string } => ({
  make: () => seal(newSecret()),
  seal,
  open,
});
