import type { Encryption } from "../lib/encryption.ts";
import { newSecret } from "./sign.ts";

/** Creates secrets, encrypted at rest. */
export const createSecretFactory = ({ encrypt, decrypt }: Encryption): Encryption & { generate(): string } => ({
  generate: () => encrypt(newSecret()),
  encrypt,
  decrypt,
});
