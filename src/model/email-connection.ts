import type { SmtpSecurity, SmtpServer } from "../email/smtp.ts";

/** Settings of a connection to a mail server that relays e-mails. */
export interface EmailSettings {
  host: string;
  port: number;
  security: SmtpSecurity;
  /** Null without authentication. */
  username: string | null;
  /** CA certificates in PEM; null for the system's. */
  ca: string | null;
  /** Name in the server's certificate if it differs from the host; null otherwise. */
  servername: string | null;
  /** Concurrent e-mails per node; each has a connection of its own. */
  connections: number;
  /** Time limit of one e-mail. */
  timeoutSeconds: number;
}

/** Never shown. */
interface EmailSecrets {
  /** Null without authentication. */
  password: string | null;
}

/** As stored. */
export interface EmailConnectionSettings extends EmailSettings {
  /** Encrypted. */
  secrets: EmailSecrets;
}

/** Defaults of a new connection, which needs a host. */
export const EMAIL_DEFAULTS: Omit<EmailSettings, "host"> = {
  port: 587,
  security: "starttls",
  username: null,
  ca: null,
  servername: null,
  connections: 10,
  timeoutSeconds: 30,
};

/** Decrypts a stored connection. Settings that an earlier release did not know get their defaults. */
export function decryptedEmailConnection(
  { secrets: { password: encrypted }, ...stored }: EmailConnectionSettings,
  decrypt: (encrypted: string) => string,
): { settings: EmailSettings; server: SmtpServer } {
  const settings = { ...EMAIL_DEFAULTS, ...stored };
  const { host, port, security, username, ca, servername, timeoutSeconds } = settings;
  const password = encrypted === null ? "" : decrypt(encrypted);
  const login = username === null ? null : { user: username, password };
  return { settings, server: { host, port, security, login, ca, servername, limitMs: timeoutSeconds * 1000 } };
}
