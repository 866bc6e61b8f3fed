/** Defaults of a new WhatsApp connection, the same as on the server. */
export const WHATSAPP_STARTS = {
  phoneNumberId: null,
  businessAccountId: null,
  baseUrl: "https://graph.facebook.com",
  version: "v26.0",
  phoneNumberInPath: true,
  authentication: { header: "Authorization", scheme: "Bearer" },
  connections: 20,
  responseSeconds: 30,
};

/** Defaults of a new RCS for Business connection, the same as on the server. */
export const RBM_STARTS = {
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

/** Defaults of a new connection to a mail server, the same as on the server. */
export const EMAIL_STARTS = {
  port: 587,
  security: "starttls",
  username: null,
  ca: null,
  servername: null,
  connections: 10,
  timeoutSeconds: 30,
};
