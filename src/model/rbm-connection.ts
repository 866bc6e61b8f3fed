import { createPrivateKey, type KeyObject } from "node:crypto";
import { isObject } from "../lib/json.ts";
import type { RouteClass } from "./message.ts";

/** Settings of an RCS for Business connection. */
export interface RbmSettings {
  /** API endpoint; each region has its own. */
  baseUrl: string;
  /** OAuth token endpoint; null uses the one in the key file. */
  tokenUrl: string | null;
  /** From the key file; shown to identify the key. */
  clientEmail: string;
  /** True to look up the phone's capabilities first. */
  capabilityCheck: boolean;
  /** Cache time of capabilities. */
  capabilityHours: number;
  /** Maximum time to live per class. */
  ttlSeconds: Readonly<Record<RouteClass, number>>;
  /** True to send the traffic type of messages. */
  trafficTypes: boolean;
  /** True to let the platform fetch each file of a card once and keep it. */
  uploadFiles: boolean;
  /** Concurrent requests per node. */
  connections: number;
  /** Response time-out. */
  responseSeconds: number;
}

/** As stored. */
export interface RbmConnectionSettings extends RbmSettings {
  /** Encrypted. */
  secrets: RbmSecrets;
}

/** Never shown. */
export interface RbmSecrets {
  /** Complete key file of the service account. */
  serviceAccount: string;
  /** Key of webhook signatures. */
  clientToken: string;
}

/** Defaults of a new connection. */
export const RBM_DEFAULTS: Omit<RbmSettings, "clientEmail"> = {
  baseUrl: "https://rcsbusinessmessaging.googleapis.com",
  tokenUrl: null,
  capabilityCheck: true,
  capabilityHours: 24,
  ttlSeconds: { OTP: 60, TRANS: 86_400, PROMO: 86_400 },
  trafficTypes: true,
  uploadFiles: false,
  connections: 50,
  responseSeconds: 30,
};

/** Decrypts a stored connection. Settings that an earlier release did not know get their defaults. */
export const decryptedRbmConnection = (
  { secrets: { serviceAccount, clientToken }, ...settings }: RbmConnectionSettings,
  open: (sealed: string) => string,
): { settings: RbmSettings; secrets: RbmSecrets } => ({
  settings: { ...RBM_DEFAULTS, ...settings },
  secrets: { serviceAccount: open(serviceAccount), clientToken: open(clientToken) },
});

/** Identity and private key for the token request. */
export interface ServiceAccount {
  clientEmail: string;
  key: KeyObject;
  /** Null if the key file has none. */
  keyId: string | null;
  tokenUrl: string;
}

const GOOGLE_TOKEN_URL = "https://oauth2.googleapis.com/token";
const EMAIL = /^[^\s@]{1,200}@[^\s@]{1,200}$/;

/** Parses a key file, or returns a fault whose text contains nothing of the file. */
export function readServiceAccount(text: string): ServiceAccount | { fault: string } {
  const file = parsed(text);
  if (!isObject(file)) return { fault: "it is no JSON object: give the whole file as the cloud console made it" };
  const { client_email: clientEmail, private_key: pem, private_key_id: keyId, token_uri: tokenUrl } = file;
  if (typeof clientEmail !== "string" || !EMAIL.test(clientEmail)) return { fault: "it has no client_email" };
  const key = typeof pem === "string" ? keyOf(pem) : null;
  if (!key) return { fault: "its private_key is no RSA key in PEM" };
  const isAddress = typeof tokenUrl === "string" && /^https?:$/.test(URL.parse(tokenUrl)?.protocol ?? "");
  if (tokenUrl !== undefined && !isAddress) return { fault: "its token_uri is no address of the web" };
  return {
    clientEmail,
    key,
    keyId: typeof keyId === "string" && keyId !== "" ? keyId : null,
    tokenUrl: isAddress ? tokenUrl : GOOGLE_TOKEN_URL,
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // JSON.parse is the only check, and its error text would quote the key.
    return null;
  }
}

function keyOf(pem: string): KeyObject | null {
  try {
    const key = createPrivateKey(pem);
    return key.asymmetricKeyType === "rsa" ? key : null;
  } catch {
    // Creating the key is the only check.
    return null;
  }
}
