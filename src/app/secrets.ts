import { checkMasterKey, deriveKey, encryptEndpointSecrets, loadMasterKey, pepperOf } from "../accounts/master-key.ts";
import { createUserSecrets } from "../accounts/user-secrets.ts";
import type { PartSecrets } from "../facades/smpp/submit.ts";
import { createNumberDigest, type DigestNumber } from "../contacts/erased-opt-outs.ts";
import { createEncryption, type Encryption } from "../lib/encryption.ts";
import { createOtpDigest, type OtpDigest } from "../otp/code.ts";
import { createBodyDigest, type BodyDigest } from "../pipeline/accept/body-digest.ts";
import type { AppBase } from "./base.ts";
import type { AppStorage } from "./storage.ts";

export interface AppSecrets {
  /** Peppers the digests of API keys. */
  apiKeyPepper: Buffer;
  /** Encrypts the secrets of webhooks and carriers. */
  endpointSecrets: Encryption;
  /** Encrypts the texts of one-time passwords until they are sent. */
  otpTexts: Encryption;
  otpDigest: OtpDigest;
  /** Digests of request bodies, which may contain a code. */
  bodyDigest: BodyDigest;
  /** Long texts that clients of the SMPP server submit in parts. */
  smppParts: PartSecrets;
  /** Encrypts the keys of ACME accounts and certificates. */
  acmeKey: Buffer;
  /** Signs the URLs by which platforms fetch media. */
  mediaUrls: Buffer;
  /** Keyed hashes of erased numbers. */
  digestNumber: DigestNumber;
  userSecrets: ReturnType<typeof createUserSecrets>;
}

/** Loads the master key, creating it at the first start, and derives one key for each purpose. */
export async function loadSecrets({ config }: AppBase, { store }: AppStorage): Promise<AppSecrets> {
  const masterKey = await loadMasterKey(store, config.masterKey, config.dataDir);
  await checkMasterKey(store, masterKey);
  return {
    apiKeyPepper: pepperOf(masterKey),
    endpointSecrets: encryptEndpointSecrets(masterKey),
    otpTexts: createEncryption(deriveKey(masterKey, "texts of one-time passwords")),
    otpDigest: createOtpDigest(deriveKey(masterKey, "one-time passwords")),
    bodyDigest: createBodyDigest(deriveKey(masterKey, "digests of request bodies")),
    smppParts: {
      octets: createEncryption(deriveKey(masterKey, "parts of submitted texts")),
      digestKey: deriveKey(masterKey, "digests of submitted parts"),
    },
    acmeKey: deriveKey(masterKey, "keys of TLS certificates"),
    mediaUrls: deriveKey(masterKey, "URLs of media"),
    digestNumber: createNumberDigest(deriveKey(masterKey, "erased numbers")),
    userSecrets: createUserSecrets(masterKey),
  };
}
