import { createPrivateKey, type KeyObject } from "node:crypto";
import { isObject } from "../lib/plain-object.ts";
import type { RouteClass } from "./message.ts";

/** How a line to RCS for Business is spoken on, as people set it. */
export interface RbmSettings {
  /** Where messages go; a region of the platform has an address of its own. */
  baseUrl: string;
  /** Where the service account's key opens the line; null is the address in the key. */
  tokenUrl: string | null;
  /** Of the service account, as its key has it: shown, so that people see whose key it is. */
  clientEmail: string;
  /** Whether the platform is asked first if it can reach the phone. */
  capabilityCheck: boolean;
  /** How long its answer to that counts. */
  capabilityHours: number;
  /** How long the platform may try to deliver, at most. */
  ttlSeconds: Readonly<Record<RouteClass, number>>;
  /** Whether the platform is told what a message is for. */
  trafficTypes: boolean;
  /** Requests under way at once, on each node. */
  connections: number;
  /** An answer that has not come by then does not come. */
  responseSeconds: number;
}

/** A line as it is stored. */
export interface RbmLine extends RbmSettings {
  /** Sealed. */
  secrets: RbmSecrets;
}

/** What nobody is ever shown. */
export interface RbmSecrets {
  /** The key file of the service account, whole. */
  serviceAccount: string;
  /** What the platform's calls are signed with. */
  clientToken: string;
}

/** What a new line has where nothing else is said. */
export const RBM_DEFAULTS: Omit<RbmSettings, "clientEmail"> = {
  baseUrl: "https://rcsbusinessmessaging.googleapis.com",
  tokenUrl: null,
  capabilityCheck: true,
  capabilityHours: 24,
  ttlSeconds: { OTP: 60, TRANS: 86_400, PROMO: 86_400 },
  trafficTypes: true,
  connections: 50,
  responseSeconds: 30,
};

/** A stored line as it is spoken on; one of an earlier release has the defaults of what that could not know. */
export const openedRbmLine = (
  { secrets: { serviceAccount, clientToken }, ...settings }: RbmLine,
  open: (sealed: string) => string,
): { settings: RbmSettings; secrets: RbmSecrets } => ({
  settings: { ...RBM_DEFAULTS, ...settings },
  secrets: { serviceAccount: open(serviceAccount), clientToken: open(clientToken) },
});

/** Who asks for access, and the key that shows it. */
export interface ServiceAccount {
  clientEmail: string;
  key: KeyObject;
  /** Null where the file does not name its key. */
  keyId: string | null;
  tokenUrl: string;
}

const GOOGLE_TOKEN_URL = "https://oauth2.googleapis.com/token";
const EMAIL = /^[^\s@]{1,200}@[^\s@]{1,200}$/;

/** Reads the key file of a service account, or tells what is wrong with it in words that hold nothing of it. */
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
    // There is no other way to ask whether it is JSON, and what the parser says would quote the key.
    return null;
  }
}

function keyOf(pem: string): KeyObject | null {
  try {
    const key = createPrivateKey(pem);
    return key.asymmetricKeyType === "rsa" ? key : null;
  } catch {
    // There is no other way to ask whether it is one.
    return null;
  }
}
