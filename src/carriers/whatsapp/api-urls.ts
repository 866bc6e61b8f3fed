import type { WhatsappSecrets, WhatsappSettings } from "../../model/whatsapp-connection.ts";

export const apiUrl = ({ baseUrl, version }: WhatsappSettings, path: string): string =>
  [baseUrl, ...(version === null ? [] : [version]), path].join("/");

/** Messages endpoint of a business number; null while its platform id is missing. */
export function messagesUrl(settings: WhatsappSettings, phoneNumberId: string | null): string | null {
  if (!settings.phoneNumberInPath) return apiUrl(settings, "messages");
  return phoneNumberId === null ? null : apiUrl(settings, `${encodeURIComponent(phoneNumberId)}/messages`);
}

/** Authorisation header. */
export function appSecretProof(
  { authentication: { header, scheme } }: WhatsappSettings,
  { token }: Pick<WhatsappSecrets, "token">,
): Record<string, string> {
  return { [header]: scheme === "" ? token : `${scheme} ${token}` };
}

const NUMBER = /\+?\d{7,}/g;

/** Removes the token and phone numbers from a text for display. */
export const hide = (text: string, { token }: Pick<WhatsappSecrets, "token">): string =>
  text.replaceAll(token, "…").replaceAll(NUMBER, "…");
