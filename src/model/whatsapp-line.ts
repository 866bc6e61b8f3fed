/** How a line to the WhatsApp Cloud API, or to somebody who sells the same, is spoken on, as people set it. */
export interface WhatsappSettings {
  /** Without a slash at its end. */
  baseUrl: string;
  /** Of the API, as it stands in the path; null where the seller has none. */
  version: string | null;
  /** The platform's id of a business number whose own record says none. */
  phoneNumberId: string | null;
  /** Whether the number's id stands in the path; some sellers tell numbers apart by their tokens instead. */
  phoneNumberInPath: boolean;
  authentication: WhatsappAuthentication;
  /** Whose templates are kept in step; null leaves templates to people. */
  businessAccountId: string | null;
  /** Requests at once, on each node. */
  connections: number;
  /** An answer that has not come by then does not come. */
  responseSeconds: number;
}

interface WhatsappAuthentication {
  /** The header that proves who we are. */
  header: string;
  /** What stands in front of the token; empty for nothing. */
  scheme: string;
}

/** What nobody is ever shown. */
export interface WhatsappSecrets {
  token: string;
  /** What the platform signs its calls with; without it none is taken. */
  appSecret: string | null;
  /** What the platform says when it looks whether the callback address is ours; without it that fails. */
  verifyToken: string | null;
}

/** A line as it is stored. */
export interface WhatsappLine extends WhatsappSettings {
  /** Sealed. */
  secrets: WhatsappSecrets;
}

/** The platform's own door; who we are to it, everybody has to say. */
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

/** A stored line as it is spoken on; one of an earlier release has the defaults of what that could not know. */
export function openedWhatsappLine(
  { secrets, ...settings }: WhatsappLine,
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

/** Whether it can be an id of the platform: it becomes a part of paths, so it has nothing that leads elsewhere. */
export const isWhatsappId = (value: string): boolean => ID.test(value);
