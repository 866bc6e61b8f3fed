/** Settings of a connection to the WhatsApp Cloud API, or to a reseller of it. */
export interface WhatsappSettings {
  /** Without a trailing slash. */
  baseUrl: string;
  /** API version in the path; null if the reseller has none. */
  version: string | null;
  /** Platform id of business numbers whose record has none. */
  phoneNumberId: string | null;
  /** True if the path contains the number's id; some resellers identify numbers by token. */
  phoneNumberInPath: boolean;
  authentication: WhatsappAuthentication;
  /** Account whose templates are synchronised; null for none. */
  businessAccountId: string | null;
  /** Concurrent requests per node. */
  connections: number;
  /** Response time-out. */
  responseSeconds: number;
}

interface WhatsappAuthentication {
  /** Authorisation header. */
  header: string;
  /** Auth scheme before the token; empty for none. */
  scheme: string;
}

/** Never shown. */
export interface WhatsappSecrets {
  token: string;
  /** Key of webhook signatures; without it every webhook is refused. */
  appSecret: string | null;
  /** Token of the webhook verification request; without it verification fails. */
  verifyToken: string | null;
}

/** As stored. */
export interface WhatsappConnectionSettings extends WhatsappSettings {
  /** Encrypted. */
  secrets: WhatsappSecrets;
}

/** Defaults for the platform's own API. Credentials have no default. */
export const WHATSAPP_DEFAULTS: WhatsappSettings = {
  baseUrl: "https://graph.facebook.com",
  version: "v26.0",
  phoneNumberId: null,
  phoneNumberInPath: true,
  authentication: { header: "Authorization", scheme: "Bearer" },
  businessAccountId: null,
  connections: 20,
  responseSeconds: 30,
};

/** Decrypts a stored connection. Settings that an earlier release did not know get their defaults. */
export function decryptedWhatsappConnection(
  { secrets, ...settings }: WhatsappConnectionSettings,
  open: (sealed: string) => string,
): { settings: WhatsappSettings; secrets: WhatsappSecrets } {
  const { token, appSecret, verifyToken } = secrets;
  return {
    settings: { ...WHATSAPP_DEFAULTS, ...settings },
    secrets: {
      token: open(token),
      appSecret: appSecret === null ? null : open(appSecret),
      verifyToken: verifyToken === null ? null : open(verifyToken),
    },
  };
}

const ID = /^[A-Za-z0-9_-]{1,64}$/;

/** True if the value is safe as a path segment. */
export const isWhatsappId = (value: string): boolean => ID.test(value);
